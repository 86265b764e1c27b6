// units: the quantities of a server, for people to read. Times are in seconds.
const units = (() => {
    const { times, grouped, three, scaled, joined } = numbers;
    const sizes = [
        ['B', 1],
        ['kB', 1e3],
        ['MB', 1e6],
        ['GB', 1e9],
        ['TB', 1e12],
    ];
    const nothing = '–';

    const count = (value) => grouped(String(Math.round(value)));
    const two = (value) => String(value).padStart(2, '0');

    function ticked(value, scale) {
        let [unit, factor] = scale[0];
        for (const [name, size] of scale) if (value >= size) [unit, factor] = [name, size];
        return value === 0 ? '0' : `${Number((value / factor).toPrecision(4))}\u00a0${unit}`;
    }

    // span is a time in its two largest units: 3 d 4 h.
    function span(seconds) {
        const s = Math.max(0, Math.floor(seconds));
        const parts = [
            [Math.floor(s / 86400), 'd'],
            [Math.floor(s / 3600) % 24, 'h'],
            [Math.floor(s / 60) % 60, 'min'],
            [s % 60, 's'],
        ];
        const first = parts.findIndex(([number]) => number !== 0);
        if (first === -1) return '0\u00a0s';
        return parts
            .slice(first, first + 2)
            .filter(([number]) => number !== 0)
            .map(([number, unit]) => `${number}\u00a0${unit}`)
            .join(' ');
    }

    // spanParts is a time in its largest unit.
    function spanParts(seconds) {
        const [number, unit] = span(seconds).split(' ')[0].split('\u00a0');
        return [number, unit];
    }

    return {
        nothing,
        spanParts,
        count,
        span,
        // tick is short, for axes: 1, 20, 50, 200 k.
        tick(value) {
            if (value >= 1e6) return `${Number((value / 1e6).toPrecision(4))}\u00a0M`;
            if (value >= 1e4) return `${Number((value / 1e3).toPrecision(4))}\u00a0k`;
            return grouped(String(Number(value.toPrecision(4))));
        },
        bytesTick: (value) => ticked(value, sizes),
        timeTick: (seconds) => ticked(seconds * 1e9, times),
        rateParts: (value) => [value >= 1000 ? count(value) : three(value), '/s'],
        rate: (value) => (value >= 1000 ? count(value) : three(value)),
        bytesParts: (value) => scaled(value, sizes),
        bytes: (value) => joined(scaled(value, sizes)),
        timeParts: (seconds) => scaled(seconds * 1e9, times),
        time: (seconds) => (seconds === null ? nothing : joined(scaled(seconds * 1e9, times))),
        percent(share) {
            if (share > 0 && share < 0.0001) return '< 0.01\u00a0%';
            const text = share < 0.0995 && share > 0 ? three(share * 100) : Math.round(share * 100);
            return `${text}\u00a0%`;
        },
        // clock is the time of day here, moment also the day.
        clock: (date) => [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':'),
        moment: (date) =>
            `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
            `${two(date.getHours())}:${two(date.getMinutes())}`,
        // problem is one of a configuration: "cleat.conf:7: error: idle-timeout: ...", or of a flag,
        // which has no line, and is the key: "--idle-timeout: error: ...".
        problem({ severity, place, key, text, cure }) {
            const isFlag = place !== null && place.line === 0;
            const line = isFlag ? '' : `:${place?.line}`;
            const where = place === null ? '' : `${place.source}${line}: `;
            return `${where}${severity}: ${key === '' || isFlag ? '' : `${key}: `}${text}. ${cure}`.trim();
        },
        // day is that of a certificate's end, which has a year beyond those of Date sometimes.
        day(seconds) {
            const date = new Date(seconds * 1000);
            return Number.isNaN(date.getTime()) ? 'never' : date.toISOString().slice(0, 10);
        },
    };
})();
