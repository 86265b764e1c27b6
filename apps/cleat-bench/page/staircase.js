// staircase: results of a rate that climbs in steps: the highest rates, the knee, and every step.
const staircase = (() => {
    const { el, part, note, table, figure, scaled } = elements;
    const { axis, colour, timeAxis } = axes;

    const tile = (name, rate, more) =>
        el(
            'div',
            {},
            el('dt', {}, name),
            el(
                'dd',
                { class: 'value' },
                rate === null ? 'none' : units.rate(rate),
                rate === null ? null : el('span', { class: 'unit' }, '\u00a0/s'),
            ),
            more ? el('dd', { class: 'more' }, more) : null,
        );

    const highest = (climb) =>
        part(
            'Highest rates',
            el(
                'dl',
                { class: 'figures' },
                climb.highest.map((each) => tile(each.criterion, each.rate)),
                tile('Knee', climb.knee, 'the last rate before queues form'),
            ),
        );

    // Rates per second if the length of every step is known.
    const perSecond = (climb) => climb.steps.every((step) => step.length_ns);

    const rateAxis = (steps) =>
        axis('rate asked for, per second', {
            type: 'linear',
            min: steps.length > 1 ? steps[0].rate : undefined,
            max: steps.length > 1 ? steps.at(-1).rate : undefined,
            ticks: { callback: units.tick, maxTicksLimit: 9, includeBounds: false },
        });

    const asked = (steps) => (items) => `asked for ${units.rate(steps[items[0].dataIndex].rate)}/s`;
    const dots = (steps) => ({ pointRadius: steps.length <= 60 ? 3 : 0, clip: 8 });

    function transactions(canvas, climb) {
        const { steps } = climb;
        return charts.draw(canvas, () => {
            const blue = colour('--c1');
            const each = (key) =>
                steps.map((step) => ({
                    x: step.rate,
                    y: step.length_ns ? step[key] / (step.length_ns / 1e9) : step[key],
                }));
            const what = perSecond(climb) ? '/s' : '';
            return {
                type: 'line',
                data: {
                    datasets: [
                        charts.line('attempted', colour('--ink'), each('attempted'), {
                            borderDash: [3, 3],
                            borderWidth: 1.25,
                            ...dots(steps),
                        }),
                        charts.line('ok', blue, each('ok'), {
                            ...dots(steps),
                            fill: 'origin',
                            backgroundColor: charts.faint(blue, 0.14),
                        }),
                        charts.line('failed', colour('--c2'), each('failed'), {
                            borderWidth: 2.25,
                            ...dots(steps),
                        }),
                    ],
                },
                options: charts.options(
                    {
                        x: rateAxis(steps),
                        y: axis(`transactions${what ? ' per second' : ' in a step'}`, {
                            beginAtZero: true,
                            suggestedMax: 1,
                            grace: '4%',
                            ticks: { callback: units.tick, maxTicksLimit: 8 },
                        }),
                    },
                    (item) => ` ${item.dataset.label}: ${units.rate(item.parsed.y)}${what}`,
                    asked(steps),
                ),
            };
        });
    }

    function responses(canvas, { steps }, choice) {
        return charts.draw(canvas, () => {
            const each = (key) =>
                steps.map((step) => ({ x: step.rate, y: step.ok ? step[key] : null }));
            const values = steps
                .filter((step) => step.ok)
                .flatMap((step) => [step.response_mean_ns, step.response_max_ns]);
            return {
                type: 'line',
                data: {
                    datasets: [
                        charts.line('mean', colour('--c1'), each('response_mean_ns'), {
                            borderWidth: 2.25,
                            ...dots(steps),
                        }),
                        charts.line('max', colour('--c2'), each('response_max_ns'), {
                            borderDash: [5, 3],
                            ...dots(steps),
                        }),
                    ],
                },
                options: charts.options(
                    {
                        x: rateAxis(steps),
                        y: timeAxis('response time', choice.logarithmic, values),
                    },
                    (item) => ` ${item.dataset.label}: ${units.time(item.parsed.y)}`,
                    asked(steps),
                ),
            };
        });
    }

    const drawn = (climb) =>
        el(
            'div',
            { class: 'charts' },
            figure('Transactions by the rate asked for', {}, (canvas) =>
                transactions(canvas, climb),
            ),
            climb.steps.some((step) => step.ok)
                ? scaled('Response time by the rate asked for', {}, (canvas, state) =>
                      responses(canvas, climb, state),
                  )
                : null,
        );

    const rows = (climb) =>
        climb.steps.map((step) => [
            [
                `${units.rate(step.rate)}/s`,
                step.broken ? el('small', { class: 'bad' }, 'broke the server') : null,
            ],
            units.count(step.attempted),
            units.count(step.ok),
            el(
                'td',
                { class: step.failed ? 'bad' : null },
                units.count(step.failed),
                step.failed ? el('small', {}, units.share(step.failed, step.attempted)) : null,
            ),
            units.timeOr(step.ok ? step.response_mean_ns : null),
            units.timeOr(step.ok ? step.response_max_ns : null),
        ]);

    const steps = (climb) =>
        part(
            'Steps',
            drawn(climb),
            el(
                'div',
                { class: 'part' },
                table(
                    'wider',
                    ['asked', 'attempted', 'ok', 'failed', 'mean response', 'max response'],
                    rows(climb),
                    [0],
                ),
            ),
            note(
                'A step has all transactions whose intended start is in it, however late they',
                'ended. A step that broke the server meets no criterion.',
            ),
        );

    const parts = (climb) =>
        climb.steps.length === 0
            ? part('Steps', note('No step was completed.'))
            : [highest(climb), steps(climb)];

    return { parts };
})();
