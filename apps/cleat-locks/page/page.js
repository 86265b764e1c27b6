// The page, from top to bottom.
(() => {
    const { el } = dom;
    const profile = dom.data();
    const measures = [
        { key: 'blocked_ns', name: 'blocked on locks', hue: 24, say: units.time },
        { key: 'lock_cpu_samples', name: 'CPU inside lock functions', hue: 203 },
        { key: 'reference_cpu_samples', name: 'CPU on reference counts', hue: 285 },
        { key: 'cpu_samples', name: 'CPU', hue: 80 },
        { key: 'acquisitions', name: 'acquisitions', hue: 203 },
        { key: 'contended', name: 'contended acquisitions', hue: 24 },
        {
            key: 'waiting_ns',
            name: 'waiting for conditions and semaphores',
            hue: 80,
            say: units.time,
        },
    ].map((each) => ({ say: (n) => units.count(n), ...each }));

    const share = (percent, colour, words) =>
        el(
            'div',
            { class: 'share', '--of': `var(${colour})` },
            el('b', {}, `${percent.toFixed(2)} %`),
            el('span', {}, words),
        );

    const tookNoLock = (each) => profile.processes.length > 1 && each.took_no_lock;

    const withoutLocks = () => {
        const count = profile.processes.filter(tookNoLock).length;
        const words = `${units.count(count)} ${count === 1 ? 'process' : 'processes'} took no lock.`;
        return count > 0 ? [el('p', {}, words)] : [];
    };

    const head = () => [
        el('h1', {}, 'Where threads wait for each other'),
        ...withoutLocks(),
        ...profile.processes.filter((each) => !tookNoLock(each)).map((each) =>
            el(
                'p',
                {},
                el('code', {}, each.command),
                ` · process ${each.pid}, ${each.threads} threads, ${units.lived(each)}`,
                each.end ? `, ${each.end}` : '',
                each.map_missing
                    ? ` · ${each.pid}.maps is missing, so its functions have no names`
                    : '',
                each.blocks_cut > 0
                    ? ` · the trace is cut short: ${each.blocks_cut} of its ${each.blocks} ` +
                          `thread records ${each.blocks_cut === 1 ? 'is' : 'are'} missing`
                    : '',
            ),
        ),
        el(
            'div',
            { class: 'shares' },
            share(
                profile.blocked_percent,
                '--blocked',
                `of the threads' time blocked on locks (${units.time(profile.total.blocked_ns)})`,
            ),
            share(profile.lock_cpu_percent, '--lock-cpu', 'of CPU time inside lock functions'),
            share(
                profile.reference_cpu_percent,
                '--reference-cpu',
                'of CPU time on reference counts',
            ),
        ),
        el('p', {}, offCpu()),
        ...profile.off_cpu.not_sampled.map((why) => el('p', {}, `Not sampled: ${why}`)),
        ...caveats().map((words) => el('p', {}, words)),
    ];

    const offCpu = () => {
        const kinds = Object.entries(profile.off_cpu.kinds_ns);
        return (
            `Off the CPU, and no lock explains that: ${units.time(profile.off_cpu.unexplained_ns)}` +
            (kinds.length > 0 ? ', in: ' : '') +
            kinds.map(([kind, ns]) => `${units.time(ns)} ${kind}`).join(', ')
        );
    };

    // Acquisitions that found no room, or were left out, are in no figure.
    const missing = ({ pid, lost, nested }) => {
        const remarks = [];
        if (lost > 0)
            remarks.push(`${units.count(lost)} acquisitions, stacks or threads found no room`);
        if (nested > 0)
            remarks.push(
                `${units.count(nested)} acquisitions were made by signal handlers that interrupted ` +
                    'the recorder',
            );
        return remarks.map((each) => `Process ${pid}: ${each}, and are in no figure.`);
    };

    // Limits of the shares.
    const caveats = () => {
        const remarks = profile.processes.flatMap(missing);
        if (profile.cpu_hz === 0)
            remarks.push('CPU time was not sampled: the last two are unknown (run without --no-cpu).');
        else if (profile.total.cpu_samples < 100)
            remarks.push(
                `CPU shares are rough: ${profile.total.cpu_samples} samples, and a hundred are few.`,
            );
        if (profile.thread_ns_at_least)
            remarks.push(
                'The end of a process is not known, only the time of its last record: shares of ' +
                    "the threads' time are at most so high.",
            );
        if (!profile.interruptions_known)
            remarks.push(
                'Which holds were interrupted is not known: where threads are more than cores, ' +
                    'held has time without a core in it.',
            );
        if (profile.changed_files.length > 0)
            remarks.push(
                `Names may be wrong, since files changed after the recording: ` +
                    `${profile.changed_files.join(', ')}.`,
            );
        return remarks;
    };

    const graphs = () => {
        const readout = el('div', { class: 'readout', 'aria-live': 'polite' });
        const place = el('div');
        const which = el('select', { id: 'measure' });
        const some = measures.filter((each) => profile.total[each.key] > 0);
        for (const each of some) which.append(el('option', { value: each.key }, each.name));
        const inverted = el('input', { type: 'checkbox', id: 'inverted' });
        const wanted = el('input', { type: 'search', id: 'wanted', placeholder: 'function' });
        const redraw = () => {
            const measure = some.find((each) => each.key === which.value);
            if (!measure) {
                place.replaceChildren(el('p', {}, 'No stack was recorded.'));
                return;
            }
            const drawn = flame.draw(profile, measure, inverted.checked, wanted.value, readout);
            place.replaceChildren(drawn.canvas);
            drawn.show();
        };
        for (const each of [which, inverted]) each.addEventListener('change', redraw);
        wanted.addEventListener('input', redraw);
        window.addEventListener('resize', redraw);
        return {
            parts: [
                el('h2', {}, 'Call stacks'),
                el(
                    'div',
                    { class: 'controls' },
                    el('label', { for: 'measure' }, 'Show '),
                    which,
                    el('label', {}, inverted, ' inverted'),
                    el('label', { for: 'wanted' }, 'find '),
                    wanted,
                ),
                readout,
                place,
            ],
            redraw,
        };
    };

    const section = (title, words, ...contents) => {
        const shown = contents.filter((each) => each !== null);
        if (shown.length === 0) return [];
        return [el('h2', {}, title), el('p', {}, words), ...shown];
    };

    const prices = profile.per_operation;
    const chart = prices ? throughput.draw(prices) : null;
    const operations = () =>
        section(
            'For each operation',
            `${units.count(prices.operations)} operations; for each: CPU ` +
                `${units.time(prices.cpu_ns)}, ${prices.acquisitions.toFixed(1)} acquisitions, ` +
                `${prices.shared_acquisitions.toFixed(2)} of them of locks that threads share, ` +
                `blocked ${units.time(prices.wait_ns)}.`,
            chart.figure,
            tables.perOperation(prices),
        );

    const flames = graphs();
    dom.show(
        head(),
        prices ? operations() : [],
        section(
            'Locks',
            'An acquisition is shared when, by then, more than one thread had touched the ' +
                'lock. Held is the mean of exclusive holds, by a sample and by all that another thread ' +
                'waited for after the first such wait, without those in which the thread lost its core.',
            tables.locks(profile, true),
        ),
        section(
            'Deadlock',
            'Each of these threads waits for a lock that the next one has.',
            tables.deadlocks(profile),
        ),
        section(
            'Lock holders and waiters',
            'The time that a thread waited while another one held the lock, and where that one had ' +
                'taken it.' +
                (profile.waits_for_lost > 0
                    ? ` ${units.count(profile.waits_for_lost)} waits found no room here.`
                    : ''),
            tables.waitsFor(profile),
        ),
        section(
            'Locks taken in both orders',
            'Two rows each; that can end in a deadlock.',
            tables.inversions(profile),
        ),
        section(
            'Waits that had not ended as the recording did',
            'The threads of a deadlock are among these. They are no acquisitions; their time ' +
                'is in all other figures.',
            tables.unendedWaits(profile),
        ),
        flames.parts,
        section(
            'The inverted call tree',
            'Below each function are its callers. The columns are shares of different things ' +
                'and do not add up.',
            tree.draw(profile),
        ),
        section(
            'Off the CPU in no recorded wait',
            'By samples: a wait for work, or for a lock that is not seen.',
            tables.offCpu(profile),
        ),
        section(
            'Conditions, semaphores, once, futexes',
            "A wait here is mostly for work, and some in the program's own futexes are for locks of its own.",
            tables.locks(profile, false),
        ),
        section('Threads', 'The most blocked first.', tables.threads(profile)),
        el('h2', {}, 'Not seen'),
        el(
            'p',
            {},
            'Locks inside libc (malloc, stdio) and futexes that do not go through its syscall() are ' +
                'not seen as locks: their waits are off the CPU above. Spinning on an atomic and ' +
                'programs that are linked statically are not seen at all.',
        ),
    );
    flames.redraw();
    if (chart) {
        chart.show();
        window.addEventListener('resize', chart.show);
    }
})();
