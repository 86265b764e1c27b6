// setting: servers, machine and settings, which hold for all scenarios of a comparison.
const setting = (() => {
    const { el, part, note, text, command } = elements;
    const { swatch } = judged;

    const plural = (count, one) => `${count} ${one}${count === 1 ? '' : 's'}`;
    const cores = (list) => `core${list.length === 1 ? '' : 's'} ${list.join(', ')}`;

    const about = (compared) =>
        elements.about(
            units.moment(compared.started),
            plural(compared.rounds, 'round'),
            `${plural(compared.workers, 'worker')} on ${cores(compared.server_cores)}`,
            `client and origin on ${cores(compared.client_cores)}`,
        );

    // Warnings to read before any figure.
    function warnings(compared) {
        const shared = compared.server_cores.some((core) => compared.client_cores.includes(core));
        const failed = compared.trials.flatMap((trial) =>
            trial.servers
                .filter((server) => server.at_fault)
                .map((server) => `${server.name} in ${trial.scenario.name}`),
        );
        return [
            compared.partial
                ? summary.box(
                      'PARTIAL: this comparison was ended before its time',
                      text('Rounds and scenarios that were not completed are missing.'),
                  )
                : null,
            compared.remarks.map((remark) => summary.box('Note', text(remark))),
            shared
                ? summary.box(
                      'Servers and client share a core',
                      text('They disturb each other, and all figures suffer.'),
                  )
                : null,
            failed.length
                ? summary.box(
                      'Some servers failed',
                      text(`${failed.join(', ')}: the reasons are there.`),
                  )
                : null,
        ];
    }

    function versions(compared) {
        const row = (name, says, absent) => [
            el('dt', {}, swatch(name), name),
            el('dd', { class: absent ? 'absent' : null }, says),
        ];
        return part(
            'Servers',
            el(
                'dl',
                { class: 'facts' },
                compared.versions.map(([name, says]) => row(name, says, false)),
                compared.absent.map(([name, why]) => row(name, `left out: ${why}`, true)),
            ),
        );
    }

    // Ports, folders and process numbers differ from start to start without another setting.
    const shape = (line) =>
        line
            .replace(/\S*\/cleat-compare-\w+/g, '…')
            .replace(/…\/[\w-]+-\d+/g, '…')
            .replace(/\b\d{4,5}\b/g, '…');

    // settingsOf a server: each different one once, with its scenarios.
    function settingsOf(name, compared) {
        const found = new Map();
        for (const { scenario, servers } of compared.trials)
            for (const server of servers) {
                if (server.name !== name || server.command === '') continue;
                const key = shape(`${server.command}\n${server.config}`);
                if (!found.has(key)) found.set(key, { server, scenarios: [] });
                found.get(key).scenarios.push(scenario.name);
            }
        return [...found.values()];
    }

    function commands(compared) {
        const blocks = judged
            .serverNames(compared)
            .map((name) => [name, settingsOf(name, compared)])
            .filter(([, settings]) => settings.length !== 0)
            .map(([name, settings]) =>
                el(
                    'details',
                    { class: 'settings' },
                    el('summary', {}, swatch(name), name),
                    settings.map(({ server, scenarios }) => [
                        settings.length > 1 ? note(`In ${scenarios.join(', ')}:`) : null,
                        command(server.command),
                        server.config === '' ? null : command(server.config.trimEnd()),
                    ]),
                ),
            );
        if (blocks.length === 0) return null;
        return part(
            'Commands and configurations',
            note(
                'Of the last start. Settings that differ in ports and folders only are shown once.',
            ),
            blocks,
        );
    }

    const parts = (compared) => [
        el(
            'div',
            { class: 'pair' },
            versions(compared),
            part('Where it ran', elements.environment(compared.environment)),
        ),
        commands(compared),
        elements.commandPart(compared.command),
    ];

    return { about, warnings, parts };
})();
