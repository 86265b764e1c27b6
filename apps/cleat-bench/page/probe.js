// probe: what servers choose and offer, with a verdict on each.
const probe = (() => {
    const { el, part, note, table, factList } = elements;

    const label = (report) =>
        report.hosts.length === 1
            ? `${report.hosts[0].target} probed`
            : `${report.hosts.length} hosts probed`;

    const weak = (host) => host.verdict.filter((one) => !one.good);

    const certificate = (one) => [
        one.key,
        el(
            'small',
            { class: one.days_left < 0 ? 'bad' : null },
            one.days_left < 0 ? 'expired' : `${units.count(one.days_left)} days left`,
        ),
    ];

    function verdict(host) {
        if (host.error !== null) return el('td', { class: 'text bad' }, 'could not be probed');
        const count = weak(host).length;
        if (count !== 0) return el('td', { class: 'text bad' }, `${count} weak`);
        return el('td', { class: 'text' }, el('span', { class: 'fine' }, 'good'));
    }

    const row = (host) =>
        host.error !== null
            ? [host.target, verdict(host), '–', '–', '–', '–', '–']
            : [
                  host.target,
                  verdict(host),
                  host.version,
                  [host.suite, host.group ? el('small', {}, host.group) : null],
                  host.certificates.length ? host.certificates.map(certificate) : '–',
                  host.resumes,
                  units.timeOr(host.tls_full),
              ];

    const overview = (report) =>
        part(
            'Verdicts',
            table(
                'several',
                [
                    'host',
                    'verdict',
                    'version',
                    'cipher suite and group',
                    'certificate',
                    'resumes',
                    'full handshake',
                ],
                report.hosts.map(row),
                [0, 1, 2, 3, 4, 5],
            ),
            note(
                'Negotiated with a client that has cleat’s defaults. The handshake’s time is a',
                'median.',
            ),
        );

    const findings = (host) =>
        el(
            'dl',
            { class: 'remarks' },
            host.verdict.map((one) => [
                el('dt', { class: one.good ? null : 'bad' }, one.good ? 'good' : 'weak'),
                el('dd', {}, one.text),
            ]),
        );

    const times = (host) => [
        ['TCP, median', units.timeOr(host.tcp)],
        ['full handshake, median', units.timeOr(host.tls_full)],
        ['resumed handshake, median', units.timeOr(host.tls_resumed)],
    ];

    const found = (host) => factList([...host.facts, ...times(host)]);

    // One host is shown in full; of several, the findings come first and the rest is closed.
    const details = (host, alone) =>
        part(
            host.target,
            el('p', { class: 'note' }, units.moment(host.when)),
            host.error !== null ? el('p', {}, host.error) : findings(host),
            host.error !== null
                ? null
                : alone
                  ? el('div', { class: 'part' }, found(host))
                  : el('details', {}, el('summary', {}, 'All that was found'), found(host)),
        );

    const parts = (report) =>
        report.hosts.length === 0
            ? note('There is no host in it.')
            : [
                  overview(report),
                  report.hosts.map((host) => details(host, report.hosts.length === 1)),
              ];

    return { label, parts };
})();
