// dom: elements of the page. Texts become text nodes only, never markup.
const dom = (() => {
    // Attributes that are functions are listeners; null is left out.
    function filled(made, attributes, inside) {
        for (const [key, value] of Object.entries(attributes)) {
            if (typeof value === 'function') made.addEventListener(key, value);
            else if (key.startsWith('--')) made.style.setProperty(key, value);
            else if (value !== null) made.setAttribute(key, value);
        }
        made.append(...inside.flat(Infinity).filter((one) => one !== null));
        return made;
    }

    const el = (name, attributes = {}, ...inside) =>
        filled(document.createElement(name), attributes, inside);

    // shape is an element of a drawing.
    const shape = (name, attributes = {}, ...inside) =>
        filled(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, inside);

    // table has the cells of its head, and those of each row.
    const table = (attributes, heads, rows) =>
        el(
            'table',
            attributes,
            el('thead', {}, el('tr', {}, heads)),
            el(
                'tbody',
                {},
                rows.map((cells) => el('tr', {}, cells)),
            ),
        );

    // choice is a row of buttons of which one is pressed.
    function choice(name, options, chosen, act) {
        const buttons = options.map(([value, text]) =>
            el(
                'button',
                {
                    type: 'button',
                    'aria-pressed': String(value === chosen),
                    click() {
                        buttons.forEach((each, i) =>
                            each.setAttribute('aria-pressed', String(options[i][0] === value)),
                        );
                        act(value);
                    },
                },
                text,
            ),
        );
        return el('div', { class: 'choice', role: 'group', 'aria-label': name }, buttons);
    }

    const data = () => JSON.parse(document.getElementById('data').textContent);

    // show puts the report in the place of the words for browsers without scripts.
    const show = (...inside) =>
        document
            .getElementById('report')
            .replaceChildren(...inside.flat(Infinity).filter((one) => one !== null));

    return { el, shape, table, choice, data, show };
})();
