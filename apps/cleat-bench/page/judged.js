// judged: figures from documents of `compare`: the metric by which servers are judged, each
// server's verdict, and the colour that it keeps through all scenarios.
const judged = (() => {
    const { el } = elements;
    const { comparisons } = results;

    const metrics = ['rate', 'p50_ns', 'p99_ns', 'cpu_ns', 'memory_bytes'];
    const isIdle = (trial) => trial.scenario.kind === 'idle';
    const isCount = (trial) => trial.scenario.kind === 'system-calls';
    // metricsOf are the metrics that a scenario measures.
    const metricsOf = (trial) =>
        isIdle(trial) || isCount(trial)
            ? [trial.judged]
            : [...metrics, ...(metrics.includes(trial.judged) ? [] : [trial.judged])];
    const moves = (trial) => trial.scenario.operation === 'GB';

    const numbers = new Map();
    for (const { trials, versions, absent } of comparisons)
        for (const name of [
            ...versions.map(([name]) => name),
            ...trials.flatMap((trial) => trial.servers.map((server) => server.name)),
            ...absent.map(([name]) => name),
        ])
            if (!numbers.has(name)) numbers.set(name, numbers.size);
    const paint = (name) => charts.nameOf(numbers.get(name));
    const swatch = (name) => elements.swatch(paint(name));

    // serverNames are the servers of a comparison's scenarios, each once.
    const serverNames = ({ trials }) => [
        ...new Set(trials.flatMap(({ servers }) => servers.map(({ name }) => name))),
    ];

    // titled names a metric as it is in one scenario.
    function titled(metric, trial) {
        if (metric === 'cpu_ns') return `CPU per ${trial.scenario.operation}`;
        if (metric === 'memory_bytes') return isIdle(trial) ? 'memory per connection' : 'memory';
        if (metric === 'system_calls') return `system calls per ${trial.scenario.operation}`;
        if (metric === 'workers_ratio') return 'CPU with two workers over one';
        return { rate: moves(trial) ? 'moved' : 'rate', p50_ns: 'p50', p99_ns: 'p99' }[metric];
    }

    // cost names the metric by which servers are judged: less is better.
    const cost = (trial) =>
        trial.judged === 'p99_ns' ? 'p99 of the response' : titled(trial.judged, trial);

    function shown(metric, value, trial) {
        if (value === null) return '–';
        if (metric === 'memory_bytes') return units.bytes(value);
        if (metric === 'system_calls') return units.three(value);
        if (metric === 'workers_ratio') return units.times(value);
        if (metric !== 'rate') return units.time(value);
        return `${moves(trial) ? units.bytes(value) : units.rate(value)}/s`;
    }

    const ticks = (metric) =>
        ({
            memory_bytes: units.bytesTick,
            system_calls: units.tick,
            workers_ratio: units.tick,
        })[metric] ?? units.timeTick;

    const wasMeasured = (server) => server.rounds.some((round) => round !== null);
    const baseOf = (trial) => trial.servers.find((server) => server.name === trial.base) ?? null;

    // values of a metric, one for each round; null if there is none.
    const values = (server, metric) => server.rounds.map((round) => round?.[metric] ?? null);

    // range of at least one value.
    function range(server, metric) {
        const found = values(server, metric).filter((value) => value !== null);
        return [Math.min(...found), Math.max(...found)];
    }

    // ratios to another server, each within a round, because machines drift.
    function ratios(server, base, metric) {
        const baseValues = values(base, metric);
        return values(server, metric).map((value, i) =>
            value !== null && baseValues[i] ? value / baseValues[i] : null,
        );
    }

    function isLevel(server, best, metric) {
        const found = ratios(server, best, metric).filter((ratio) => ratio !== null);
        return found.length > 1 && Math.min(...found) <= 1 && Math.max(...found) >= 1;
    }

    // leaders are the server with the lowest cost, and those without a shown difference to it.
    function leaders(trial) {
        const metric = trial.judged;
        const ran = trial.servers.filter(
            (server) =>
                server.left_out === null &&
                server.medians[metric] !== null &&
                server.overloaded === 0,
        );
        if (ran.length < 2) return [];
        const best = ran.reduce((a, b) => (b.medians[metric] < a.medians[metric] ? b : a));
        return ran.filter((server) => server === best || isLevel(server, best, metric));
    }

    // rank is the badge of a leader; null for others.
    function rank(server, trial) {
        const found = leaders(trial);
        if (!found.includes(server)) return null;
        // Of two rounds, one server is the better in both by chance as often as not.
        if (values(server, trial.judged).filter((value) => value !== null).length < 3)
            return 'lowest';
        return found.length === 1 ? 'best' : 'among the best';
    }

    // Each verdict has a sign, because not all readers see the colours.
    const signs = {
        more: ['▲', 'more in every round'],
        less: ['▼', 'less in every round'],
        'no difference shown': ['≈', 'no difference shown'],
        'too few rounds': ['', ''],
        'one round': ['', ''],
    };
    const legend =
        '▲ more in every round, ▼ less in every round, ≈ no difference shown: the spread ' +
        'includes 1.';

    // isGood: less is better, except for the rate.
    const isGood = (metric, verdict) => (verdict === 'less') !== (metric === 'rate');
    const isPale = (verdict) =>
        ['no difference shown', 'too few rounds', 'one round'].includes(verdict);
    const tone = (metric, verdict) =>
        isPale(verdict) ? 'pale' : isGood(metric, verdict) ? 'better' : 'worse';

    // ratioText is the sign and the value of a ratio, for a cell.
    function ratioText(ratio) {
        const [sign, words] = signs[ratio.verdict];
        return [
            sign ? el('span', { class: 'sign', role: 'img', 'aria-label': words }, sign) : null,
            `${units.times(ratio.median)}×`,
        ];
    }

    const spread = ({ min, max }) => `${units.times(min)} to ${units.times(max)}`;

    return {
        metricsOf,
        isIdle,
        isCount,
        moves,
        paint,
        numberOf: (name) => numbers.get(name),
        swatch,
        serverNames,
        titled,
        cost,
        shown,
        ticks,
        wasMeasured,
        baseOf,
        range,
        ratios,
        rank,
        tone,
        isPale,
        ratioText,
        legend,
        spread,
    };
})();
