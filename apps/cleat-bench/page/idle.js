// idle: what a held connection costs the server in memory.
const idle = (() => {
    const { el, part, note, text, table, figure, factList, command } = elements;
    const { axis, colour } = axes;

    const label = (of) => of.name || of.target;
    const kib = (bytes) => `${units.three(bytes / 1024)}\u00a0KiB`;
    const known = (of) => of.bytes_per_connection !== null;

    // The levels that the slope is of: those that grew.
    const telling = (of) =>
        of.levels.filter((level, i) => (i === 0 ? of.levels[1] && !of.levels[1].flat : !level.flat));

    // The line goes through the middle of its points, and is drawn from the first of them.
    function fitted(of) {
        const points = telling(of);
        const mean = (key) => points.reduce((sum, one) => sum + one[key], 0) / points.length;
        const without = mean('bytes') - of.bytes_per_connection * mean('connections');
        return [points[0].connections, points.at(-1).connections].map((x) => ({
            x,
            y: without + of.bytes_per_connection * x,
        }));
    }

    function memory(canvas, of) {
        return charts.draw(canvas, () => {
            const at = of.levels.map((level) => ({ x: level.connections, y: level.bytes }));
            const points = charts.line('memory of the server', colour('--c1'), at, {
                pointRadius: 4,
                showLine: !known(of),
                clip: 8,
            });
            const slope = known(of)
                ? charts.line(`${kib(of.bytes_per_connection)} each`, colour('--c2'), fitted(of), {
                      borderDash: [7, 4],
                      pointRadius: 0,
                      pointHitRadius: 0,
                  })
                : null;
            return {
                type: 'line',
                data: { datasets: [points, slope].filter((one) => one !== null) },
                options: {
                    ...charts.options(
                        {
                            x: axis('connections held', {
                                type: 'linear',
                                min: 0,
                                ticks: { callback: units.tick, maxTicksLimit: 8 },
                            }),
                            y: axis('memory (PSS)', {
                                beginAtZero: true,
                                grace: '4%',
                                ticks: { callback: units.bytesTick, maxTicksLimit: 8 },
                            }),
                        },
                        (item) => ` ${item.dataset.label}: ${units.bytes(item.parsed.y)}`,
                        (items) => `${units.count(items[0].parsed.x)} connections`,
                    ),
                    interaction: { mode: 'nearest', intersect: false },
                },
            };
        });
    }

    const rows = (of) =>
        of.levels.map((level, i) => {
            const before = of.levels[i - 1];
            const more = before
                ? (level.bytes - before.bytes) / (level.connections - before.connections)
                : null;
            return [
                [
                    units.count(level.connections),
                    level.flat ? el('small', { class: 'bad' }, 'flat: left out') : null,
                ],
                units.bytes(level.bytes),
                more === null ? '–' : kib(more),
            ];
        });

    function warnings(of) {
        return [
            known(of)
                ? null
                : summary.box(
                      'Not known: memory did not grow',
                      text(
                          'The server had what these connections need already, of connections that',
                          'it served before. Restart it, and measure again.',
                      ),
                  ),
            of.partial
                ? summary.box(
                      'Partial: this run was ended before its time',
                      text('The levels that it did not come to are missing.'),
                  )
                : null,
        ];
    }

    const tile = (name, value, unit, more) =>
        el(
            'div',
            {},
            el('dt', {}, name),
            el(
                'dd',
                { class: 'value' },
                value,
                unit ? el('span', { class: 'unit' }, `\u00a0${unit}`) : null,
            ),
            el('dd', { class: 'more' }, more),
        );

    const figures = (of) =>
        el(
            'dl',
            { class: 'figures' },
            tile(
                'An idle connection',
                known(of) ? units.three(of.bytes_per_connection / 1024) : '–',
                known(of) ? 'KiB' : '',
                known(of) ? 'the slope over all levels that grew' : 'memory did not grow',
            ),
            tile(
                'Most connections',
                units.count(Math.max(0, ...of.levels.map((level) => level.connections))),
                '',
                'held at once',
            ),
        );

    const about = (of) =>
        el(
            'ul',
            { class: 'about' },
            of.name ? el('li', {}, of.target) : null,
            of.started === null ? null : el('li', {}, units.moment(of.started)),
        );

    const details = (of) => [
        warnings(of),
        figures(of),
        part(
            'Memory over connections',
            of.levels.length > 1
                ? figure('Memory of the server’s processes', { tall: true }, (canvas) =>
                      memory(canvas, of),
                  )
                : null,
            el(
                'div',
                { class: 'part' },
                table('narrow', ['connections', 'memory', 'each more'], rows(of)),
            ),
            note(
                'Memory is PSS without pages of files: what several processes share counts once.',
                'What the server needs without any connection is no part of the slope.',
            ),
        ),
        part(
            'Where it ran',
            of.environment.length
                ? factList(of.environment)
                : note('Nothing was written down about the machine.'),
        ),
        of.command === '' ? null : part('The command', command(of.command)),
    ];

    return { label, about, details };
})();
