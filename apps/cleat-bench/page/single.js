// single: all of one result.
const single = (() => {
    const { el, part, note, table, figure, scaled, factList, command } = elements;
    const { latencyOf, serverCpu, generatorCpu } = results;

    // The bar is the share of all failures, which a table of few failures shows as well.
    const shareCell = (part, failed, attempts) =>
        el(
            'td',
            { class: 'share', '--share': `${(100 * part) / failed}%` },
            units.share(part, attempts),
        );

    function overTime(of) {
        const line = of.timeline;
        if (line.middle_s.length === 0)
            return part('Over time', note('Nothing was counted in any interval.'));
        const each = units.time(line.interval_s * 1e9).replace(/\.0+(?=\D)/, '');
        const points =
            line.together === 1
                ? `Each point is one interval of ${each}.`
                : `Each point is ${line.together} intervals of ${each} together: ` +
                  'rates and means are theirs, a maximum is the highest in them.';
        return part(
            'Over time',
            el(
                'div',
                { class: 'charts' },
                figure('Transactions', {}, (canvas) => charts.rates(canvas, line)),
                of.ok
                    ? scaled('Response time', {}, (canvas, state) =>
                          charts.responseTimes(canvas, line, state),
                      )
                    : null,
            ),
            note(
                points,
                'Attempts count where they were meant to begin, outcomes where they came.',
            ),
        );
    }

    function latencies(of) {
        const seen = of.latency.filter((one) => one.count !== 0);
        if (seen.length === 0)
            return part('Latency', note('No transaction got far enough to be timed.'));
        const curves = seen.filter((one) => charts.stages[one.key]);
        const beyond = seen.reduce((sum, one) => sum + one.beyond_max, 0);
        return part(
            'Latency',
            curves.length
                ? scaled('Latency by percentile', { tall: true }, (canvas, state) =>
                      charts.percentiles(
                          canvas,
                          results.grid,
                          () =>
                              curves.map((one) => ({
                                  ...charts.stages[one.key],
                                  label: one.name,
                                  curve: one.curve,
                              })),
                          state,
                      ),
                  )
                : null,
            elements.curveNote(),
            el('div', { class: 'part' }, latencyTable(seen)),
            seen.some((one) => one.key === 'slip')
                ? note(
                      'Slip is the generator’s own delay: from the intended start',
                      'to the first packet.',
                  )
                : null,
            beyond !== 0
                ? note(
                      `${units.count(beyond)} times were beyond what is told apart,`,
                      'and count as that.',
                  )
                : null,
        );
    }

    function latencyTable(seen) {
        return table(
            'several',
            ['', 'count', 'min', 'mean', 'p50', 'p90', 'p99', 'p99.9', 'p99.99', 'max'],
            seen.map((one) => [
                one.name,
                units.count(one.count),
                ...[
                    one.min,
                    one.mean,
                    one.p50,
                    one.p90,
                    one.p99,
                    one.p99_9,
                    one.p99_99,
                    one.max,
                ].map(units.time),
            ]),
        );
    }

    function failures(of) {
        if (of.failures.length === 0)
            return part(
                'Failures',
                el('p', {}, of.attempts ? 'None: every attempt was ok.' : 'None.'),
            );
        const rows = [...of.failures].sort((a, b) => b.count - a.count);
        return part(
            'Failures',
            table(
                'narrow',
                ['stage', 'kind', 'count', 'of all attempts'],
                rows.map((one) => [
                    one.stage,
                    one.kind,
                    units.count(one.count),
                    shareCell(one.count, of.failed, of.attempts),
                ]),
                [0, 1],
            ),
        );
    }

    function handshakes(of) {
        const all = of.agreed.reduce((sum, one) => sum + one.count, 0);
        const rows = [...of.agreed].sort((a, b) => b.count - a.count);
        const facts = [
            ['connections begun', units.count(of.connections)],
            ['full handshakes', units.count(of.full)],
            [
                'resumed',
                `${units.count(of.resumed)} (${units.count(of.offered)} sessions were offered)`,
            ],
            ...(of.early_data ? [['early data', of.early_data]] : []),
        ];
        return el(
            'section',
            { class: 'part counts' },
            el('h3', {}, 'Handshakes'),
            factList(facts),
            rows.length
                ? el(
                      'div',
                      { class: 'part' },
                      table(
                          'narrow',
                          ['version', 'cipher suite', 'group', 'handshakes', 'share'],
                          rows.map((one) => [
                              one.version,
                              one.cipher,
                              one.group || '–',
                              units.count(one.count),
                              units.share(one.count, all),
                          ]),
                          [0, 1, 2],
                      ),
                  )
                : null,
        );
    }

    const perGb = (ns) => (ns === null ? '–' : `${units.time(ns)} per GB`);
    const transferred = (of) => [
        [
            `messages of ${units.bytes(of.size)}`,
            `${of.direction}, ${units.three(of.bytes_per_s / 1e6)}\u00a0MB/s`,
        ],
        ['generator’s CPU', perGb(of.generator_cpu_ns_per_gb)],
        ...(of.server_cpu_ns_per_gb === null
            ? []
            : [['server’s CPU', perGb(of.server_cpu_ns_per_gb)]]),
    ];

    const cpuOf = (each, all) =>
        `${units.timeOr(each)} for each transaction, ${units.time(all)} in all`;

    function work(of) {
        const perSecond = (n) =>
            of.measured_s > 0 ? ` (${units.bytes(n / of.measured_s)}/s)` : '';
        const shares = of.worker_cpu_ns.map((ns) =>
            of.measured_s > 0 ? ns / 1e9 / of.measured_s : 0,
        );
        const facts = [
            ['sent', units.bytes(of.bytes_up) + perSecond(of.bytes_up)],
            ['received', units.bytes(of.bytes_down) + perSecond(of.bytes_down)],
            ...(of.transfer ? transferred(of.transfer) : []),
            ['generator’s CPU', cpuOf(generatorCpu(of), of.generator_cpu_ns)],
        ];
        if (shares.length === 1)
            facts.push(['its worker', `busy ${units.round(shares[0])} of the time`]);
        if (shares.length > 1)
            facts.push([
                'its workers',
                `${shares.length}, busy ${units.round(Math.min(...shares))} to ` +
                    `${units.round(Math.max(...shares))} of the time`,
            ]);
        if (of.server) {
            const cores = of.measured_s > 0 ? of.server.cpu_ns / 1e9 / of.measured_s : 0;
            facts.push(
                ['server’s CPU', cpuOf(serverCpu(of), of.server.cpu_ns)],
                ['its cores', `${units.three(cores)} busy`],
                ['its processes', of.server.pids.join(', ')],
            );
        }
        return part(
            'Bytes and CPU',
            factList(facts),
            note('Bytes are plaintext, without TLS’s own.'),
        );
    }

    function commands(of) {
        // The result of several generators has a command line for each.
        const lines = of.command.split(/\n(?=\S*cleat-bench\b)/).filter((line) => line !== '');
        if (lines.length === 0) return null;
        return part(
            lines.length === 1 ? 'The command' : 'The commands',
            lines.map(command),
        );
    }

    function surroundings(of) {
        const environment = of.environment.length
            ? factList(of.environment)
            : note('Nothing was written down about the machine.');
        const asked = of.asked.length ? factList(of.asked) : note('Nothing but the defaults.');
        return el(
            'div',
            { class: 'pair' },
            part('What was asked', asked),
            el(
                'section',
                { class: 'part' },
                results.all.length === 1
                    ? [el('h3', {}, 'Where it ran'), environment]
                    : el(
                          'details',
                          {},
                          el('summary', {}, el('h3', {}, 'Where it ran')),
                          environment,
                      ),
            ),
        );
    }

    const details = (of) => [
        summary.verdicts(of),
        of.staircase ? staircase.parts(of.staircase) : null,
        summary.figures(of),
        overTime(of),
        latencies(of),
        el('div', { class: 'pair' }, failures(of), work(of)),
        handshakes(of),
        surroundings(of),
        commands(of),
    ];

    return { details };
})();
