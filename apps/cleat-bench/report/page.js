// page: puts everything in its place.
(() => {
    const { el, text, drawCharts } = elements;
    const { all, labels } = results;

    function entry(of, i) {
        const facts = [units.moment(of.started), units.length(of.measured_s)];
        if (of.name) facts.unshift(of.target);
        return el(
            'li',
            {},
            comparison.swatch(i),
            comparison.link(i, 100),
            el('span', {}, ` ${facts.join(', ')}`),
        );
    }

    function assemble() {
        const kind = el('p', { class: 'kind' }, `cleat-bench ${results.version}, load`);
        if (all.length === 0) return [el('header', {}, kind, el('h1', {}, 'No results'))];
        if (all.length === 1)
            return [
                el('header', {}, kind, el('h1', {}, labels[0]), summary.about(all[0])),
                single.details(all[0]),
            ];
        const limited = all
            .map((of, i) => (of.limits.length ? labels[i] : null))
            .filter((one) => one !== null);
        return [
            el(
                'header',
                {},
                kind,
                el('h1', {}, `${all.length} results compared`),
                el('ul', { class: 'contents' }, all.map(entry)),
            ),
            limited.length
                ? summary.box(
                      `Client-limited: ${limited.length} of ${all.length}`,
                      text(
                          `The generator’s machine was the limit of ${limited.join(', ')}.`,
                          'Comparing with that compares generators, not servers.',
                      ),
                  )
                : null,
            comparison.parts(),
            all.map((of, i) =>
                el(
                    'section',
                    { class: 'result', id: `result-${i + 1}` },
                    el(
                        'header',
                        {},
                        el('h2', {}, comparison.swatch(i), labels[i]),
                        summary.about(of),
                    ),
                    single.details(of),
                ),
            ),
        ];
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
