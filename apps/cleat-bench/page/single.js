// single: the page of one result.
const single = (() => {
    const { el, part, note, table, figure, scaled, factList, command } = elements;
    const { serverCpu, generatorCpu } = results;

    // The bar is the share of all failures, which a table of few failures shows as well.
    const shareCell = (part, failed, attempts) =>
        el(
            'td',
            { class: 'share', '--share': `${(100 * part) / failed}%` },
            units.share(part, attempts),
        );

    function overTime(result) {
        const line = result.timeline;
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
                result.ok
                    ? scaled('Response time', {}, (canvas, state) =>
                          charts.responseTimes(canvas, line, state),
                      )
                    : null,
            ),
            note(points, 'Attempts count at their intended start, outcomes when they came.'),
        );
    }

    function latencies(result) {
        const seen = result.latency.filter((one) => one.count !== 0);
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
            elements.curveNote(results.timesMessagesAlone(result)),
            el('div', { class: 'part' }, latencyTable(seen)),
            seen.some((one) => one.key === 'slip')
                ? note(
                      'Slip is the generator’s own delay: from the intended start',
                      'to the first packet.',
                  )
                : null,
            result.failed
                ? note(
                      `Percentiles of the response are of all ${units.count(result.attempts)}`,
                      `attempts: the ${units.count(result.failed)} that failed had no response and`,
                      'rank last. Its mean is of those that were ok; other stages are of those that',
                      'came through them.',
                  )
                : null,
            beyond !== 0
                ? note(
                      `${units.count(beyond)} times were longer than the longest that is recorded,`,
                      'and count as that one.',
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
                ].map(units.timeOr),
            ]),
        );
    }

    function failures(result) {
        if (result.failures.length === 0)
            return part(
                'Failures',
                el('p', {}, result.attempts ? 'None: every attempt was ok.' : 'None.'),
            );
        const rows = [...result.failures].sort((a, b) => b.count - a.count);
        return part(
            'Failures',
            table(
                'narrow',
                ['stage', 'kind', 'count', 'of all attempts'],
                rows.map((one) => [
                    one.stage,
                    one.kind,
                    units.count(one.count),
                    shareCell(one.count, result.failed, result.attempts),
                ]),
                [0, 1],
            ),
        );
    }

    const websockets = ({ openings, opened, messages, pings }) => [
        ['WebSockets opened', `${units.count(opened)} of ${units.count(openings)}`],
        ['messages that came', units.count(messages)],
        ['pings that came', units.count(pings)],
    ];

    const http2 = ({ streams, open_max, connections, limited, goaways, resent }) => [
        [
            'HTTP/2 streams',
            `${units.count(streams)} on each connection, at most ${units.count(open_max)} open`,
        ],
        ...(limited
            ? [
                  [
                      'fewer allowed',
                      `on ${units.count(limited)} of ${units.count(connections)} connections`,
                  ],
              ]
            : []),
        ...(goaways
            ? [
                  [
                      'ended by GOAWAY',
                      `${units.count(goaways)} connections, ` +
                          `${units.count(resent)} requests sent again`,
                  ],
              ]
            : []),
    ];

    function handshakes(result) {
        const all = result.agreed.reduce((sum, one) => sum + one.count, 0);
        const rows = [...result.agreed].sort((a, b) => b.count - a.count);
        const facts = [
            ['connections begun', units.count(result.connections)],
            ['full handshakes', units.count(result.full)],
            [
                'resumed',
                `${units.count(result.resumed)} ` +
                    `(${units.count(result.offered)} sessions were offered)`,
            ],
            ...(result.early_data ? [['early data', result.early_data]] : []),
            ...(result.websocket ? websockets(result.websocket) : []),
            ...(result.http2 ? http2(result.http2) : []),
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
    const transferred = (result) => [
        [
            `messages of ${units.bytes(result.size)}`,
            `${result.direction}, ${units.three(result.bytes_per_s / 1e6)}\u00a0MB/s`,
        ],
        ['generator’s CPU', perGb(result.generator_cpu_ns_per_gb)],
        ...(result.server_cpu_ns_per_gb === null
            ? []
            : [['server’s CPU', perGb(result.server_cpu_ns_per_gb)]]),
    ];

    const cpuOf = (each, all) =>
        `${units.timeOr(each)} for each transaction, ${units.time(all)} in all`;

    function work(result) {
        // Bytes are also those of the drain, and so is their time.
        const moved_s = result.measured_s + result.drain_s;
        const perSecond = (n) => (moved_s > 0 ? ` (${units.bytes(n / moved_s)}/s)` : '');
        const shares = result.worker_cpu_ns.map((ns) =>
            result.measured_s > 0 ? ns / 1e9 / result.measured_s : 0,
        );
        const facts = [
            ['sent', units.bytes(result.bytes_up) + perSecond(result.bytes_up)],
            ['received', units.bytes(result.bytes_down) + perSecond(result.bytes_down)],
            ...(result.transfer ? transferred(result.transfer) : []),
            ['generator’s CPU', cpuOf(generatorCpu(result), result.generator_cpu_ns)],
        ];
        if (shares.length === 1)
            facts.push(['its worker', `busy ${units.round(shares[0])} of the time`]);
        if (shares.length > 1)
            facts.push([
                'its workers',
                `${shares.length}, busy ${units.round(Math.min(...shares))} to ` +
                    `${units.round(Math.max(...shares))} of the time`,
            ]);
        if (result.server) {
            facts.push(
                ['server’s CPU', cpuOf(serverCpu(result), result.server.cpu_ns)],
                ['its cores', `${units.three(result.server.cores)} busy`],
                ['its processes', result.server.pids.join(', ')],
            );
        }
        return part(
            'Bytes and CPU',
            factList(facts),
            note('Bytes are plaintext, without TLS’s own.'),
        );
    }

    const hostRow = (host) =>
        host.lost !== null
            ? [host.name, '–', '–', '–', `lost: ${host.lost}`]
            : [
                  host.name,
                  `${units.three(host.rate)}/s`,
                  units.count(host.ok),
                  units.count(host.attempts),
                  [
                      host.late_ns ? `began ${units.time(host.late_ns)} late` : 'began in time',
                      ...(host.client_limited ? ['its machine was the limit'] : []),
                      ...(host.copied ? ['had a copy of cleat-bench'] : []),
                  ].join(', '),
              ];

    function hosts(result) {
        if (result.hosts.length === 0) return null;
        return part(
            'Hosts',
            table(
                'narrow',
                ['host', 'rate', 'ok', 'attempts', ''],
                result.hosts.map(hostRow),
                [0, 4],
            ),
            note(`They began within ${units.time(result.hosts_apart_ns)} of each other.`),
        );
    }

    function commands(result) {
        // The result of several generators has a command line for each.
        const lines = result.command.split(/\n(?=\S*cleat-bench\b)/).filter((line) => line !== '');
        if (lines.length === 0) return null;
        return part(lines.length === 1 ? 'The command' : 'The commands', lines.map(command));
    }

    function surroundings(result) {
        const environment = elements.environment(result.environment);
        const asked = result.asked.length ? factList(result.asked) : note('Only defaults.');
        return el(
            'div',
            { class: 'pair' },
            part('Settings', asked),
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

    const details = (result) => [
        summary.verdicts(result),
        result.staircase ? staircase.parts(result.staircase) : null,
        summary.figures(result),
        overTime(result),
        latencies(result),
        el('div', { class: 'pair' }, failures(result), work(result)),
        handshakes(result),
        hosts(result),
        surroundings(result),
        commands(result),
    ];

    return { details };
})();
