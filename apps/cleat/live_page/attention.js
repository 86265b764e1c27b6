// attention: what an operator should look at first.
const attention = (() => {
    const { el, fill } = elements;
    const plural = (count, one, many) => `${units.count(count)} ${count === 1 ? one : many}`;

    function certificatesIn({ by_days_left }) {
        const found = [];
        const [expired, within_a_day, within_7] = by_days_left;
        if (expired > 0)
            found.push(`${plural(expired, 'certificate has', 'certificates have')} expired.`);
        const soon = within_a_day + within_7;
        if (soon > 0)
            found.push(`${plural(soon, 'certificate ends', 'certificates end')} within 7 days.`);
        return found;
    }

    // Failures of the last seconds, where there are more of them than scanners cause.
    function failuresIn() {
        const pair = record.steady();
        const steady = pair === null ? null : rates.between(...pair);
        if (steady === null) return [];
        const found = [];
        const [before, now] = pair;
        const upstream = (status) => rates.total(status, 'cleat_upstream_errors_total');
        const broken = upstream(now) - upstream(before);
        const span = `the last ${units.span(Math.ceil(rates.seconds(...pair)))}`;
        if (broken > 0)
            found.push(
                `The upstream did not accept, or broke, ` +
                    `${plural(broken, 'connection', 'connections')} in ${span}.`,
            );
        const tried = steady.full + steady.resumed + steady.failed;
        const share = tried > 0 ? steady.failed / tried : 0;
        if (share > 0.05)
            found.push(`${units.percent(share)} of the handshakes of ${span} failed.`);
        return found;
    }

    // matters are sentences, the gravest first.
    function matters(status) {
        const value = (name) => rates.value(status, name);
        const found = [];
        if (status.state === 'draining')
            found.push('cleat drains: after drain-delay it accepts no more connections, and ends with the last one.');
        if (value('cleat_last_reload_successful') === 0)
            found.push('The last reload was refused. The configuration before it is in force.');
        const down = status.upstreams
            .flatMap(({ servers }) => servers)
            .filter(({ state }) => state === 'down').length;
        if (down > 0)
            found.push(`${plural(down, 'server is', 'servers are')} down by the checks.`);
        found.push(...failuresIn(), ...certificatesIn(status.certificates));
        const lost = value('cleat_log_lines_lost_total');
        if (lost > 0) found.push(`${plural(lost, 'log line was', 'log lines were')} lost.`);
        if (value('process_open_fds') > 0.8 * value('process_max_fds'))
            found.push(
                'More than 80\u00a0% of the descriptors that the process may open are in use.',
            );
        if (status.memory?.level === 'full')
            found.push('max-memory is nearly used up: new connections are refused.');
        if (status.memory?.level === 'tight')
            found.push('max-memory comes near: buffers are small, and unfinished handshakes end.');
        const busy = record.last()?.busy.filter((share) => share !== null) ?? [];
        if (busy.length && Math.min(...busy) > 0.95)
            found.push('Every worker is busy: more load means waiting.');
        return found;
    }

    function board() {
        const node = el('div', { class: 'attention', role: 'status' });
        return {
            node,
            show(status) {
                const found = matters(status);
                node.classList.toggle('fine', found.length === 0);
                fill(node, found, () =>
                    found.length
                        ? el(
                              'ul',
                              {},
                              found.map((each) => el('li', {}, each)),
                          )
                        : el('p', {}, 'Nothing needs attention.'),
                );
            },
        };
    }

    return { board };
})();
