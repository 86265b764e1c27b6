// staircase: results of a rate that climbs in steps: the highest rates, the knee, and every step.
const staircase = (() => {
    const { el, part, note, table, figure, scaled } = elements;

    const tile = (name, rate, more) =>
        elements.tile(name, ...(rate === null ? ['none', ''] : [units.rate(rate), '/s']), more);

    // The most that a step had ends of, per second; null where the document does not say.
    const doneRate = (step) =>
        step.done !== null && step.length_ns ? step.done / (step.length_ns / 1e9) : null;
    const plateau = (climb) =>
        climb.steps.every((step) => doneRate(step) !== null)
            ? Math.max(...climb.steps.map(doneRate))
            : null;

    const highest = (climb) =>
        part(
            'Highest rates',
            elements.tiles(
                climb.highest.map((each) => tile(each.criterion, each.rate)),
                tile('Knee', climb.knee, 'the last rate before queues form'),
                plateau(climb) === null
                    ? null
                    : tile('Plateau', plateau(climb), 'the most that was done in a second'),
            ),
        );

    // Rates per second if the length of every step is known.
    const perSecond = (climb) => climb.steps.every((step) => step.length_ns);

    const rateAxis = (steps) =>
        axes.axis('rate asked for, per second', {
            type: 'linear',
            min: steps.length > 1 ? steps[0].rate : undefined,
            max: steps.length > 1 ? steps.at(-1).rate : undefined,
            ticks: { callback: units.tick, maxTicksLimit: 9, includeBounds: false },
        });

    const byRate = ({ steps }) => ({
        x: () => rateAxis(steps),
        heading: (items) => `asked for ${units.rate(steps[items[0].dataIndex].rate)}/s`,
        look: { pointRadius: steps.length <= 60 ? 3 : 0, clip: 8 },
    });

    const transactions = (canvas, climb) =>
        charts.outcomes(canvas, {
            ...byRate(climb),
            title: `transactions${perSecond(climb) ? ' per second' : ' in a step'}`,
            unit: perSecond(climb) ? '/s' : '',
            // The transactions that ended within the step, without those of the drain, show the plateau.
            ok: plateau(climb) === null ? 'ok' : 'done',
            points: (key) =>
                climb.steps.map((step) => ({
                    x: step.rate,
                    y: step.length_ns ? step[key] / (step.length_ns / 1e9) : step[key],
                })),
        });

    const responses = (canvas, climb, choice) =>
        charts.meanAndMax(canvas, choice, {
            ...byRate(climb),
            points: (key) =>
                climb.steps.map((step) => ({
                    x: step.rate,
                    y: step.ok ? step[`response_${key}`] : null,
                })),
        });

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
                step.broken
                    ? el('small', { class: 'bad' }, 'broke the server')
                    : step.kept_up
                      ? null
                      : el('small', { class: 'bad' }, 'did not keep up'),
            ],
            doneRate(step) === null ? '–' : `${units.rate(doneRate(step))}/s`,
            units.count(step.attempted),
            units.count(step.ok),
            elements.failedCell(step.failed, step.attempted),
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
                    ['asked', 'done', 'attempted', 'ok', 'failed', 'mean response', 'max response'],
                    rows(climb),
                    [0],
                ),
            ),
            climb.steps
                .filter((step) => step.fault !== '')
                .map((step) => note(`${units.rate(step.rate)}/s: ${step.fault}.`)),
            note(
                'A step has all transactions whose intended start is in it, however late they',
                'ended; done is what ended in it. A step that broke the server or did not keep up',
                'meets no criterion.',
            ),
        );

    const parts = (climb) =>
        climb.steps.length === 0
            ? part('Steps', note('No step was completed.'))
            : [highest(climb), steps(climb)];

    return { parts };
})();
