// units: numbers for people, and short names of C++ functions.
const units = (() => {
    const three = (x) => x.toFixed(x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2);
    const time = (ns) => {
        if (ns <= 0) return '0';
        if (ns < 999.5) return `${ns.toFixed(0)} ns`;
        if (ns < 999.5e3) return `${three(ns / 1e3)} µs`;
        if (ns < 999.5e6) return `${three(ns / 1e6)} ms`;
        return `${three(ns / 1e9)} s`;
    };
    const count = (n) => {
        if (n < 10000) return n.toFixed(0);
        if (n < 999.5e3) return `${three(n / 1e3)}k`;
        if (n < 999.5e6) return `${three(n / 1e6)}M`;
        return `${three(n / 1e9)}G`;
    };
    // As in the text report, which has rates below 1 too.
    const rate = (n) => {
        if (n <= 0) return '';
        return `${n < 99.95 ? three(n) : count(Math.round(n))}/s`;
    };
    // tick is a round number on an axis.
    const tick = (n) => {
        const [size, sign] = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [0, '']].find(([s]) => n >= s);
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

// filled gives an element its attributes and contents; a text is never markup.
const filled = (made, attributes, inside) => {
    for (const [key, value] of Object.entries(attributes))
        if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
        else made.setAttribute(key, value);
    made.append(...inside.filter((each) => each !== null));
    return made;
};
const element = (name, attributes = {}, ...inside) =>
    filled(document.createElement(name), attributes, inside);
// shape is an element of a drawing.
const shape = (name, attributes = {}, ...inside) =>
    filled(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, inside);
