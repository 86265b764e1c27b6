// sections: the parts of the page below the charts. Each has a node, and shows an answer.
const sections = (() => {
    const { el, section, note, fill, table, facts, bars } = elements;

    const steadyRates = () => {
        const pair = record.steady();
        return pair === null ? null : rates.between(...pair);
    };
    // The rate of a number that `read` finds in an answer, over the last seconds.
    const steadyRate = (read) => {
        const pair = record.steady();
        if (pair === null || rates.between(...pair) === null) return null;
        const [before, now] = pair;
        return Math.max(0, (read(now) - read(before)) / rates.seconds(before, now));
    };
    const rateOr = (value) => (value === null ? units.nothing : units.rate(value));
    const ageOf = (status, time) => Math.max(0, (Date.parse(status.now) - Date.parse(time)) / 1000);

    function workers() {
        const rows = table('Workers', [
            'Worker',
            'Busy',
            'Open',
            'Connections/s',
            'Handshakes/s',
            'Waiting',
            'To clients/s',
            'To upstream/s',
            'Passes/s',
        ]);
        const busyCell = (share) =>
            share === null
                ? units.nothing
                : el('span', { class: 'busy', '--share': `${100 * share}%` }, units.percent(share));
        return {
            node: section('workers', 'Workers', rows.node),
            show(status) {
                const steady = steadyRates();
                rows.show(
                    status.by_worker.map((worker, i) => {
                        const rate = (key) =>
                            steadyRate((answer) => answer.by_worker[i]?.[key] ?? 0);
                        const bytes = (key) =>
                            rate(key) === null ? units.nothing : units.bytes(rate(key));
                        return [
                            worker.ended ? `${i} (ended)` : String(i),
                            busyCell(steady?.busy[i] ?? null),
                            units.count(worker.open),
                            rateOr(rate('connections')),
                            rateOr(rate('handshakes')),
                            units.count(worker.handshakes_waiting),
                            bytes('bytes_down'),
                            bytes('bytes_up'),
                            rateOr(rate('passes')),
                        ];
                    }),
                );
            },
        };
    }

    function frontends() {
        const rows = table('Frontends', ['Address', 'Open', 'Connections/s', 'In all', 'Queued']);
        const name = 'cleat_frontend_connections';
        return {
            node: section('frontends', 'Frontends', rows.node),
            show(status) {
                rows.show(
                    status.frontends.map((frontend) => {
                        const value = (metric) => (answer) =>
                            rates.value(answer, metric, { frontend });
                        return [
                            frontend,
                            units.count(value(`${name}_open`)(status)),
                            rateOr(steadyRate(value(`${name}_total`))),
                            units.count(value(`${name}_total`)(status)),
                            units.count(value('cleat_frontend_queued_connections')(status)),
                        ];
                    }),
                );
            },
        };
    }

    function upstream() {
        const list = el('dl', { class: 'facts' });
        const words = {
            'upstream-unreachable': 'Refused or unreachable',
            'upstream-timeout': 'Not accepted in time',
            'servers-full': 'All servers full',
            'no-server': 'No server to use',
            'upstream-reset': 'Broken by the upstream',
            'upstream-tls-failed': 'TLS handshake failed',
            'upstream-truncated': 'Ended without close_notify',
            'upstream-failed': 'TLS broken by the upstream',
        };
        return {
            node: section('upstream', 'Upstream', list),
            show(status) {
                const times = record.last()?.times.connect;
                const rows = [
                    ['Address', status.settings.upstream || status.settings.backend],
                    ['Time from accept, median', units.time(times?.p50 ?? null)],
                    ['99 % no longer than', units.time(times?.p99 ?? null)],
                ];
                const errors = rates
                    .samples(status, 'cleat_upstream_errors_total')
                    .filter(({ value }) => value > 0);
                for (const { labels, value } of errors)
                    rows.push([words[labels.reason] ?? labels.reason, units.count(value)]);
                if (errors.length === 0) rows.push(['Failed connections', '0']);
                fill(list, rows, facts);
            },
        };
    }

    // The servers of upstream blocks, or the backend.
    function servers() {
        const heads = [
            'Server',
            'Upstream',
            'State',
            'Check',
            'Weight',
            'Open',
            'Connections/s',
            'In all',
            'Not accepted',
        ];
        const rows = table('Servers', heads, ['Upstream', 'State', 'Check']);
        const checkText = ({ check, check_reason }) =>
            check === null ? units.nothing : check === 'failed' ? check_reason : check;
        return {
            node: section('servers', 'Servers', rows.node),
            show(status) {
                rows.show(
                    status.upstreams.flatMap(({ name, servers }, i) =>
                        servers.map((each, k) => {
                            const count = (answer) =>
                                answer.upstreams[i]?.servers[k]?.connections ?? 0;
                            return [
                                each.server,
                                name === each.server ? units.nothing : name,
                                each.state === 'serving'
                                    ? each.state
                                    : el('span', { class: 'bad' }, each.state),
                                checkText(each),
                                units.count(each.weight),
                                units.count(each.open),
                                rateOr(steadyRate(count)),
                                units.count(each.connections),
                                units.count(each.failures),
                            ];
                        }),
                    ),
                );
            },
        };
    }

    // Versions, suites and groups, each by its share of all handshakes since the start.
    function agreed() {
        const kinds = [
            [
                'Version',
                'cleat_handshakes_total',
                ({ version, resumption }) =>
                    version.replace('TLSv', 'TLS ') + (resumption === 'resumed' ? ', resumed' : ''),
            ],
            ['Key exchange', 'cleat_handshakes_by_group_total', (labels) => labels.group],
            ['Cipher suite', 'cleat_handshakes_by_cipher_total', (labels) => labels.cipher],
            ['Signature', 'cleat_handshakes_by_signature_scheme_total', (labels) => labels.scheme],
        ];
        const lists = kinds.map(([title, metric, name]) => ({
            title,
            metric,
            name,
            list: el('ul', { class: 'bars' }),
        }));
        const empty = note('No handshake has finished yet.');
        const grid = el(
            'div',
            { class: 'pair' },
            lists.map(({ title, list }) => el('div', {}, el('h3', {}, title), list)),
        );
        return {
            node: section('agreed', 'What clients agree on', empty, grid),
            show(status) {
                const any = rates.total(status, 'cleat_handshakes_total') > 0;
                empty.hidden = any;
                grid.hidden = !any;
                for (const { metric, name, list } of lists) {
                    const rows = rates
                        .samples(status, metric)
                        .filter((each) => each.value > 0)
                        .map((each) => ({ name: name(each.labels), count: each.value }))
                        .sort((a, b) => b.count - a.count);
                    const all = rows.reduce((sum, each) => sum + each.count, 0);
                    fill(list, rows, () => bars(rows, all));
                }
            },
        };
    }

    const spans = (bounds) => [
        'Expired',
        ...bounds.slice(1).map((days) => (days === 1 ? 'Within a day' : `Within ${days} days`)),
        'Later',
    ];

    function certificateItem(status, each) {
        const left = each.end_seconds - Date.parse(status.now) / 1000;
        const more = each.name_count - each.names.length;
        // A line ends between two names, not at the hyphen of one.
        const names = each.names.map((name, i) => [
            el('span', { class: 'whole' }, i + 1 < each.names.length ? `${name},` : name),
            ' ',
        ]);
        if (more > 0) names.push(`and ${more} more`);
        return el(
            'li',
            { class: left <= 0 || attention.isLate(each.grade) ? 'bad' : null },
            el('span', { class: 'name' }, names.length ? names : each.origin),
            el(
                'span',
                { class: 'left' },
                left <= 0 ? `expired ${units.span(-left)} ago` : units.span(left),
            ),
            el('span', { class: 'origin' }, names.length ? each.origin : ''),
            el('span', { class: 'end' }, units.day(each.end_seconds)),
        );
    }

    function certificates() {
        const summary = el('p', { class: 'note' });
        const list = el('ul', { class: 'bars' });
        const soonest = el('ol', { class: 'soonest' });
        return {
            node: section(
                'certificates',
                'Certificates',
                el(
                    'div',
                    { class: 'pair wide' },
                    el('div', {}, el('h3', {}, 'By the time that is left'), list, summary),
                    el('div', {}, el('h3', {}, 'Those that end first'), soonest),
                ),
            ),
            show(status) {
                const { all, counted, days_left_bounds, by_days_left, expiring } =
                    status.certificates;
                const names = spans(days_left_bounds);
                summary.textContent =
                    `${units.count(all)} in use, counted at ${units.clock(new Date(counted))}. ` +
                    'Ends are in UTC.';
                // The first rows: expired, up to a day, up to 7 days.
                const late = [by_days_left[0], expiring.error, expiring.warning];
                const rows = by_days_left.map((count, i) => ({
                    name: names[i],
                    count,
                    bad: late[i] > 0,
                }));
                const most = Math.max(...by_days_left);
                fill(list, rows, () => bars(rows, most));
                fill(
                    soonest,
                    status.certificates.soonest.map((each) => certificateItem(status, each)),
                    (items) => items,
                );
            },
        };
    }

    const hints = [
        ['client', 'client'],
        ['frontend', 'to'],
        ['sni', 'SNI'],
        ['alert', 'alert'],
        ['detail', 'detail'],
        ['subject', 'subject'],
    ];

    function failureItem(status, each) {
        const known = hints.filter(([key]) => each[key] !== '');
        return el(
            'li',
            {},
            el('span', { class: 'reason' }, each.reason),
            el('span', { class: 'event' }, each.event),
            el('span', { class: 'number' }, units.count(each.count)),
            el('span', { class: 'age' }, `${units.span(ageOf(status, each.last))} ago`),
            el(
                'dl',
                {},
                known.map(([key, word]) =>
                    el('div', {}, el('dt', {}, word), el('dd', {}, each[key])),
                ),
            ),
        );
    }

    function failures() {
        const about = note('');
        const list = el('ul', { class: 'failures' });
        return {
            node: section('failures', 'Last failures', about, list),
            show(status) {
                const found = [...status.failures].sort(
                    (a, b) => Date.parse(b.last) - Date.parse(a.last),
                );
                about.textContent = found.length
                    ? 'By reason, the latest first; each with its last connection.'
                    : 'No connection has failed yet.';
                const texts = found.map((each) => [each, units.span(ageOf(status, each.last))]);
                fill(list, texts, () => found.map((each) => failureItem(status, each)));
            },
        };
    }

    // The file has the blocks, too: frontends, routes, upstreams, certificates. It may be long, so it
    // is fetched when it is opened, and again after a reload.
    function fileText() {
        const summary = el('summary', {});
        const text = el('pre', { class: 'file', tabindex: '0' });
        const node = el('details', { hidden: '' }, summary, text);
        let wanted = null; // When the configuration in force was put into service.
        let shown = null;
        async function load() {
            if (!node.open || shown === wanted) return;
            shown = wanted;
            try {
                const answer = await fetch('configuration', { cache: 'no-store' });
                if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
                text.textContent = await answer.text();
            } catch (error) {
                shown = null;
                text.textContent = `The file could not be fetched: ${error.message}`;
            }
        }
        node.addEventListener('toggle', load);
        return {
            node,
            show(status) {
                node.hidden = !status.configuration_file;
                summary.textContent = `${status.configuration_file}, as it was read`;
                wanted = status.configured;
                load();
            },
        };
    }

    function configuration() {
        const changed = el('dl', { class: 'facts code' });
        const all = el('dl', { class: 'facts code' });
        const summary = el('summary', {});
        const about = note('');
        const file = fileText();
        const quoted = ([key, value]) => [key, value === '' ? '""' : value];
        return {
            node: section(
                'configuration',
                'Configuration in force',
                about,
                changed,
                el('details', {}, summary, all),
                file.node,
            ),
            show(status) {
                const keys = new Set(status.changed_keys);
                const rows = Object.entries(status.settings);
                const own = rows.filter(([key]) => keys.has(key));
                const others = rows.filter(([key]) => !keys.has(key));
                about.textContent =
                    `Since ${units.moment(new Date(status.configured))}. ` +
                    (own.length
                        ? 'Set to other values than the defaults:'
                        : 'All keys have their defaults.');
                summary.textContent = `${others.length} keys at their defaults`;
                fill(changed, own, () => facts(own.map(quoted)));
                fill(all, others, () => facts(others.map(quoted)));
                file.show(status);
            },
        };
    }

    // The level of max-memory, and how much has given way to it; nothing where that is off.
    const levels = {
        normal: 'nothing',
        tight: 'buffers and unfinished handshakes',
        full: 'new and stalled connections',
    };
    const plural = (count, word) => `${units.count(count)} ${word}${count === 1 ? '' : 's'}`;
    function boundedMemory(memory) {
        if (memory === null) return [];
        const { limit_bytes, used_bytes, level } = memory;
        const share = units.percent(used_bytes / limit_bytes);
        const used = `${units.bytes(used_bytes)} of ${units.bytes(limit_bytes)}, ${share}`;
        const gives = levels[level] ?? level;
        return [
            ['Used of max-memory', used],
            ['Gives way now', level === 'normal' ? gives : el('span', { class: 'bad' }, gives)],
            ['Refused for memory', plural(memory.connections_refused, 'connection')],
            [
                'Ended for room',
                `${plural(memory.handshakes_evicted, 'handshake')}, ` +
                    `${units.count(memory.stalled_evicted)} stalled`,
            ],
        ];
    }

    function process() {
        const list = el('dl', { class: 'facts' });
        return {
            node: section('process', 'Process', list),
            show(status) {
                const value = (name, labels) => rates.value(status, name, labels);
                const count = (name) => units.count(value(name));
                const reloads = (outcome) => units.count(value('cleat_reloads_total', { outcome }));
                const rows = [
                    ['Memory', units.bytes(value('process_resident_memory_bytes'))],
                    ...boundedMemory(status.memory),
                    ['Descriptors', `${count('process_open_fds')} of ${count('process_max_fds')}`],
                    ['Reloads', `${reloads('done')} done, ${reloads('refused')} refused`],
                    ['Configurations in use', count('cleat_configurations')],
                    ['Log lines lost', count('cleat_log_lines_lost_total')],
                    ['Access log lines lost', count('cleat_access_log_lines_lost_total')],
                    ['Serving since', units.moment(new Date(status.started))],
                ];
                fill(list, rows, facts);
            },
        };
    }

    return {
        workers,
        frontends,
        upstream,
        servers,
        agreed,
        certificates,
        failures,
        configuration,
        process,
    };
})();
