// setting: who was compared, where, and how: what holds for all scenarios of a comparison.
const setting = (() => {
    const { el, part, note, text, factList, command } = elements;
    const { swatch } = judged;

    const plural = (count, one) => `${count} ${one}${count === 1 ? '' : 's'}`;
    const cores = (list) => `core${list.length === 1 ? '' : 's'} ${list.join(', ')}`;

    const about = (of) =>
        el(
            'ul',
            { class: 'about' },
            el('li', {}, units.moment(of.started)),
            el('li', {}, plural(of.rounds, 'round')),
            el('li', {}, `${plural(of.workers, 'worker')} on ${cores(of.server_cores)}`),
            el('li', {}, `client and origin on ${cores(of.client_cores)}`),
        );

    // What has to be known before any figure is read.
    function warnings(of) {
        const shared = of.server_cores.some((core) => of.client_cores.includes(core));
        const failed = of.trials.flatMap((trial) =>
            trial.servers
                .filter((server) => server.at_fault)
                .map((server) => `${server.name} in ${trial.scenario.name}`),
        );
        return [
            of.partial
                ? summary.box(
                      'PARTIAL: this comparison was ended before its time',
                      text('Rounds and scenarios that did not come to their end are missing.'),
                  )
                : null,
            shared
                ? summary.box(
                      'Servers and client share a core',
                      text('They disturb each other, and all figures suffer.'),
                  )
                : null,
            failed.length
                ? summary.box(
                      'Not everybody did what was asked',
                      text(`${failed.join(', ')}: see there why.`),
                  )
                : null,
        ];
    }

    function versions(of) {
        const row = (name, says, absent) => [
            el('dt', {}, swatch(name), name),
            el('dd', { class: absent ? 'absent' : null }, says),
        ];
        return part(
            'Who was compared',
            el(
                'dl',
                { class: 'facts' },
                of.versions.map(([name, says]) => row(name, says, false)),
                of.absent.map(([name, why]) => row(name, `left out: ${why}`, true)),
            ),
        );
    }

    // Ports, folders and process numbers differ from start to start, and are no other setting.
    const shape = (line) =>
        line
            .replace(/\S*\/cleat-compare-\w+/g, '…')
            .replace(/…\/[\w-]+-\d+/g, '…')
            .replace(/\b\d{4,5}\b/g, '…');

    // settingsOf a server: each one once, with the scenarios that it was for.
    function settingsOf(name, of) {
        const found = new Map();
        for (const { scenario, servers } of of.trials)
            for (const server of servers) {
                if (server.name !== name || server.command === '') continue;
                const key = shape(`${server.command}\n${server.config}`);
                if (!found.has(key)) found.set(key, { server, scenarios: [] });
                found.get(key).scenarios.push(scenario.name);
            }
        return [...found.values()];
    }

    function commands(of) {
        const names = [
            ...new Set(of.trials.flatMap((trial) => trial.servers.map(({ name }) => name))),
        ];
        const blocks = names
            .map((name) => [name, settingsOf(name, of)])
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
                'As last started. What differs in nothing but ports and folders is shown once.',
            ),
            blocks,
        );
    }

    const parts = (of) => [
        el(
            'div',
            { class: 'pair' },
            versions(of),
            part(
                'Where it ran',
                of.environment.length
                    ? factList(of.environment)
                    : note('Nothing was written down about the machine.'),
            ),
        ),
        commands(of),
        of.command === '' ? null : part('The command', command(of.command)),
    ];

    return { about, warnings, parts };
})();
