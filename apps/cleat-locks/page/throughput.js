// throughput: how many operations a second the locks let through, on how many cores. All numbers
// come with the page. Both axes are logarithmic: without locks throughput is a straight line, and a
// lock that saturates is a level above which it does not rise.
const throughput = (() => {
    const drawnMost = 5;
    const height = 380;
    const margin = { top: 34, right: 34, bottom: 46, left: 46 };
    const apart = 21; // Of the numbers beside the levels.

    const coresMost = (prices) => prices.throughput.at(-1).cores;
    const within = (prices) =>
        prices.locks.filter((lock) => lock.cores_max > 0 && lock.cores_max <= coresMost(prices));

    const onCores = (cores) => (cores < 1 ? 'less than one core' : `${cores.toFixed(1)} cores`);
    const saturates = (lock) =>
        `saturates at ${units.rate(lock.operations_per_second_max)}, on ${onCores(lock.cores_max)}`;
    const withName = (lock) => [`${lock.kind} `, element('code', {}, lock.name)];

    // verdict is what the chart shows, in a sentence.
    const verdict = (prices) => {
        if (prices.cpu_ns === 0)
            return ['No CPU time was counted: how many cores saturate a lock is not known.'];
        const [first] = prices.locks.filter((lock) => lock.cores_max > 0);
        if (!first)
            return [
                'No lock saturates: none that threads of this run shared was seen held ' +
                    'exclusively.',
            ];
        const [name, level] = [withName(first), units.rate(first.operations_per_second_max)];
        if (first.cores_max > coresMost(prices))
            return [
                `No lock saturates on up to ${coresMost(prices)} cores. The first one would on ` +
                    `${onCores(first.cores_max)}, at ${level}: `,
                ...name,
                '.',
            ];
        return [
            `At most ${level} on however many cores: `,
            ...name,
            ` is held for ${units.time(first.held_ns)} of each operation, and saturated by ` +
                `${onCores(first.cores_max)}.`,
        ];
    };

    // The steps 1, 2, 5 of each decade; of many decades only the first. A logarithm may be rounded
    // to its neighbour, so there is a decade more on either side, which the cut takes away.
    const steps = (low, high) => {
        const digits = Math.log10(high / low) > 3.5 ? [1] : [1, 2, 5];
        const found = [];
        const last = Math.ceil(Math.log10(high)) + 1;
        for (let e = Math.floor(Math.log10(low)) - 1; e <= last; e += 1)
            found.push(...digits.map((digit) => Number(`${digit}e${e}`)));
        const first = found.findLastIndex((step) => step <= low);
        return found.slice(first, found.findIndex((step) => step >= high) + 1);
    };

    const scalesOf = (prices, width) => {
        const points = prices.throughput;
        const rates = steps(points[0].operations_per_second, points.at(-1).without_locks);
        const [left, right] = [margin.left, width - margin.right];
        const [top, bottom] = [margin.top, height - margin.bottom];
        const part = (value, from, to) => Math.log(value / from) / Math.log(to / from);
        return {
            rates,
            left,
            right,
            top,
            bottom,
            x: (cores) => left + (right - left) * part(cores, 1, coresMost(prices)),
            y: (rate) => bottom - (bottom - top) * part(rate, rates[0], rates.at(-1)),
        };
    };

    const text = (x, y, anchor, words) => shape('text', { x, y, 'text-anchor': anchor }, words);
    const path = (name, d) => shape('path', { class: name, d });
    const told = (words) => shape('title', {}, words);

    const axes = (prices, at) => [
        ...at.rates.map((rate) =>
            shape(
                'g',
                { class: 'rate' },
                path('grid', `M${at.left} ${at.y(rate)}H${at.right}`),
                text(at.left - 8, at.y(rate) + 4, 'end', units.tick(rate)),
            ),
        ),
        ...prices.throughput.map(({ cores }) =>
            shape(
                'g',
                { class: 'cores' },
                path('grid', `M${at.x(cores)} ${at.top}V${at.bottom}`),
                text(at.x(cores), at.bottom + 18, 'middle', String(cores)),
            ),
        ),
        text(0, 14, 'start', 'operations per second (both scales are logarithmic)'),
        text((at.left + at.right) / 2, height - 6, 'middle', 'cores'),
    ];

    // A column belongs to a number of cores, and tells what they do.
    const columns = (prices, at) =>
        prices.throughput.map((point) => {
            const half = (at.x(2) - at.x(1)) / 2;
            const [x, y] = [at.x(point.cores) - half, at.top];
            return shape(
                'rect',
                { class: 'column', x, y, width: 2 * half, height: at.bottom - at.top },
                told(
                    `${point.cores} ${point.cores === 1 ? 'core' : 'cores'}: at most ` +
                        `${units.rate(point.operations_per_second)}; without locks ` +
                        units.rate(point.without_locks),
                ),
            );
        });

    // The curve bends where the first lock saturates, which is between two of the points.
    const curves = (prices, at, [first]) => {
        const points = prices.throughput;
        const drawn = (name, each) =>
            path(name, `M${each.map(([x, y]) => `${at.x(x)} ${at.y(y)}`).join('L')}`);
        const free = points.map((point) => [point.cores, point.without_locks]);
        if (!first) return [drawn('free', free)];
        const bend = [first.cores_max, first.operations_per_second_max];
        const bound = points.map((point) => [point.cores, point.operations_per_second]);
        const bent = [...bound, ...(bend[0] > 1 ? [bend] : [])].sort((a, b) => a[0] - b[0]);
        return [drawn('free', free), drawn('bound', bent)];
    };

    // spread moves numbers that would lie on each other apart: `ys` go from the bottom up.
    const spread = (ys, at) => {
        let next = at.bottom;
        const raised = ys.map((y) => {
            const placed = Math.min(y, next);
            next = placed - apart;
            return placed;
        });
        next = at.top;
        return raised
            .reverse()
            .map((y) => {
                const placed = Math.max(y, next);
                next = placed + apart;
                return placed;
            })
            .reverse();
    };

    const levels = (at, locks) => {
        const ys = locks.map((lock) => at.y(lock.operations_per_second_max));
        const beside = spread(ys, at);
        return locks.map((lock, i) => {
            const from = at.x(Math.max(1, lock.cores_max));
            const end = at.right + 9;
            const out = `${at.right} ${ys[i]}L${end} ${beside[i]}`;
            const whole = `M${from} ${ys[i]}L${out}`;
            return shape(
                'g',
                { class: 'level' },
                told(`${lock.kind} ${lock.name}: ${saturates(lock)}`),
                path('near', whole),
                // Along the first one's level the curve itself goes on.
                path('line', i === 0 ? `M${out}` : whole),
                lock.cores_max < 1 ? null : shape('circle', { cx: from, cy: ys[i], r: 4.5 }),
                shape('circle', { class: 'number', cx: end + 9, cy: beside[i], r: 9 }),
                text(end + 9, beside[i] + 4, 'middle', String(i + 1)),
            );
        });
    };

    const drawing = (prices, width, label) => {
        const at = scalesOf(prices, width);
        const locks = within(prices).slice(0, drawnMost);
        return shape(
            'svg',
            { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label },
            ...columns(prices, at),
            ...axes(prices, at),
            ...curves(prices, at, locks),
            // The first to saturate lies on top.
            ...levels(at, locks).reverse(),
        );
    };

    const legend = (prices) => {
        const locks = within(prices);
        const entry = (key, ...words) =>
            element('li', {}, element('span', { class: `key ${key[0]}` }, key[1]), ...words);
        const small = (words) => element('small', {}, words);
        return element(
            'ul',
            { class: 'legend' },
            entry(
                ['free', ''],
                'without locks',
                small(`${units.rate(prices.throughput[0].without_locks)} for each core`),
            ),
            locks.length === 0 ? null : entry(['bound', ''], 'with these locks, at most'),
            ...locks
                .slice(0, drawnMost)
                .map((lock, i) =>
                    entry(['number', String(i + 1)], ...withName(lock), small(saturates(lock))),
                ),
            locks.length > drawnMost
                ? element(
                      'li',
                      {},
                      small(`${locks.length - drawnMost} more saturate later: see the table`),
                  )
                : null,
        );
    };

    const numbers = (prices) =>
        element(
            'details',
            {},
            element('summary', {}, 'In numbers'),
            tables.throughput(prices.throughput),
        );

    const assumed = (prices) =>
        'This is an estimate of where each lock saturates by itself. Assumed: an operation costs ' +
        'each core the CPU time that it cost here, and a lock is held as long as here. More ' +
        "cores make both longer (a lock's cache line travels). " +
        (prices.interruptions_known
            ? 'Holds in which the thread lost its core are left out. '
            : 'Which holds were interrupted is not known here: with more threads than cores, it ' +
              'saturates later. ') +
        'Readers of a read-write lock do not count as holding it.';

    // The drawing is made by show(), on the page: only there it has a width.
    const draw = (prices) => {
        const known = prices.cpu_ns > 0;
        const said = element('p', { class: 'verdict' }, ...verdict(prices));
        const plot = element('div', { class: 'plot' });
        const parts = () => [plot, legend(prices), numbers(prices)];
        return {
            figure: element(
                'figure',
                { class: 'throughput' },
                said,
                ...(known ? parts() : []),
                element('figcaption', {}, assumed(prices)),
            ),
            show: () => {
                if (known)
                    plot.replaceChildren(drawing(prices, plot.clientWidth, said.textContent));
            },
        };
    };

    return { draw };
})();
