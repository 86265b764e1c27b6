// record: the last minutes, as this page has seen them.
const record = (() => {
    const length = 300; // Seconds that are shown.
    const smooth = 10; // Seconds that percentiles and the rates of tables are taken over.
    const shortest = 0.5; // Seconds: a rate over less, as after a command, would be a spike.
    const gap = 6; // Seconds without an answer, after which a line is broken.

    const times = {
        handshake: 'cleat_accept_to_handshake_seconds',
        connect: 'cleat_accept_to_connect_seconds',
        first_byte: 'cleat_accept_to_first_byte_seconds',
        whole: 'cleat_connection_duration_seconds',
    };
    const shares = { p50: 0.5, p90: 0.9, p99: 0.99 };

    let points = [];
    let recent = []; // Answers of the last `smooth` seconds, and the one before.

    function percentilesOf(before, now) {
        const found = {};
        for (const [kind, name] of Object.entries(times)) {
            const buckets = rates.newBuckets(before, now, name);
            found[kind] = { count: buckets.at(-1)?.count ?? 0 };
            for (const [key, share] of Object.entries(shares))
                found[kind][key] = rates.percentile(buckets, share);
        }
        return found;
    }

    function restart(status) {
        points = [];
        recent = [status];
    }

    // add takes an answer. False: it is another process's, and the history begins anew.
    function add(status) {
        const last = recent.at(-1);
        if (last === undefined) {
            restart(status);
            return true;
        }
        const isSame = last.started === status.started && last.pid === status.pid;
        if (isSame && Math.abs(rates.seconds(last, status)) < shortest) return true;
        const since = rates.between(last, status);
        if (since === null) {
            restart(status);
            return isSame; // Its clock was set back.
        }
        const moment = Date.parse(status.now) / 1000;
        if (rates.seconds(last, status) > gap) {
            points.push({ at: moment - 0.001, broken: true });
            recent = [last];
        }
        while (recent.length > 1 && rates.seconds(recent[1], status) >= smooth) recent.shift();
        points.push({ at: moment, ...since, times: percentilesOf(recent[0], status) });
        recent.push(status);
        while (points.length && points[0].at < moment - length - gap) points.shift();
        return true;
    }

    return {
        length,
        smooth,
        add,
        points: () => points,
        // last is the last point, or undefined.
        last: () => points.filter((point) => !point.broken).at(-1),
        // steady is the pair of answers that the rates of tables are taken from; or null.
        steady: () => (recent.length > 1 ? [recent[0], recent.at(-1)] : null),
    };
})();
