// elements: the building blocks of this page. What is replaced is replaced only when it changes, so
// that a selection and the focus stay.
const elements = (() => {
    const { el, choice } = dom;

    const section = (id, title, ...inside) =>
        el('section', { 'aria-labelledby': id }, el('h2', { id }, title), inside);
    const note = (text) => el('p', { class: 'note' }, text);

    // fill puts into a node what `make` gives, where `value` is not the one of the last time.
    const shown = new WeakMap();
    function fill(node, value, make) {
        const key = JSON.stringify(value, (_, each) => each.outerHTML ?? each);
        if (shown.get(node) === key) return;
        shown.set(node, key);
        node.replaceChildren(...[make(value)].flat(Infinity).filter((each) => each !== null));
    }

    // scroll is for a table that may be wider than a phone. The keyboard scrolls it, too.
    const scroll = (name, ...inside) =>
        el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': name }, inside);

    // A table with a head; rows are arrays of texts or elements, the first of which names the
    // row. `words` are heads whose cells are words, which stand at the left and may break.
    function table(name, heads, words = []) {
        const kinds = heads.map((head) => (words.includes(head) ? { class: 'words' } : {}));
        const body = el('tbody');
        const node = el(
            'table',
            {},
            el(
                'thead',
                {},
                el(
                    'tr',
                    {},
                    heads.map((head, i) => el('th', { scope: 'col', ...kinds[i] }, head)),
                ),
            ),
            body,
        );
        const row = ([first, ...others]) =>
            el(
                'tr',
                {},
                el('th', { scope: 'row' }, first),
                others.map((each, i) => el('td', kinds[i + 1], each)),
            );
        return {
            node: scroll(name, node),
            show: (rows) => fill(body, rows, () => rows.map(row)),
        };
    }

    // tile is one of the key figures.
    function tile(name) {
        const value = el('dd', { class: 'value' }, units.nothing);
        const more = el('dd', { class: 'more' });
        const node = el('div', {}, el('dt', {}, name), value, more);
        return {
            node,
            // parts is a number and its unit; null: it is not known yet.
            show(parts, text = '', bad = false) {
                const [number, unit] = parts ?? [units.nothing, ''];
                value.replaceChildren(
                    number,
                    unit === '' ? '' : el('span', { class: 'unit' }, `\u00a0${unit}`),
                );
                more.textContent = text;
                node.classList.toggle('bad', bad);
            },
        };
    }

    const facts = (pairs) =>
        pairs.map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]);

    // bars are counts beside each other; `whole` is what a full bar stands for.
    const bars = (rows, whole) =>
        rows.map(({ name, count, bad = false, text = units.count(count) }) =>
            el(
                'li',
                { class: bad && count > 0 ? 'bad' : null },
                el('span', { class: 'name' }, name),
                el('span', { class: 'number' }, text),
                el('span', {
                    class: 'bar',
                    '--share': `${whole > 0 ? (100 * count) / whole : 0}%`,
                    'aria-hidden': 'true',
                }),
            ),
        );

    return { el, section, note, fill, table, tile, facts, bars, choice };
})();
