// rates: what happened between two answers of the server. Counters only rise while the process
// lives.
const rates = (() => {
    const samples = (status, name) => status.metrics[name]?.samples ?? [];
    const total = (status, name) =>
        samples(status, name).reduce((sum, each) => sum + each.value, 0);

    // value is that of the sample with these labels; 0 where there is none.
    function value(status, name, labels = {}) {
        const wanted = Object.entries(labels);
        const found = samples(status, name).find((each) =>
            wanted.every(([key, text]) => each.labels[key] === text),
        );
        return found?.value ?? 0;
    }

    const sumWhere = (status, name, is) =>
        samples(status, name)
            .filter((each) => is(each.labels))
            .reduce((sum, each) => sum + each.value, 0);

    // percentile is interpolated in the bucket that it falls into, as Prometheus does. Buckets are
    // {le, count}, added up, and le of the last one is null. Nothing was counted: null.
    function percentile(buckets, share) {
        const all = buckets.at(-1)?.count ?? 0;
        if (all <= 0) return null;
        const rank = share * all;
        const i = buckets.findIndex((each) => each.count >= rank);
        const low = i === 0 ? 0 : buckets[i - 1].le;
        if (buckets[i].le === null) return low;
        const below = i === 0 ? 0 : buckets[i - 1].count;
        const inside = buckets[i].count - below;
        return low + (buckets[i].le - low) * (inside === 0 ? 1 : (rank - below) / inside);
    }

    // newBuckets are those of the times that were measured between two answers.
    function newBuckets(before, now, name) {
        const old = samples(before, name)[0]?.buckets ?? [];
        return (samples(now, name)[0]?.buckets ?? []).map(({ le, count }, i) => ({
            le,
            count: count - (old[i]?.count ?? 0),
        }));
    }

    const seconds = (before, now) => (Date.parse(now.now) - Date.parse(before.now)) / 1000;

    // A worker's share of a CPU; null where its clock cannot be read.
    function busyShares(before, now, length) {
        return now.by_worker.map((worker, i) => {
            const old = before.by_worker[i]?.cpu_seconds ?? null;
            if (worker.cpu_seconds === null || old === null) return null;
            return Math.min(1, Math.max(0, (worker.cpu_seconds - old) / length));
        });
    }

    // between are the rates from one answer to another; null where they are not of one process.
    function between(before, now) {
        const length = seconds(before, now);
        if (before.started !== now.started || before.pid !== now.pid || length <= 0) return null;
        const rate = (read) => Math.max(0, (read(now) - read(before)) / length);
        const handshakes = (resumption) => (status) =>
            sumWhere(
                status,
                'cleat_handshakes_total',
                (labels) => labels.resumption === resumption,
            );
        const bytes = (direction) => (status) =>
            value(status, 'cleat_plaintext_bytes_total', { direction });
        return {
            full: rate(handshakes('full')),
            resumed: rate(handshakes('resumed')),
            failed: rate((status) => total(status, 'cleat_handshakes_failed_total')),
            connections: rate((status) => total(status, 'cleat_connections_total')),
            up: rate(bytes('up')),
            down: rate(bytes('down')),
            busy: busyShares(before, now, length),
        };
    }

    return { samples, total, value, percentile, newBuckets, seconds, between };
})();
