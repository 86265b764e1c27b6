// workload: a scenario's load in a sentence.
const workload = (() => {
    const { el } = elements;

    function conditions(scenario) {
        const quota =
            scenario.server_cpu === null
                ? ''
                : `, ${units.round(scenario.server_cpu)} of a core for the server`;
        const suite =
            (scenario.tls === '1.2' ? scenario.ciphers : scenario.ciphersuites) || 'AES-128-GCM';
        const protocol =
            scenario.streams === 0
                ? ''
                : `HTTP/2 with ${units.count(scenario.streams)} streams on each connection, `;
        return `${protocol}TLS ${scenario.tls}, ${scenario.groups}, ${suite}, certificate ${scenario.key}${quota}`;
    }

    const others = {
        nothing: () => 'alone',
        handshakes: ({ count }) => `beside ${count} others that shake hands all the time`,
        downloads: ({ count, size }) => `beside ${count} downloads, of ${size} at a time`,
    };

    function pace({ arrivals, connections, company }) {
        if (company !== null)
            return (
                `${units.count(connections)} kept connections, each with a request in ` +
                `${units.time(company.every_ms * 1e6)}`
            );
        if (arrivals === null) return `${units.count(connections)} at a time`;
        const rate = arrivals.rate === null ? '' : ` at ${units.rate(arrivals.rate)}/s`;
        const weakest = arrivals.weakest === null ? '' : ` (${arrivals.weakest})`;
        const share =
            arrivals.share === null
                ? ''
                : `, ${units.round(arrivals.share)} of what the weakest server${weakest} can do`;
        return `Connections begin${rate}${share}`;
    }

    function work(scenario) {
        const { kind, transactions, messages, bytes, warm_up, answer, reuse } = scenario;
        const before = warm_up ? `, after a warm-up of ${units.count(warm_up)}` : '';
        if (kind === 'transfer-down')
            return `${units.count(messages)} messages of ${units.bytes(bytes)} down${before}`;
        if (kind === 'transfer-up')
            return `${units.count(messages)} messages of ${units.bytes(bytes)} up${before}`;
        if (scenario.company !== null) {
            const { beside, beside_connections } = scenario.company;
            const count = units.count(beside_connections);
            const company = others[beside]({ count, size: units.bytes(bytes) });
            return `answers of ${units.bytes(answer)}, ${company}`;
        }
        if (kind === 'idle') return 'connections that shake hands, and send nothing';
        const way = scenario.session_ids ? 'session ID' : 'ticket';
        const sessions =
            reuse > 1
                ? `; a session serves ${units.count(reuse)} connections, ` +
                  `the first by a full handshake and the others by its ${way}`
                : '';
        const how =
            {
                'system-calls': '; the server’s system calls are counted',
                workers: '; with one worker of the server, and with two',
            }[kind] ?? '';
        return (
            `${units.count(transactions)} connections, each with a request and an answer of ` +
            `${units.bytes(answer)}${before}${sessions}${how}`
        );
    }

    function facts(scenario) {
        return el(
            'div',
            { class: 'done' },
            el('p', {}, `${pace(scenario)}: ${work(scenario)}. ${conditions(scenario)}.`),
            el(
                'details',
                {},
                el('summary', {}, `The scenario’s file, ${scenario.name}.scenario`),
                elements.command(scenario.text.trimEnd()),
            ),
        );
    }

    return { facts };
})();
