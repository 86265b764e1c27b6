// comparison: several results in one table, as bars, and as curves.
const comparison = (() => {
    const { el, part, note, table, choice, figure, scaled } = elements;
    const { all, labels, latencyOf, serverCpu, generatorCpu } = results;

    // Names may be long; the full name heads the result's own section.
    const link = (i, most) =>
        el(
            'a',
            { href: `#result-${i + 1}`, title: labels[i].length > most ? labels[i] : null },
            units.shortened(labels[i], most),
        );

    // Percentages compare loads of one kind: closed loops of as many connections, or equal rates, and
    // none that was not kept up with.
    const loops = ['closed loop', 'open loop', 'kept connections', 'staircase'];
    const loopOf = ({ asked }) => asked.find(([name]) => loops.includes(name)) ?? ['', ''];
    const kindOf = (result) =>
        result.staircase ? 'staircase' : result.transfer ? 'transfer' : loopOf(result)[0];
    const sameSetting = (one, other) =>
        one.rate_asked === null
            ? loopOf(one)[1] === loopOf(other)[1]
            : Math.abs(one.rate_asked / other.rate_asked - 1) < 0.01;
    const useOf = ({ asked }, protocol) =>
        (asked.find(([name]) => name === protocol) ?? ['', ''])[1];
    const comparable = (one, other) =>
        kindOf(one) === kindOf(other) &&
        ['WebSocket', 'HTTP/2'].every((name) => useOf(one, name) === useOf(other, name)) &&
        (one.rate_asked === null) === (other.rate_asked === null) &&
        one.kept_up &&
        other.kept_up &&
        sameSetting(one, other);

    function relative(value, first, i) {
        if (i === 0 || !first || value === null || !comparable(all[i], all[0])) return null;
        const percent = (100 * (value - first)) / first;
        const digits = Math.abs(percent) < 10 ? 1 : 0;
        const text = `${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(digits)}\u00a0%`;
        return el('small', {}, percent >= 1000 ? `× ${units.three(value / first)}` : text);
    }

    const swatch = (i) => elements.swatch(charts.nameOf(i));

    function nameCell(result, i) {
        const verdict = [
            result.kept_up ? null : 'did not keep up',
            result.limits.length ? 'client-limited' : null,
            result.partial ? 'partial' : null,
            result.ok === 0 ? 'nothing ok' : null,
        ].filter((one) => one !== null);
        return [swatch(i), link(i, 40), verdict.map((text) => el('small', { class: 'bad' }, text))];
    }

    const openings = ({ websocket }) =>
        `${units.count(websocket.opened)} of ${units.count(websocket.openings)}`;

    // row has a cell for each column of figures, also for those that are left out.
    function row(result, i) {
        const first = all[0];
        const response = latencyOf(result, 'response');
        const time = (key) =>
            response.count
                ? [
                      units.timeOr(response[key]),
                      relative(response[key], latencyOf(first, 'response')[key], i),
                  ]
                : '–';
        const cpu = (cpuOf) => [
            units.timeOr(cpuOf(result)),
            relative(cpuOf(result), cpuOf(first), i),
        ];
        return [
            nameCell(result, i),
            [units.rate(result.rate), relative(result.rate, first.rate, i)],
            result.rate_asked === null ? '–' : units.rate(result.rate_asked),
            elements.failedCell(result.failed, result.attempts),
            units.share(result.resumed, result.full + result.resumed),
            result.websocket ? openings(result) : '–',
            time('p50'),
            time('p99'),
            time('max'),
            cpu(serverCpu),
            cpu(generatorCpu),
        ];
    }

    function figures() {
        const columns = [
            '',
            'rate, ok/s',
            all.some((result) => result.rate_asked !== null) ? 'asked, /s' : null,
            'failed',
            'resumed',
            all.some((result) => result.websocket) ? 'openings, ok' : null,
            'p50',
            'p99',
            'max',
            all.some((result) => result.server) ? 'server’s CPU' : null,
            'generator’s CPU',
        ];
        const kept = (_, i) => columns[i] !== null;
        return part(
            'In figures',
            table(
                'several',
                columns.filter(kept),
                all.map((result, i) => row(result, i).filter(kept)),
                [],
            ),
            note(
                'Times are of responses, CPU is for each transaction. Percentages under a figure',
                `compare it with ${units.shortened(labels[0], 60)}, where both loads are of one kind`,
                'and were kept up with. Response percentiles are of all attempts.',
            ),
        );
    }

    function bars() {
        const asked = all.some((result) => result.rate_asked !== null);
        const servers = all.some((result) => result.server);
        const cpu = servers ? [{ label: 'server', values: all.map(serverCpu) }] : [];
        cpu.push({ label: 'generator', values: all.map(generatorCpu), pale: servers });
        const height = `${Math.max(10, 5 + (servers ? 3.9 : 2.6) * all.length)}rem`;
        return part(
            'Side by side',
            el(
                'div',
                { class: 'charts' },
                figure(
                    asked ? 'Rate; the mark is the rate asked for' : 'Rate',
                    { height },
                    (canvas) =>
                        charts.bars(
                            canvas,
                            labels,
                            [
                                { label: 'ok', values: all.map((result) => result.rate) },
                                ...(asked
                                    ? [
                                          {
                                              label: 'asked',
                                              values: all.map((result) => result.rate_asked),
                                              outline: true,
                                          },
                                      ]
                                    : []),
                            ],
                            { tick: units.tick, full: (value) => `${units.rate(value)}/s` },
                            'transactions per second',
                        ),
                ),
                figure(
                    servers
                        ? 'CPU for each transaction: server, generator paler'
                        : 'Generator’s CPU for each transaction',
                    { height },
                    (canvas) =>
                        charts.bars(
                            canvas,
                            labels,
                            cpu,
                            { tick: units.timeTick, full: units.time },
                            'CPU time',
                        ),
                ),
            ),
        );
    }

    function overlaid() {
        // Only results over WebSockets have their opening.
        const curveOf = (result, key) => latencyOf(result, key)?.curve ?? [];
        const keys = Object.keys(charts.stages)
            .reverse()
            .filter((key) => all.some((result) => curveOf(result, key).length !== 0));
        if (keys.length === 0) return null;
        const names = {
            tcp: 'TCP',
            tls: 'TLS full',
            tls_resumed: 'TLS resumed',
            first_byte: 'first byte',
            opening: 'WebSocket opening',
            response: 'response',
        };
        let key = keys[0];
        const series = () =>
            all
                .map((result, i) => ({
                    label: labels[i],
                    colour: charts.nameOf(i),
                    dash: charts.dashOf(i),
                    curve: curveOf(result, key),
                }))
                .filter((one) => one.curve.length !== 0);
        return part(
            'Latency by percentile',
            scaled(
                'Time to',
                { tall: true },
                (canvas, state) => charts.percentiles(canvas, results.grid, series, state),
                [
                    (again) =>
                        choice(
                            'stage',
                            keys.map((one) => [one, names[one]]),
                            key,
                            (value) => {
                                key = value;
                                again();
                            },
                        ),
                ],
            ),
            elements.curveNote(),
        );
    }

    return { swatch, link, parts: () => [figures(), bars(), overlaid()] };
})();
