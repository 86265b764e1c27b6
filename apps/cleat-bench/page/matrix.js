// matrix: the table of contents of a comparison: each server's ratio to the base in each scenario.
const matrix = (() => {
    const { el, note, table } = elements;
    const { shown, swatch } = judged;

    // Steps of a tint: up to a seventh, up to twice, and beyond.
    function step(ratio) {
        const far = Math.abs(Math.log2(ratio));
        return far < 0.2 ? 1 : far < 1 ? 2 : 3;
    }

    function cell(server, trial) {
        if (!server) return el('td', { class: 'none' }, '–');
        const metric = trial.judged;
        const value = server.medians[metric];
        if (value === null)
            return el('td', { class: 'none' }, server.left_out === null ? '–' : 'left out');
        const ratio = server.ratios[metric];
        if (!ratio)
            return el(
                'td',
                { class: 'base' },
                shown(metric, value, trial),
                server.name === trial.base ? el('small', {}, 'the base') : null,
            );
        const tone = judged.tone(metric, ratio.verdict);
        const tint = tone === 'pale' ? null : `var(--${tone}-${step(ratio.median)})`;
        return el(
            'td',
            { class: tone, '--tint': tint },
            judged.ratioText(ratio),
            ratio.verdict === 'one round' ? null : el('small', {}, judged.spread(ratio)),
            server.left_out === null ? null : el('small', {}, 'not completed'),
        );
    }

    function row(trial, id, names) {
        const head = [
            el('a', { href: `#${id}` }, trial.scenario.title),
            el('small', {}, judged.cost(trial)),
        ];
        if (trial.base === null) {
            const why = trial.skipped === null ? 'no server was measured' : 'skipped';
            return [head, el('td', { class: 'none', colspan: names.length }, why)];
        }
        return [
            head,
            ...names.map((name) =>
                cell(
                    trial.servers.find((server) => server.name === name),
                    trial,
                ),
            ),
        ];
    }

    // draw makes the matrix of a comparison; idOf gives the id of a scenario's section.
    function draw(compared, idOf) {
        const names = judged.serverNames(compared);
        const heads = names.map((name) => [swatch(name), units.shortened(name, 20)]);
        return el(
            'div',
            { class: 'matrix' },
            table(
                'several',
                ['scenario', ...heads],
                compared.trials.map((trial, i) => row(trial, idOf(i), names)),
                [0],
            ),
            note(
                'Each server’s cost as a ratio to the base’s; less is better. Median of the ratios',
                'within a round, and their range.',
                compared.rounds < 2
                    ? 'One round alone has no spread, and shows little.'
                    : judged.legend,
            ),
        );
    }

    return { draw };
})();
