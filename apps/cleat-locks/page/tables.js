// tables: locks and threads, a row each.
const tables = (() => {
    const { el } = dom;

    const table = (heads, rows) =>
        el(
            'div',
            { class: 'wide' },
            dom.table(
                {},
                heads.map(([word, words]) => el('th', { class: words ? 'words' : null }, word)),
                rows,
            ),
        );

    // On a phone a row is a card, which labels each number itself.
    const cells = (heads, values) =>
        values.map((each, i) => el('td', { 'data-of': heads[i][0] }, each));

    const row = (heads, values, ...words) => [...cells(heads, values), ...words];

    const lockCell = (lock, ...more) =>
        el('td', { class: 'words' }, `${lock.kind} `, el('code', {}, lock.name), ...more);

    // interrupted is shown where it would be much of `held`.
    const interrupted = ({ timed_holds: timed, interrupted_holds: lost }) => {
        if (lost === 0 || lost * 10 < timed) return null;
        const words =
            lost === timed
                ? `all of its ${timed} timed holds: held has time without a core in it`
                : `${lost} of its ${timed} timed holds: held is that of the others`;
        return el('small', {}, `interrupted in ${words}`);
    };

    const notes = (lock) => {
        const { exclusive, readers } = lock;
        const said = [];
        if (readers.acquisitions > 0)
            said.push(
                `of these ${units.count(readers.acquisitions)} for reading, held ` +
                    `${units.time(readers.mean_hold_ns)} on average, ` +
                    `${units.time(readers.max_hold_ns)} at the longest`,
            );
        if (exclusive.waited_holds > 0)
            said.push(
                `${units.count(exclusive.waited_holds)} holds kept other threads waiting: these took ` +
                    `${units.time(exclusive.waited_hold_ns / exclusive.waited_holds)} on average`,
            );
        if (lock.hold_is_too_low) said.push(lock.hold_is_too_low);
        if (lock.failed > 0)
            said.push(
                `${units.count(lock.failed)} more failed: tries, and waits that timed out; ` +
                    lock.failed_in
                        .map((each) => `${units.count(each.count)} in ${units.name(each.function)}`)
                        .join(', '),
            );
        return said;
    };

    // The reason why a lock that other threads have touched has no figure.
    const ownsIt = (lock) =>
        lock.one_threads_own && lock.threads > 1 && !lock.group
            ? el('small', {}, "one thread's own: others took it less than once in a hundred times")
            : null;

    const isLock = (lock) => ['mutex', 'rwlock', 'spin'].includes(lock.kind);

    const locks = (profile, wanted) => {
        const rows = profile.locks
            .filter((lock) => isLock(lock) === wanted && (wanted || lock.wait_ns > 0))
            .slice(0, 100);
        if (rows.length === 0) return null;
        const several = profile.processes.length > 1;
        const heads = [
            [wanted ? 'blocked' : 'waited'],
            ['longest'],
            ['threads'],
            ['acquired'],
            ['shared'],
            ['contended'],
            ['held'],
            ['longest hold'],
            ['lock', true],
        ];
        return table(
            heads,
            rows.map((lock) =>
                row(
                    heads,
                    [
                        units.time(lock.wait_ns),
                        units.time(lock.max_wait_ns),
                        lock.threads >= 64 ? '64+' : String(lock.threads),
                        units.count(lock.acquisitions),
                        units.count(lock.shared_acquisitions),
                        units.count(lock.contended),
                        lock.exclusive.timed_holds > 0
                            ? units.time(lock.exclusive.mean_hold_ns)
                            : '–',
                        lock.exclusive.timed_holds > 0
                            ? units.time(lock.exclusive.max_hold_ns)
                            : '–',
                    ],
                    lockCell(
                        lock,
                        lock.group ? ` (${units.count(lock.instances)} of them)` : '',
                        several ? ` in process ${lock.pid}` : '',
                        ...notes(lock).map((note) => el('small', {}, note)),
                        interrupted(lock.exclusive),
                        el('small', {}, lock.taken_by.map(units.name).join(' ← ')),
                    ),
                ),
            ),
        );
    };

    const perOperation = (prices) => {
        const heads = [
            ['acquired'],
            ['shared'],
            ['contended'],
            ['blocked'],
            ['held'],
            ['saturates at'],
            ['cores'],
            ['lock', true],
        ];
        const rows = prices.locks
            .slice(0, 100)
            .map((lock) =>
                row(
                    heads,
                    [
                        lock.acquisitions.toFixed(2),
                        lock.shared_acquisitions.toFixed(2),
                        lock.contended.toFixed(3),
                        units.time(lock.wait_ns),
                        units.time(lock.held_ns),
                        units.rate(lock.operations_per_second_max) || '–',
                        lock.cores_max > 0 ? lock.cores_max.toFixed(lock.cores_max < 0.95 ? 2 : 1) : '–',
                    ],
                    lockCell(
                        lock,
                        lock.refused ? el('small', {}, `no figure: ${lock.refused}`) : null,
                        lock.line_ns > 0
                            ? el('small', {}, `readers move its cache line for ${units.time(lock.line_ns)}`)
                            : null,
                        interrupted(lock),
                        ownsIt(lock),
                    ),
                ),
            );
        return rows.length > 0 ? table(heads, rows) : null;
    };

    const throughput = (points) => {
        const heads = [['cores'], ['at most'], ['without locks']];
        return table(
            heads,
            points.map((point) =>
                row(heads, [
                    String(point.cores),
                    units.rate(point.operations_per_second),
                    units.rate(point.without_locks),
                ]),
            ),
        );
    };

    const threadName = (thread) =>
        thread.threads === 1
            ? `${thread.name} (${thread.tid})`
            : `${thread.name} (${thread.threads} threads, one after the other)`;

    const threads = (profile) => {
        const heads = [
            ['blocked'],
            ['of its life'],
            ['CPU'],
            ['lived'],
            ['acquired'],
            ['thread', true],
        ];
        return table(
            heads,
            profile.threads
                .slice(0, 100)
                .map((thread) =>
                    row(
                        heads,
                        [
                            units.time(thread.blocked_ns),
                            units.percent(
                                thread.lived_ns ? (100 * thread.blocked_ns) / thread.lived_ns : 0,
                            ),
                            units.time(thread.cpu_ns),
                            units.lived(thread),
                            units.count(thread.acquisitions),
                        ],
                        el('td', { class: 'words' }, threadName(thread)),
                    ),
                ),
        );
    };

    const unendedWaits = (profile) => {
        const rows = profile.unended_waits.filter(isLock).slice(0, 100);
        if (rows.length === 0) return null;
        const heads = [['so far'], ['thread', true], ['lock', true]];
        return table(
            heads,
            rows.map((wait) =>
                row(
                    heads,
                    [units.time(wait.ns)],
                    el('td', { class: 'words' }, `${wait.thread} (${wait.tid})`),
                    lockCell(
                        { kind: wait.kind, name: wait.lock },
                        el('small', {}, `in ${units.name(wait.waits_in)}`),
                    ),
                ),
            ),
        );
    };

    const place = (taken) =>
        el(
            'td',
            { class: 'words' },
            `${taken.thread} (${taken.tid})`,
            el('small', {}, taken.function ? `in ${units.name(taken.function)}` : ''),
        );

    const waitsFor = (profile) => {
        const rows = profile.waits_for.slice(0, 100);
        if (rows.length === 0) return null;
        const heads = [
            ['waited'],
            ['waits'],
            ['longest'],
            ['waited', true],
            ['for', true],
            ['lock', true],
        ];
        return table(
            heads,
            rows.map((wait) =>
                row(
                    heads,
                    [units.time(wait.ns), units.count(wait.waits), units.time(wait.max_ns)],
                    place(wait.waiter),
                    place(wait.holder),
                    lockCell({ kind: wait.kind, name: wait.lock }),
                ),
            ),
        );
    };

    const deadlocks = (profile) => {
        if (profile.deadlocks.length === 0) return null;
        const heads = [['waits'], ['thread', true], ['for the lock of', true], ['lock', true]];
        return table(
            heads,
            profile.deadlocks.flatMap((each) =>
                each.threads.map((part) =>
                    row(
                        heads,
                        [units.time(part.ns)],
                        place(part.waiter),
                        place(part.holder),
                        el('td', { class: 'words' }, el('code', {}, part.lock)),
                    ),
                ),
            ),
        );
    };

    const inversions = (profile) => {
        const rows = profile.inversions.slice(0, 100);
        if (rows.length === 0) return null;
        const heads = [
            ['had', true],
            ['lock', true],
            ['asked', true],
            ['for', true],
        ];
        const side = (had, first, second) =>
            row(
                heads,
                [],
                place(had.had),
                el('td', { class: 'words' }, el('code', {}, first)),
                place(had.asked),
                el('td', { class: 'words' }, el('code', {}, second)),
            );
        return table(
            heads,
            rows.flatMap((each) => [
                side(each.first_then_second, each.first, each.second),
                side(each.second_then_first, each.second, each.first),
            ]),
        );
    };

    const offCpu = (profile) => {
        const rows = profile.off_cpu.places.slice(0, 100);
        if (rows.length === 0) return null;
        const heads = [['time'], ['thread', true], ['in', true]];
        return table(
            heads,
            rows.map((place) =>
                row(
                    heads,
                    [units.time(place.ns)],
                    el('td', { class: 'words' }, `${place.thread} (${place.tid})`),
                    el(
                        'td',
                        { class: 'words' },
                        `${place.in} `,
                        place.object ? el('code', {}, place.object) : '',
                        place.function
                            ? el('small', {}, `in ${units.name(place.function)}`)
                            : null,
                    ),
                ),
            ),
        );
    };

    return { deadlocks, inversions, locks, offCpu, perOperation, throughput, threads, unendedWaits, waitsFor };
})();
