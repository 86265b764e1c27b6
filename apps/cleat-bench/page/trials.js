// trials: one scenario of a comparison: its load, figures, charts and remarks.
const trials = (() => {
    const { el, note, table, figure, scaled } = elements;
    const { titled, shown, baseOf, wasMeasured, swatch } = judged;

    function badges(server, trial) {
        const rank = judged.rank(server, trial);
        return [
            rank ? el('small', { class: 'best' }, `★ ${rank}`) : null,
            server.name === trial.base ? el('small', {}, 'the base') : null,
            server.left_out !== null ? el('small', { class: 'bad' }, 'not completed') : null,
            server.overloaded ? el('small', { class: 'bad' }, 'did not keep up') : null,
            server.counts?.limits.length ? el('small', { class: 'bad' }, 'client-limited') : null,
        ];
    }

    function figureCell(server, metric, trial) {
        const ratio = server.ratios[metric];
        return el(
            'td',
            { class: metric === trial.judged ? 'judged' : null },
            shown(metric, server.medians[metric], trial),
            ratio
                ? el(
                      'small',
                      { class: judged.tone(metric, ratio.verdict) },
                      judged.ratioText(ratio),
                  )
                : null,
            ratio && ratio.verdict !== 'one round' ? el('small', {}, judged.spread(ratio)) : null,
        );
    }

    const head = (metric, trial) =>
        el(
            'th',
            { scope: 'col', class: metric === trial.judged ? 'judged' : null },
            titled(metric, trial),
        );

    const failedCell = ({ counts }) =>
        counts === null ? '–' : elements.failedCell(counts.failed, counts.attempts);

    const resumedCell = ({ counts }) =>
        counts === null ? '–' : units.share(counts.resumed, counts.full + counts.resumed);

    function figures(trial) {
        const idle = judged.isIdle(trial);
        const kept = judged.metricsOf(trial);
        const measured = trial.servers.filter(wasMeasured);
        const counted = measured.some((server) => server.counts !== null);
        const more = [
            !idle && counted ? ['failed', failedCell] : null,
            counted && trial.scenario.reuse > 1 ? ['resumed', resumedCell] : null,
        ].filter((one) => one !== null);
        return table(
            idle ? 'several short' : 'several',
            ['', ...kept.map((metric) => head(metric, trial)), ...more.map(([name]) => name)],
            measured.map((server) => [
                [swatch(server.name), units.shortened(server.name, 40), badges(server, trial)],
                ...kept.map((metric) => figureCell(server, metric, trial)),
                ...more.map(([, cell]) => cell(server)),
            ]),
        );
    }

    const height = (rows, each) => `${Math.max(9, 4.5 + each * rows)}rem`;

    function barRow(server, trial) {
        const metric = trial.judged;
        const value = server.medians[metric];
        const [least, most] = judged.range(server, metric);
        const ratio = server.ratios[metric];
        const rank = judged.rank(server, trial);
        const words = [
            shown(metric, value, trial),
            ratio ? `${units.times(ratio.median)}×` : null,
            rank ? '★' : null,
        ].filter((one) => one !== null);
        return {
            name: server.name,
            paint: judged.paint(server.name),
            value,
            least,
            most,
            words: words.join('  '),
            strong: rank !== null,
        };
    }

    function ratioRow(server, trial) {
        const ratio = server.ratios[trial.judged];
        const words =
            ratio.verdict === 'one round'
                ? `${units.times(ratio.median)}, one round`
                : `${units.times(ratio.median)} (${judged.spread(ratio)})`;
        return {
            name: server.name,
            paint: judged.paint(server.name),
            ratios: judged.ratios(server, baseOf(trial), trial.judged),
            median: ratio.median,
            words: ['no difference shown', 'too few rounds'].includes(ratio.verdict)
                ? `${words}: ${ratio.verdict}`
                : words,
            pale: judged.isPale(ratio.verdict),
        };
    }

    const upper = (words) => words.charAt(0).toUpperCase() + words.slice(1);

    function side(trial) {
        const metric = trial.judged;
        const bars = trial.servers.filter((server) => server.medians[metric] !== null);
        const dots = bars.filter((server) => server.ratios[metric]);
        if (bars.length === 0) return null;
        const format = { tick: judged.ticks(metric), full: (v) => shown(metric, v, trial) };
        const title = upper(judged.cost(trial));
        return el(
            'div',
            { class: 'charts' },
            figure(`${title}: less is better`, { height: height(bars.length, 2.4) }, (canvas) =>
                spread.bars(
                    canvas,
                    bars.map((server) => barRow(server, trial)),
                    format,
                    'median, least to most',
                ),
            ),
            dots.length
                ? figure(
                      'Each round against the base',
                      { height: height(dots.length, 3.4) },
                      (canvas) =>
                          spread.ratios(
                              canvas,
                              dots.map((server) => ratioRow(server, trial)),
                              `times ${units.shortened(trial.base, 30)}, within a round`,
                          ),
                  )
                : null,
        );
    }

    function overlaid(trial) {
        const drawn = trial.servers.filter((server) => server.curve !== null);
        // Counted calls make a server slow: its times are no figures.
        if (drawn.length === 0 || judged.isCount(trial)) return null;
        const series = () =>
            drawn.map((server) => ({
                label: server.name,
                colour: judged.paint(server.name),
                dash: charts.dashOf(judged.numberOf(server.name)),
                curve: server.curve,
            }));
        return [
            scaled('Response by percentile', { tall: true }, (canvas, state) =>
                charts.percentiles(canvas, results.grid, series, state),
            ),
            note(
                `Of each server’s round with the median ${judged.cost(trial)}.`,
                'Each step to the right is one nine more.',
            ),
        ];
    }

    // The beginning and end of the chains of sessions add a few full handshakes.
    function resumption({ counts }, { scenario }) {
        const done = counts ? counts.full + counts.resumed : 0;
        const expected = 1 - 1 / scenario.reuse;
        if (!done || scenario.reuse < 2 || counts.resumed / done >= expected - 0.05) return [];
        return [
            `${units.share(counts.resumed, done)} of its connections resumed, ` +
                `${units.round(expected)} should have: its cost includes more full handshakes.`,
        ];
    }

    function remarksOn(server, trial) {
        const { left_out, complaints, counts } = server;
        return [
            ...(left_out === null ? [] : [left_out]),
            ...complaints,
            ...(server.overloaded
                ? [`did not keep up in ${server.overloaded} of ${server.rounds.length} rounds`]
                : []),
            ...(counts?.failures ?? []).map(
                ({ stage, kind, count }) =>
                    `${units.count(count)} of ${units.count(counts.attempts)} failed: ` +
                    `${stage}: ${kind}`,
            ),
            ...resumption(server, trial),
            ...(counts?.limits ?? []).map(
                (limit) => `client-limited, so its rate says little about the server: ${limit}`,
            ),
        ];
    }

    function remarks(trial) {
        const found = trial.servers
            .map((server) => [server, remarksOn(server, trial)])
            .filter(([, texts]) => texts.length !== 0);
        if (found.length === 0) return null;
        return el(
            'dl',
            { class: 'remarks' },
            found.map(([server, texts]) => [
                el(
                    'dt',
                    { class: server.at_fault ? 'bad' : null },
                    swatch(server.name),
                    server.name,
                    server.left_out === null ? null : ' was left out',
                ),
                texts.map((text) => el('dd', {}, text)),
            ]),
        );
    }

    const legend = (one) =>
        note(
            'Medians of the rounds. Below each its ratio to the base: the median of the ratios',
            'within a round, and their range.',
            one ? 'One round alone has no spread, and shows little.' : judged.legend,
        );

    // section of one scenario; `level` is that of its heading.
    function section(trial, id, level) {
        const ran = trial.servers.some(wasMeasured);
        return el(
            'section',
            { class: 'trial', id },
            el(level, {}, trial.scenario.title),
            workload.facts(trial.scenario),
            trial.skipped === null
                ? null
                : summary.box('No server was measured', elements.text(`${upper(trial.skipped)}.`)),
            !ran && trial.skipped === null
                ? summary.box('No server was measured', elements.text('No round was completed.'))
                : null,
            ran
                ? [
                      figures(trial),
                      legend(trial.servers.every(({ rounds }) => rounds.length < 2)),
                      side(trial),
                      overlaid(trial),
                  ]
                : null,
            remarks(trial),
        );
    }

    return { section };
})();
