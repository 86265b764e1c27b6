// page: puts everything in its place.
(() => {
    const { el, text, drawCharts } = elements;
    const { all, comparisons, labels } = results;

    function entry(of, i) {
        const facts = [units.moment(of.started), units.length(of.measured_s)];
        if (of.name) facts.unshift(of.target);
        return el(
            'li',
            {},
            comparison.swatch(i),
            comparison.link(i, 100),
            el('span', { class: 'when' }, ` ${facts.join(', ')}`),
        );
    }

    const named = (document) => {
        const names = document.versions.map(([name]) => name);
        if (names.length === 0) return 'A comparison';
        return `${names.length > 8 ? `${names.length} servers` : names.join(', ')} compared`;
    };

    const idOf = (number, at) => `scenario-${number}-${at + 1}`;

    // compared is all of a comparison; scenarios have headings of `level`.
    function compared(of, number, level) {
        const place = (at) => idOf(number, at);
        return [
            setting.warnings(of),
            of.trials.length ? matrix.of(of, place) : elements.note('There is no scenario in it.'),
            of.trials.map((trial, at) => trials.section(trial, place(at), level)),
            el(
                'section',
                { class: 'trial' },
                el(level, {}, 'How it was measured'),
                setting.parts(of),
            ),
        ];
    }

    const ofOne = (of, kind) => [
        el('header', {}, kind, el('h1', {}, labels[0]), summary.about(of)),
        single.details(of),
    ];

    const ofComparison = (of, kind) => [
        el('header', {}, kind, el('h1', {}, named(of)), setting.about(of)),
        compared(of, 1, 'h2'),
    ];

    function clientLimited() {
        const limited = all
            .map((of, i) => (of.limits.length ? labels[i] : null))
            .filter((one) => one !== null);
        if (limited.length === 0) return null;
        return summary.box(
            `Client-limited: ${limited.length} of ${all.length}`,
            text(
                `The generator’s machine was the limit of ${limited.join(', ')}.`,
                'Comparing with that compares generators, not servers.',
            ),
        );
    }

    const comparisonEntry = (of, i) =>
        el(
            'li',
            {},
            el('a', { href: `#comparison-${i + 1}` }, named(of)),
            el('span', { class: 'when' }, ` ${units.moment(of.started)}`),
            el(
                'ul',
                {},
                of.trials.map((trial, at) =>
                    el(
                        'li',
                        {},
                        el('a', { href: `#${idOf(i + 1, at)}` }, trial.scenario.title),
                    ),
                ),
            ),
        );

    const resultSection = (of, i) =>
        el(
            'section',
            { class: 'result', id: `result-${i + 1}` },
            el('header', {}, el('h2', {}, comparison.swatch(i), labels[i]), summary.about(of)),
            single.details(of),
        );

    const comparisonSection = (of, i) =>
        el(
            'section',
            { class: 'result', id: `comparison-${i + 1}` },
            el('header', {}, el('h2', {}, named(of)), setting.about(of)),
            compared(of, i + 1, 'h3'),
        );

    function ofSeveral(kind) {
        const count = comparisons.length + all.length;
        const title = comparisons.length ? `${count} results` : `${count} results compared`;
        return [
            el(
                'header',
                {},
                kind,
                el('h1', {}, title),
                el(
                    'ul',
                    { class: 'contents' },
                    comparisons.map(comparisonEntry),
                    all.map(entry),
                ),
            ),
            clientLimited(),
            all.length > 1 ? comparison.parts() : null,
            comparisons.map(comparisonSection),
            all.map(resultSection),
        ];
    }

    function assemble() {
        const whose = comparisons.length === 0 ? 'load' : all.length === 0 ? 'compare' : 'report';
        const kind = el('p', { class: 'kind' }, `cleat-bench ${results.version}, ${whose}`);
        const count = comparisons.length + all.length;
        if (count === 0) return [el('header', {}, kind, el('h1', {}, 'No results'))];
        if (count > 1) return ofSeveral(kind);
        return all.length ? ofOne(all[0], kind) : ofComparison(comparisons[0], kind);
    }

    const colophon = el(
        'footer',
        {},
        `Made by cleat-bench ${results.version}. Charts are drawn by Chart.js (MIT licence), `,
        'which is part of this file; nothing is loaded from anywhere.',
    );
    const whole = [assemble(), colophon].flat(Infinity).filter((one) => one !== null);
    document.getElementById('report').replaceChildren(...whole);
    drawCharts();

    // Paper cannot be opened further.
    let closed = [];
    addEventListener('beforeprint', () => {
        closed = [...document.querySelectorAll('details:not([open])')];
        closed.forEach((one) => {
            one.open = true;
        });
    });
    addEventListener('afterprint', () =>
        closed.forEach((one) => {
            one.open = false;
        }),
    );
})();
