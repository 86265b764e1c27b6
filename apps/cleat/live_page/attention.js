// attention: what an operator should look at first.
const attention = (() => {
    const { el, fill } = elements;
    const plural = (count, one, many) => `${units.count(count)} ${count === 1 ? one : many}`;

    // The grades of `cleat check` for the time that a certificate has left.
    function isLate(grade) {
        return grade === 'warning' || grade === 'error';
    }

    // A short-lived certificate has a grade only where its client should have renewed it.
    function certificatesIn({ by_days_left, expiring }) {
        const found = [];
        const [expired] = by_days_left;
        if (expired > 0)
            found.push(`${plural(expired, 'certificate has', 'certificates have')} expired.`);
        const soon = expiring.warning + expiring.error;
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
        const ports = (status) => rates.value(status, 'cleat_local_ports_used_up_total');
        if (ports(now) > ports(before))
            found.push('No local port was free for connections to an upstream: see upstream-source.');
        const tried = steady.full + steady.resumed + steady.failed;
        const share = tried > 0 ? steady.failed / tried : 0;
        if (share > 0.05)
            found.push(`${units.percent(share)} of the handshakes of ${span} failed.`);
        return found;
    }

    // The reasons are there unless memory was short for them.
    function refusalOf(refused) {
        const before = 'The configuration before it is in force.';
        if (refused === null) return `The last reload was refused. ${before}`;
        const reasons = refused.problems.map(units.problem);
        const more = refused.problem_count - reasons.length;
        if (more > 0) reasons.push(`and ${plural(more, 'more problem', 'more problems')}`);
        return [
            `The reload of ${units.moment(new Date(refused.time))} was refused. ${before}`,
            el('ul', {}, reasons.map((each) => el('li', {}, each))),
        ];
    }

    // matters are sentences, or a sentence and its list, the gravest first.
    function matters(status) {
        const value = (name) => rates.value(status, name);
        const found = [];
        const held = value('cleat_workers_held');
        if (held > 0)
            found.push(
                `${plural(held, 'worker does', 'workers do')} not answer, and connections wait.`,
            );
        if (status.state === 'draining')
            found.push('cleat drains: after drain-delay it accepts no more connections, and ends with the last one.');
        if (value('cleat_last_reload_successful') === 0)
            found.push(refusalOf(status.refused_reload));
        const down = status.upstreams
            .flatMap(({ servers }) => servers)
            .filter(({ state }) => state === 'down').length;
        if (down > 0)
            found.push(`${plural(down, 'server is', 'servers are')} down by the checks.`);
        const crl = value('cleat_crl_soonest_next_update_timestamp_seconds');
        if (crl > 0 && crl * 1000 < Date.parse(status.now))
            found.push('A CRL is stale: event=crl-stale in the log names it.');
        found.push(...failuresIn(), ...certificatesIn(status.certificates));
        const failing = value('cleat_dns_names_failing');
        if (failing > 0)
            found.push(
                `${plural(failing, 'name of a server', 'names of servers')} cannot be looked up. ` +
                    'The last good addresses are used.',
            );
        const lost = value('cleat_log_lines_lost_total');
        if (lost > 0) found.push(`${plural(lost, 'log line was', 'log lines were')} lost.`);
        const unlogged = value('cleat_access_log_lines_lost_total');
        if (unlogged > 0)
            found.push(
                `${plural(unlogged, 'line of the access log was', 'lines of the access log were')} lost.`,
            );
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

    return { board, isLate };
})();
