// idle: what a held connection costs the server in memory.
const idle = (() => {
    const { el, part, note, text, table, tile, tiles, figure } = elements;
    const { axis, colour } = axes;

    const label = (run) => run.name || run.target;
    const kib = (bytes) => `${units.three(bytes / 1024)}\u00a0KiB`;
    const known = (run) => run.bytes_per_connection !== null;

    // The levels at which memory grew, which the slope is computed from.
    const grownLevels = (run) =>
        run.levels.filter((level, i) =>
            i === 0 ? run.levels[1] && !run.levels[1].flat : !level.flat,
        );

    // The line goes through the middle of its points, and is drawn from the first of them.
    function fitted(run) {
        const points = grownLevels(run);
        const mean = (key) => points.reduce((sum, one) => sum + one[key], 0) / points.length;
        const without = mean('bytes') - run.bytes_per_connection * mean('connections');
        return [points[0].connections, points.at(-1).connections].map((x) => ({
            x,
            y: without + run.bytes_per_connection * x,
        }));
    }

    function memory(canvas, run) {
        return charts.draw(canvas, () => {
            const measured = run.levels.map((level) => ({ x: level.connections, y: level.bytes }));
            const points = charts.line('memory of the server', colour('--c1'), measured, {
                pointRadius: 4,
                showLine: !known(run),
                clip: 8,
            });
            const slope = known(run)
                ? charts.line(
                      `${kib(run.bytes_per_connection)} each`,
                      colour('--c2'),
                      fitted(run),
                      {
                          borderDash: [7, 4],
                          pointRadius: 0,
                          pointHitRadius: 0,
                      },
                  )
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

    const rows = (run) =>
        run.levels.map((level, i) => {
            const before = run.levels[i - 1];
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

    function warnings(run) {
        return [
            known(run)
                ? null
                : run.levels.some((level, i) => i !== 0 && !level.flat)
                  ? summary.box(
                        'Not known: memory grew at one level only',
                        text('One level has no slope. Hold more connections, or at more levels.'),
                    )
                  : summary.box(
                        'Not known: memory did not grow',
                        text(
                            'The server still had the memory of earlier connections. Restart it,',
                            'and measure again.',
                        ),
                    ),
            run.partial
                ? summary.box(
                      'Partial: this run was ended before its time',
                      text('The levels that it did not reach are missing.'),
                  )
                : null,
        ];
    }

    const figures = (run) =>
        tiles(
            tile(
                'An idle connection',
                known(run) ? units.three(run.bytes_per_connection / 1024) : '–',
                known(run) ? 'KiB' : '',
                known(run) ? 'the slope over all levels that grew' : 'not known',
            ),
            tile(
                'Most connections',
                units.count(Math.max(0, ...run.levels.map((level) => level.connections))),
                '',
                'held at once',
            ),
        );

    const about = (run) =>
        elements.about(
            run.name ? run.target : null,
            run.http2 ? 'HTTP/2' : null,
            run.started === null ? null : units.moment(run.started),
        );

    const details = (run) => [
        warnings(run),
        figures(run),
        part(
            'Memory over connections',
            run.levels.length > 1
                ? figure('Memory of the server’s processes', { tall: true }, (canvas) =>
                      memory(canvas, run),
                  )
                : null,
            el(
                'div',
                { class: 'part' },
                table('narrow', ['connections', 'memory', 'each more'], rows(run)),
            ),
            note(
                'Memory is PSS without pages of files: what several processes share counts once.',
                'The server’s memory without connections is no part of the slope.',
            ),
        ),
        part('Where it ran', elements.environment(run.environment)),
        elements.commandPart(run.command),
    ];

    return { label, about, details };
})();
