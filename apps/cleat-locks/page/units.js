// units: numbers for people, and short names of C++ functions.
const units = (() => {
    const { times, scaled, joined } = numbers;
    const counts = [
        ['k', 1e3],
        ['M', 1e6],
        ['G', 1e9],
    ];
    const time = (ns) => {
        if (ns <= 0) return '0';
        return ns < 999.5 ? `${ns.toFixed(0)}\u00a0ns` : joined(scaled(ns, times));
    };
    const count = (n) => (n < 10000 ? n.toFixed(0) : scaled(n, counts).join(''));
    // As in the text report, which has rates below 1 too.
    const rate = (n) => {
        if (n <= 0) return '';
        return `${n < 99.95 ? n.toFixed(n < 9.995 ? 2 : 1) : count(Math.round(n))}/s`;
    };
    // tick is a round number on an axis.
    const tick = (n) => {
        const [size, sign] = [
            [1e9, 'G'],
            [1e6, 'M'],
            [1e3, 'k'],
            [0, ''],
        ].find(([s]) => n >= s);
        return `${Number((size ? n / size : n).toPrecision(3))}${sign}`;
    };
    const percent = (x) => (x < 0.05 ? '' : `${x.toFixed(1)} %`);
    // A name for a box, without arguments, template arguments and clones. A tooltip has all of it.
    const name = (whole) => {
        let made = '';
        let depth = 0;
        const text = whole
            .replace(/ \[clone .*$/, '')
            .replaceAll('(anonymous namespace)::', '')
            .replaceAll('operator()', 'operator\u0001');
        if (/operator[<>-]/.test(text)) return whole;
        for (const c of text) {
            if ('<({'.includes(c)) depth += 1;
            else if ('>)}'.includes(c)) depth -= 1;
            else if (depth === 0) made += c;
        }
        const last = made.replace(/( const| volatile| &+)+$/, '').trim();
        const short = last.includes('operator') ? last : last.slice(last.lastIndexOf(' ') + 1);
        return short.replaceAll('\u0001', '()') || whole;
    };
    const lived = (thing) => (thing.lived_at_least ? 'at least ' : '') + time(thing.lived_ns);
    return { time, count, rate, tick, percent, name, lived };
})();
