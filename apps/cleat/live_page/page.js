// The page: what stands where, and what happens with each answer.
{
    const { el, tile } = elements;
    const { figure } = charts;

    const state = el('span', { class: 'state', role: 'status' }, 'Connecting');
    const since = el('span', { class: 'since' });
    const about = el('ul', { class: 'about' });
    const restarted = el('p', { class: 'note', hidden: '' });

    // The key figures.

    const tiles = {
        open: tile('Open connections'),
        handshakes: tile('Handshakes'),
        failed: tile('Failed handshakes'),
        down: tile('To clients'),
        up: tile('To upstream'),
        time: tile('Handshake, 99 %'),
        busy: tile('Busiest worker'),
        end: tile('First expiry'),
    };

    function showFirstEnd(status) {
        const [first] = status.certificates.soonest;
        if (first === undefined) return;
        const left = first.end_seconds - Date.parse(status.now) / 1000;
        const when = `on ${units.day(first.end_seconds)}`;
        if (left <= 0) tiles.end.show(['expired', ''], when, true);
        else tiles.end.show(units.spanParts(left), when, attention.isLate(first.grade));
    }

    function showTiles(status) {
        showFirstEnd(status);
        const last = record.last();
        const open = rates.value(status, 'cleat_connections_open');
        const all = rates.total(status, 'cleat_connections_total');
        tiles.open.show([units.count(open), ''], `${units.count(all)} in all`);
        if (last === undefined) return;
        const handshakes = last.full + last.resumed;
        const resumed = handshakes > 0 ? last.resumed / handshakes : 0;
        tiles.handshakes.show(units.rateParts(handshakes), `${units.percent(resumed)} resumed`);
        const tried = handshakes + last.failed;
        const broken = tried > 0 ? last.failed / tried : 0;
        const isBad = last.failed > 0 && broken > 0.05;
        tiles.failed.show(units.rateParts(last.failed), `${units.percent(broken)} of all`, isBad);
        for (const key of ['down', 'up']) {
            const [number, unit] = units.bytesParts(last[key]);
            tiles[key].show([number, `${unit}/s`]);
        }
        const times = last.times.handshake;
        tiles.time.show(
            times.p99 === null ? null : units.timeParts(times.p99),
            times.p50 === null
                ? `none in ${record.smooth}\u00a0s`
                : `median ${units.time(times.p50)}`,
        );
        const busy = last.busy.filter((share) => share !== null);
        tiles.busy.show(
            busy.length ? [units.percent(Math.max(...busy)), ''] : null,
            busy.length ? `of ${units.count(busy.length)}` : '',
        );
    }

    // The charts.

    const rate = { tick: units.tick, full: (value) => `${units.rate(value)}/s` };
    const handshakes = figure('Handshakes a second', {
        ...rate,
        lines: () => [
            { name: 'full', colour: '--c1', read: (point) => point.full },
            { name: 'resumed', colour: '--c3', dash: [7, 4], read: (point) => point.resumed },
            { name: 'failed', colour: '--c2', width: 2.25, read: (point) => point.failed },
        ],
    });
    const bytes = figure('Plaintext a second', {
        tick: units.bytesTick,
        full: (value) => `${units.bytes(value)}/s`,
        lines: () => [
            { name: 'to clients', colour: '--c1', read: (point) => point.down },
            { name: 'to the upstream', colour: '--c2', dash: [7, 4], read: (point) => point.up },
        ],
    });

    let measured = 'handshake';
    const percentile = (name, key, colour, dash) => ({
        name,
        colour,
        dash,
        read: (point) => point.times[measured][key],
    });
    const chosen = elements.choice(
        'until',
        [
            ['handshake', 'handshake'],
            ['connect', 'upstream'],
            ['first_byte', 'first byte'],
            ['whole', 'end'],
        ],
        measured,
        (value) => {
            measured = value;
            times.again();
        },
    );
    const times = figure(
        'Time from accept until',
        {
            logarithmic: true,
            tick: units.timeTick,
            full: units.time,
            lines: () => [
                percentile('median', 'p50', '--c1', []),
                percentile('90 %', 'p90', '--c3', [7, 4]),
                percentile('99 %', 'p99', '--c2', [2, 3]),
            ],
        },
        chosen,
    );

    // A few workers have a line each; of many the highest, the mean and the lowest are shown.
    const busyOf = (point) => point.busy.filter((share) => share !== null);
    const overWorkers = (name, colour, dash, join) => ({
        name,
        colour,
        dash,
        read: (point) => (busyOf(point).length ? join(busyOf(point)) : null),
    });
    const mean = (values) => values.reduce((sum, each) => sum + each, 0) / values.length;
    const dashes = [[], [7, 4]];
    const busyLines = () => {
        const count = record.last()?.busy.length ?? 1;
        if (count > 8)
            return [
                overWorkers('busiest', '--c2', [], (all) => Math.max(...all)),
                overWorkers('mean', '--c1', [7, 4], mean),
                overWorkers('idlest', '--c3', [2, 3], (all) => Math.min(...all)),
            ];
        return Array.from({ length: count }, (_, i) => ({
            name: `worker ${i}`,
            colour: `--c${(i % 4) + 1}`,
            dash: dashes[Math.floor(i / 4)],
            read: (point) => point.busy[i] ?? null,
        }));
    };
    const busy = figure('Busy share of each worker', {
        max: 1,
        tick: (value) => `${Math.round(value * 100)}\u00a0%`,
        full: units.percent,
        lines: busyLines,
    });

    // The parts.

    const board = attention.board();
    const parts = {};
    for (const [name, make] of Object.entries(sections)) parts[name] = make();

    function showAbout(status) {
        const started = new Date(status.started);
        const up = (Date.parse(status.now) - started) / 1000;
        const limits = ['landlock', 'ports', 'seccomp'].filter(
            (each) => (status.sandbox?.[each] ?? 'no') !== 'no',
        );
        elements.fill(
            about,
            [
                `cleat ${status.version}`,
                status.tls_library,
                `up ${units.span(up)}`,
                `${units.count(status.workers)} ${status.workers === 1 ? 'worker' : 'workers'}`,
                `process ${status.pid}`,
                limits.length === 0 ? 'no sandbox' : `sandbox: ${limits.join(', ')}`,
            ],
            (texts) => texts.map((text) => el('li', {}, text)),
        );
    }

    function show(status) {
        showAbout(status);
        showTiles(status);
        board.show(status);
        charts.show();
        for (const part of Object.values(parts)) part.show(status);
        bar.show(status);
    }

    // The state of the server, from its answers.

    function become(kind, text) {
        if (state.textContent === text) return;
        state.textContent = text;
        state.className = `state ${kind}`;
        document.body.classList.toggle('stale', kind === 'gone');
        document.title = `${text} · ${location.host || 'cleat'}`;
    }

    let lastAnswer = null;
    function take(status) {
        if (!record.add(status)) {
            restarted.textContent = `Another process answers since ${units.clock(new Date())}.`;
            restarted.hidden = false;
        }
        lastAnswer = new Date();
        since.textContent = '';
        become(status.state, status.state === 'draining' ? 'Draining' : 'Serving');
        show(status);
    }

    function fail(why) {
        become('gone', 'No answer');
        const from = lastAnswer === null ? '' : `The numbers are of ${units.clock(lastAnswer)}. `;
        since.textContent = `${from}${why}`;
    }

    let isPaused = false;
    const pause = el(
        'button',
        {
            type: 'button',
            'aria-pressed': 'false',
            click() {
                isPaused = !isPaused;
                pause.setAttribute('aria-pressed', String(isPaused));
                live.pause(isPaused);
            },
        },
        'Pause',
    );
    const bar = commands.bar(() => live.ask());

    dom.show(
        el(
            'header',
            {},
            el('div', { class: 'title' }, el('h1', {}, location.host || 'cleat'), state, since),
            el('div', { class: 'buttons' }, pause, bar.buttons),
        ),
        about,
        restarted,
        bar.output,
        board.node,
        el(
            'dl',
            { class: 'figures' },
            Object.values(tiles).map((each) => each.node),
        ),
        el('div', { class: 'charts' }, handshakes.node, bytes.node, times.node, busy.node),
        el(
            'p',
            { class: 'note' },
            'Rates are those of 2\u00a0s; percentiles and the rates of tables those of ' +
                `${record.smooth}\u00a0s. The page keeps the last five minutes while it is open.`,
        ),
        parts.failures.node,
        parts.certificates.node,
        parts.workers.node,
        el('div', { class: 'pair wide' }, parts.frontends.node, parts.upstream.node),
        parts.servers.node,
        parts.agreed.node,
        el('div', { class: 'pair' }, parts.configuration.node, parts.process.node),
        bar.dialog,
    );
    charts.show();
    const live = polling.start(take, fail);
}
