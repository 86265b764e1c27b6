// page: puts everything in its place.
(() => {
    const { el, text, drawCharts } = elements;
    const { all, comparisons, idles, probes, labels } = results;
    const count = comparisons.length + all.length + idles.length + probes.length;

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

    const ofIdle = (of, kind) => [
        el('header', {}, kind, el('h1', {}, idle.label(of)), idle.about(of)),
        idle.details(of),
    ];

    const ofProbe = (of, kind) => [
        el('header', {}, kind, el('h1', {}, probe.label(of))),
        probe.parts(of),
    ];

    // Those that are neither a load's nor a comparison: a title, what is about it, and the rest.
    const others = [
        ...idles.map((of) => [idle.label(of), idle.about(of), idle.details(of)]),
        ...probes.map((of) => [probe.label(of), null, probe.parts(of)]),
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

    function ofSeveral(kind) {
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

    // Whose results they are: of one subcommand, or of several.
    function whose() {
        if (all.length === 1 && count === 1 && all[0].staircase) return 'staircase';
        if (all.length === 1 && count === 1 && all[0].transfer) return 'transfer';
        if (all.length === count) return 'load';
        if (comparisons.length === count) return 'compare';
        if (idles.length === count) return 'idle';
        return probes.length === count ? 'probe' : 'report';
    }

    function assemble() {
        const kind = el('p', { class: 'kind' }, `cleat-bench ${results.version}, ${whose()}`);
        if (count === 0) return [el('header', {}, kind, el('h1', {}, 'No results'))];
        if (count > 1) return ofSeveral(kind);
        if (all.length) return ofOne(all[0], kind);
        if (idles.length) return ofIdle(idles[0], kind);
        if (probes.length) return ofProbe(probes[0], kind);
        return ofComparison(comparisons[0], kind);
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
