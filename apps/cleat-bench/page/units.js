// units: the quantities of a load, for people to read.
const units = (() => {
    const { times, grouped, three, scaled, joined } = numbers;
    const sizes = [
        ['B', 1],
        ['kB', 1e3],
        ['MB', 1e6],
        ['GB', 1e9],
        ['TB', 1e12],
    ];

    function ticked(value, scale) {
        let [unit, factor] = scale[0];
        for (const [name, size] of scale) if (value >= size) [unit, factor] = [name, size];
        return value === 0 ? '0' : `${Number((value / factor).toPrecision(4))}\u00a0${unit}`;
    }

    const count = (value) => grouped(String(Math.round(value)));

    return {
        count,
        three,
        // tick is short, for axes: 1, 20, 50, 200 k.
        tick(value) {
            if (Math.abs(value) >= 1e6) return `${Number((value / 1e6).toPrecision(6))}\u00a0M`;
            if (Math.abs(value) >= 1e4) return `${Number((value / 1e3).toPrecision(6))}\u00a0k`;
            return grouped(String(Number(value.toPrecision(6))));
        },
        timeTick: (ns) => ticked(ns, times),
        bytesTick: (n) => ticked(n, sizes),
        timeParts: (ns) => scaled(ns, times),
        time: (ns) => joined(scaled(ns, times)),
        timeOr: (ns) => (ns === null ? '–' : joined(scaled(ns, times))),
        bytes: (n) => joined(scaled(n, sizes)),
        // times is a ratio: 0.98, 2.22, 11.6.
        times: (value) => (value < 10 ? value.toFixed(2) : three(value)),
        rate: (value) => (value >= 1000 ? count(value) : three(value)),
        // share is a part of a whole in percent. Only nothing becomes 0 %, and only all 100 %.
        share(part, whole) {
            if (whole === 0) return '–';
            const percent = (100 * part) / whole;
            if (percent === 0 || percent === 100) return `${percent}\u00a0%`;
            if (percent > 99.9) return `${Math.min(percent, 99.999).toFixed(3)}\u00a0%`;
            return `${three(percent)}\u00a0%`;
        },
        round: (share) => `${Math.round(share * 100)}\u00a0%`,
        // percentile names the point 1/(1-p) of a curve.
        percentile(x) {
            const digits = Math.max(1, Math.floor(Math.log10(x)));
            return `${Number((100 * (1 - 1 / x)).toFixed(digits))}\u00a0%`;
        },
        // clock is a time since the beginning; `step` is the time between two ticks, in seconds.
        clock(seconds, step) {
            if (step < 30 && seconds < 180) return String(Number(seconds.toPrecision(6)));
            const s = Math.round(seconds);
            const two = (n) => String(n).padStart(2, '0');
            const minutes = Math.floor(s / 60);
            return minutes < 60
                ? `${minutes}:${two(s % 60)}`
                : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(s % 60)}`;
        },
        length(seconds) {
            if (seconds < 120) return `${three(seconds)}\u00a0s`;
            const s = Math.round(seconds);
            const parts = [
                [Math.floor(s / 3600), 'h'],
                [Math.floor(s / 60) % 60, 'min'],
                [s % 60, 's'],
            ];
            return parts
                .filter(([n]) => n !== 0)
                .map(([n, unit]) => `${n}\u00a0${unit}`)
                .join(' ');
        },
        moment: (utc) => utc.replace('T', ' ').replace(/(\.\d+)?Z$/, '\u00a0UTC'),
        shortened(text, most) {
            return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
        },
    };
})();
