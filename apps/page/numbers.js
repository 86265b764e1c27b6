// numbers: three digits, and the unit that suits them. A narrow no-break space groups digits, a
// no-break space stands before a unit.
const numbers = (() => {
    const times = [
        ['ns', 1],
        ['µs', 1e3],
        ['ms', 1e6],
        ['s', 1e9],
    ];

    function grouped(text) {
        const [whole, fraction] = text.split('.');
        const groups = whole.replace(/\B(?=(\d{3})+$)/g, '\u202f');
        return fraction === undefined ? groups : `${groups}.${fraction}`;
    }

    // three gives three significant digits, and all digits of the whole part.
    function three(value) {
        const size = Math.abs(value);
        if (size === 0) return '0';
        if (size < 0.001) return value.toPrecision(2);
        const digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
        return grouped(value.toFixed(digits));
    }

    // scaled gives a number and its unit. A value that rounds to 1000 has the next unit.
    function scaled(value, scale) {
        let [unit, factor] = scale[0];
        for (const [name, size] of scale) if (value >= size * 0.9995) [unit, factor] = [name, size];
        return [three(value / factor), unit];
    }

    const joined = ([number, unit]) => `${number}\u00a0${unit}`;

    return { times, grouped, three, scaled, joined };
})();
