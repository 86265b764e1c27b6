// results: the report's data, and what is computed from it in more than one place.
const results = (() => {
    const data = JSON.parse(document.getElementById('results').textContent);

    // Results of one name are told apart by a number.
    const labels = [];
    for (const { name, target } of data.results) {
        const own = name || target || 'unnamed';
        const same = data.results
            .slice(0, labels.length)
            .filter((r) => (r.name || r.target || 'unnamed') === own);
        labels.push(same.length === 0 ? own : `${own} (${same.length + 1})`);
    }

    const latencyOf = (of, key) => of.latency.find((one) => one.key === key);

    const serverCpu = (of) => (of.server && of.ok ? of.server.cpu_ns / of.ok : null);
    const generatorCpu = (of) => (of.ok ? of.generator_cpu_ns / of.ok : null);
    const busiest = (of) =>
        of.measured_s > 0 && of.worker_cpu_ns.length
            ? Math.max(...of.worker_cpu_ns) / 1e9 / of.measured_s
            : 0;

    return {
        ...data,
        all: data.results,
        labels,
        latencyOf,
        serverCpu,
        generatorCpu,
        busiest,
    };
})();
