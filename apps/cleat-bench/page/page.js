// page: assembles the page.
(() => {
    const { el, text, drawCharts } = elements;
    const { all, comparisons, idles, probes, labels } = results;
    const count = comparisons.length + all.length + idles.length + probes.length;

    function entry(result, i) {
        const facts = [units.moment(result.started), units.length(result.measured_s)];
        if (result.name) facts.unshift(result.target);
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

    const scenarioId = (number, index) => `scenario-${number}-${index + 1}`;

    // comparisonParts are those of a comparison; scenarios have headings of `level`.
    function comparisonParts(compared, number, level) {
        const idOf = (index) => scenarioId(number, index);
        return [
            setting.warnings(compared),
            compared.trials.length
                ? matrix.draw(compared, idOf)
                : elements.note('There is no scenario in it.'),
            compared.trials.map((trial, index) => trials.section(trial, idOf(index), level)),
            el(
                'section',
                { class: 'trial' },
                el(level, {}, 'How it was measured'),
                setting.parts(compared),
            ),
        ];
    }

    const resultPage = (result, kind) => [
        el('header', {}, kind, el('h1', {}, labels[0]), summary.about(result)),
        single.details(result),
    ];

    const comparisonPage = (compared, kind) => [
        el('header', {}, kind, el('h1', {}, named(compared)), setting.about(compared)),
        comparisonParts(compared, 1, 'h2'),
    ];

    function clientLimited() {
        const limited = all
            .map((result, i) => (result.limits.length ? labels[i] : null))
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

    const comparisonEntry = (compared, i) =>
        el(
            'li',
            {},
            el('a', { href: `#comparison-${i + 1}` }, named(compared)),
            el('span', { class: 'when' }, ` ${units.moment(compared.started)}`),
            el(
                'ul',
                {},
                compared.trials.map((trial, index) =>
                    el(
                        'li',
                        {},
                        el('a', { href: `#${scenarioId(i + 1, index)}` }, trial.scenario.title),
                    ),
                ),
            ),
        );

    const resultSection = (result, i) =>
        el(
            'section',
            { class: 'result', id: `result-${i + 1}` },
            el('header', {}, el('h2', {}, comparison.swatch(i), labels[i]), summary.about(result)),
            single.details(result),
        );

    const comparisonSection = (compared, i) =>
        el(
            'section',
            { class: 'result', id: `comparison-${i + 1}` },
            el('header', {}, el('h2', {}, named(compared)), setting.about(compared)),
            comparisonParts(compared, i + 1, 'h3'),
        );

    const idlePage = (run, kind) => [
        el('header', {}, kind, el('h1', {}, idle.label(run)), idle.about(run)),
        idle.details(run),
    ];

    const probePage = (report, kind) => [
        el('header', {}, kind, el('h1', {}, probe.label(report))),
        probe.parts(report),
    ];

    // Documents of idle and probe: a title, the facts below it, and the rest.
    const others = [
        ...idles.map((run) => [idle.label(run), idle.about(run), idle.details(run)]),
        ...probes.map((report) => [probe.label(report), null, probe.parts(report)]),
    ];

    const otherEntry = ([title], i) =>
        el('li', {}, el('a', { href: `#other-${i + 1}` }, units.shortened(title, 100)));

    const otherSection = ([title, about, inside], i) =>
        el(
            'section',
            { class: 'result', id: `other-${i + 1}` },
            el('header', {}, el('h2', {}, title), about),
            inside,
        );

    function severalPage(kind) {
        const title = all.length === count ? `${count} results compared` : `${count} results`;
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
                    others.map(otherEntry),
                ),
            ),
            clientLimited(),
            all.length > 1 ? comparison.parts() : null,
            comparisons.map(comparisonSection),
            all.map(resultSection),
            others.map(otherSection),
        ];
    }

    // The subcommand whose results these are; `report` if they are of several.
    function subcommand() {
        if (all.length === 1 && count === 1 && all[0].staircase) return 'staircase';
        if (all.length === 1 && count === 1 && all[0].transfer) return 'transfer';
        if (all.length === count) return 'load';
        if (comparisons.length === count) return 'compare';
        if (idles.length === count) return 'idle';
        return probes.length === count ? 'probe' : 'report';
    }

    function assemble() {
        const kind = el('p', { class: 'kind' }, `cleat-bench ${results.version}, ${subcommand()}`);
        if (count === 0) return [el('header', {}, kind, el('h1', {}, 'No results'))];
        if (count > 1) return severalPage(kind);
        if (all.length) return resultPage(all[0], kind);
        if (idles.length) return idlePage(idles[0], kind);
        if (probes.length) return probePage(probes[0], kind);
        return comparisonPage(comparisons[0], kind);
    }

    const colophon = el(
        'footer',
        {},
        `Made by cleat-bench ${results.version}. Charts are drawn by Chart.js (MIT licence), `,
        'which is part of this file; nothing is loaded from anywhere.',
    );
    dom.show(assemble(), colophon);
    drawCharts();

    // On paper nothing can be opened, so all is open.
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
