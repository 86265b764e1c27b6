// results: the report's data, and figures computed from it that several files need.
const results = (() => {
    const data = dom.data();

    // Results with the same name get a number.
    const labels = [];
    for (const { name, target } of data.results) {
        const own = name || target || 'unnamed';
        const same = data.results
            .slice(0, labels.length)
            .filter((r) => (r.name || r.target || 'unnamed') === own);
        labels.push(same.length === 0 ? own : `${own} (${same.length + 1})`);
    }

    // As result::times_messages_alone.
    const timesMessagesAlone = ({ websocket, asked }) =>
        websocket?.use === 'echo' && !asked.some(([name]) => name === 'kept connections');
    const latencyOf = (result, key) => result.latency.find((one) => one.key === key);

    const serverCpu = (result) =>
        result.server && result.ok ? result.server.cpu_ns / result.ok : null;
    const generatorCpu = (result) => (result.ok ? result.generator_cpu_ns / result.ok : null);
    const busiest = (result) =>
        result.measured_s > 0 && result.worker_cpu_ns.length
            ? Math.max(...result.worker_cpu_ns) / 1e9 / result.measured_s
            : 0;

    return {
        ...data,
        all: data.results,
        labels,
        latencyOf,
        timesMessagesAlone,
        serverCpu,
        generatorCpu,
        busiest,
    };
})();
