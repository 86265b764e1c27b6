// elements: the building blocks of this page.
const elements = (() => {
    const { el, choice } = dom;

    const part = (title, ...inside) =>
        el('section', { class: 'part' }, el('h3', {}, title), inside);
    const text = (...sentences) => el('p', {}, sentences.join(' '));
    const note = (...sentences) => el('p', { class: 'note' }, sentences.join(' '));

    // A head that is a cell already stays as it is.
    const column = (head, align) =>
        head instanceof HTMLTableCellElement
            ? head
            : el('th', { scope: 'col', class: align }, head);

    function table(kind, columns, rows, textual = []) {
        const align = (i) => (textual.includes(i) ? 'text' : null);
        const cellOf = (cell, i) => {
            if (cell instanceof HTMLTableCellElement) return cell;
            return i === 0
                ? el('th', { scope: 'row', class: 'text' }, cell)
                : el('td', { class: align(i) }, cell);
        };
        return el(
            'div',
            { class: `scroll ${kind}`, tabindex: '0' },
            dom.table(
                { class: kind === 'narrow' ? null : 'wide' },
                columns.map((head, i) => column(head, align(i))),
                rows.map((cells) => cells.map(cellOf)),
            ),
        );
    }

    const failedCell = (failed, attempts) =>
        el(
            'td',
            { class: failed ? 'bad' : null },
            units.count(failed),
            failed ? el('small', {}, units.share(failed, attempts)) : null,
        );

    // about is the line of facts below a title; null is left out.
    const about = (...facts) =>
        el(
            'ul',
            { class: 'about' },
            facts.filter((fact) => fact !== null).map((fact) => el('li', {}, fact)),
        );

    // tile is one of the key figures.
    const tile = (name, value, unit, more = null, bad = false) =>
        el(
            'div',
            { class: bad ? 'bad' : null },
            el('dt', {}, name),
            el(
                'dd',
                { class: 'value' },
                value,
                unit ? el('span', { class: 'unit' }, `\u00a0${unit}`) : null,
            ),
            more === null ? null : el('dd', { class: 'more' }, more),
        );
    const tiles = (...inside) => el('dl', { class: 'figures' }, inside);

    const swatch = (paint) => el('span', { class: 'swatch', '--swatch': `var(${paint})` });

    const curveNote = (messagesAlone = false) =>
        note(
            'Each step to the right is one nine more.',
            messagesAlone
                ? 'Response is of each message alone, and an opening counts from its intended start.'
                : 'Response counts from the intended start if a rate was asked for, so a stall ' +
                      'shows in every transaction that it delayed.',
        );

    function factList(facts) {
        return el(
            'dl',
            { class: 'facts' },
            facts.map(([name, value]) =>
                value === ''
                    ? el('dt', { class: 'heading' }, name)
                    : [el('dt', {}, name), el('dd', {}, value)],
            ),
        );
    }

    // copy works on pages from disk too, where some browsers have no clipboard for scripts.
    async function copy(text, button, source) {
        let done = true;
        try {
            await navigator.clipboard.writeText(text);
        } catch {
            getSelection().selectAllChildren(source);
            done = document.execCommand('copy');
        }
        button.textContent = done ? 'Copied' : 'Selected';
        setTimeout(() => {
            button.textContent = 'Copy';
        }, 2000);
    }

    // command is text with a button that copies it: a command line, or a configuration.
    function command(line) {
        const pre = el('pre', {}, line);
        const button = el(
            'button',
            { type: 'button', click: () => copy(line, button, pre) },
            'Copy',
        );
        return el('div', { class: 'command' }, pre, button);
    }

    const commandPart = (line) => (line === '' ? null : part('The command', command(line)));

    const environment = (facts) =>
        facts.length ? factList(facts) : note('No facts about the machine were recorded.');

    // figure is a chart with its caption. A chart needs its canvas on the page, so drawCharts calls
    // `make` later.
    const later = [];
    function figure(title, { tall = false, height = null, choices = [] }, make) {
        const canvas = el('canvas', { role: 'img', 'aria-label': title });
        later.push(() => make(canvas));
        const plot = el('div', { class: tall ? 'plot tall' : 'plot' }, canvas);
        if (height !== null) plot.style.height = height;
        return el(
            'figure',
            {},
            el(
                'figcaption',
                {},
                el('span', {}, title),
                choices.length ? el('div', { class: 'choices' }, choices) : null,
            ),
            plot,
        );
    }

    function scaled(title, how, make, more = []) {
        const state = { logarithmic: true };
        let again = () => {};
        const scales = choice(
            'scale',
            [
                [true, 'logarithmic'],
                [false, 'linear'],
            ],
            true,
            (value) => {
                state.logarithmic = value;
                again();
            },
        );
        return figure(
            title,
            { ...how, choices: [...more.map((each) => each(() => again())), scales] },
            (canvas) => {
                again = make(canvas, state);
            },
        );
    }

    // drawCharts draws all figures. Call it when the canvases are on the page.
    const drawCharts = () => later.splice(0).forEach((make) => make());

    return {
        el,
        part,
        text,
        note,
        curveNote,
        table,
        failedCell,
        about,
        tile,
        tiles,
        swatch,
        factList,
        command,
        commandPart,
        environment,
        choice,
        figure,
        scaled,
        drawCharts,
    };
})();
