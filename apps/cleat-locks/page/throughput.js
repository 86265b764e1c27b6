// throughput: a chart of the operations a second that the locks let through, by cores. All numbers
// come with the page. Both axes are logarithmic: without locks throughput is a straight line, and a
// lock that saturates is a level above which it does not rise.
const throughput = (() => {
    const { el, shape } = dom;
    const drawnMost = 5;
    const height = 380;
    const margin = { top: 34, right: 34, bottom: 46, left: 46 };
    const apart = 21; // Distance of the numbers beside the levels.

    const coresMost = (prices) => prices.throughput.at(-1).cores;
    const within = (prices) =>
        prices.locks.filter((lock) => lock.cores_max > 0 && lock.cores_max <= coresMost(prices));

    const onCores = (cores) => (cores < 1 ? 'less than one core' : `${cores.toFixed(1)} cores`);
    const saturates = (lock) =>
        `saturates at ${units.rate(lock.operations_per_second_max)}, on ${onCores(lock.cores_max)}`;
    const withName = (lock) => [`${lock.kind} `, el('code', {}, lock.name)];

    // verdict is the chart's result in a sentence.
    const verdict = (prices) => {
        if (prices.cpu_ns === 0)
            return ['No CPU time was counted: how many cores saturate a lock is not known.'];
        const [first] = prices.locks.filter((lock) => lock.cores_max > 0);
        if (!first)
            return [
                'No lock saturates: no timed hold of a lock that threads of this run shared was ' +
                    'exclusive.',
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
    // to its neighbour, so there is a decade more on either side, which slice() cuts off.
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
        const part = (value, first, last) => Math.log(value / first) / Math.log(last / first);
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
    const tooltip = (words) => shape('title', {}, words);

    const axes = (prices, scales) => [
        ...scales.rates.map((rate) =>
            shape(
                'g',
                { class: 'rate' },
                path('grid', `M${scales.left} ${scales.y(rate)}H${scales.right}`),
                text(scales.left - 8, scales.y(rate) + 4, 'end', units.tick(rate)),
            ),
        ),
        ...prices.throughput.map(({ cores }) =>
            shape(
                'g',
                { class: 'cores' },
                path('grid', `M${scales.x(cores)} ${scales.top}V${scales.bottom}`),
                text(scales.x(cores), scales.bottom + 18, 'middle', String(cores)),
            ),
        ),
        text(0, 14, 'start', 'operations per second (both scales are logarithmic)'),
        text((scales.left + scales.right) / 2, height - 6, 'middle', 'cores'),
    ];

    // A column is a number of cores; its tooltip has their throughput.
    const columns = (prices, scales) =>
        prices.throughput.map((point) => {
            const half = (scales.x(2) - scales.x(1)) / 2;
            const [x, y] = [scales.x(point.cores) - half, scales.top];
            return shape(
                'rect',
                { class: 'column', x, y, width: 2 * half, height: scales.bottom - scales.top },
                tooltip(
                    `${point.cores} ${point.cores === 1 ? 'core' : 'cores'}: at most ` +
                        `${units.rate(point.operations_per_second)}; without locks ` +
                        units.rate(point.without_locks),
                ),
            );
        });

    // The curve bends where the first lock saturates, which is between two of the points.
    const curves = (prices, scales, [first]) => {
        const points = prices.throughput;
        const drawn = (name, each) =>
            path(name, `M${each.map(([x, y]) => `${scales.x(x)} ${scales.y(y)}`).join('L')}`);
        const free = points.map((point) => [point.cores, point.without_locks]);
        if (!first) return [drawn('free', free)];
        const bend = [first.cores_max, first.operations_per_second_max];
        const bound = points.map((point) => [point.cores, point.operations_per_second]);
        const bent = [...bound, ...(bend[0] > 1 ? [bend] : [])].sort((a, b) => a[0] - b[0]);
        return [drawn('free', free), drawn('bound', bent)];
    };

    // spread moves numbers that would overlap apart: `ys` go from the bottom up.
    const spread = (ys, scales) => {
        let next = scales.bottom;
        const raised = ys.map((y) => {
            const placed = Math.min(y, next);
            next = placed - apart;
            return placed;
        });
        next = scales.top;
        return raised
            .reverse()
            .map((y) => {
                const placed = Math.max(y, next);
                next = placed + apart;
                return placed;
            })
            .reverse();
    };

    const levels = (scales, locks) => {
        const ys = locks.map((lock) => scales.y(lock.operations_per_second_max));
        const beside = spread(ys, scales);
        return locks.map((lock, i) => {
            const left = scales.x(Math.max(1, lock.cores_max));
            const end = scales.right + 9;
            const out = `${scales.right} ${ys[i]}L${end} ${beside[i]}`;
            const whole = `M${left} ${ys[i]}L${out}`;
            return shape(
                'g',
                { class: 'level' },
                tooltip(`${lock.kind} ${lock.name}: ${saturates(lock)}`),
                path('near', whole),
                // Along the first one's level the curve itself goes on.
                path('line', i === 0 ? `M${out}` : whole),
                lock.cores_max < 1 ? null : shape('circle', { cx: left, cy: ys[i], r: 4.5 }),
                shape('circle', { class: 'number', cx: end + 9, cy: beside[i], r: 9 }),
                text(end + 9, beside[i] + 4, 'middle', String(i + 1)),
            );
        });
    };

    const drawing = (prices, width, label) => {
        const scales = scalesOf(prices, width);
        const locks = within(prices).slice(0, drawnMost);
        return shape(
            'svg',
            { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label },
            ...columns(prices, scales),
            ...axes(prices, scales),
            ...curves(prices, scales, locks),
            // The first to saturate lies on top.
            ...levels(scales, locks).reverse(),
        );
    };

    const legend = (prices) => {
        const locks = within(prices);
        const entry = (key, ...words) =>
            el('li', {}, el('span', { class: `key ${key[0]}` }, key[1]), ...words);
        const small = (words) => el('small', {}, words);
        return el(
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
                ? el(
                      'li',
                      {},
                      small(`${locks.length - drawnMost} more saturate later: see the table`),
                  )
                : null,
        );
    };

    const numbers = (prices) =>
        el('details', {}, el('summary', {}, 'In numbers'), tables.throughput(prices.throughput));

    const assumed = (prices) =>
        'This is an estimate of where each lock saturates by itself. Assumed: an operation costs ' +
        'each core the CPU time that it cost here, and a lock is held as long as here. More ' +
        "cores make both longer (a lock's cache line travels). " +
        (prices.interruptions_known
            ? 'Holds in which the thread lost its core are left out. '
            : 'Which holds were interrupted is not known here: with more threads than cores, it ' +
              'saturates later. ') +
        'Readers of a read-write lock do not count as holding it' +
        (prices.line_ns > 0
            ? `; moving its cache line to the next core took ${units.time(prices.line_ns)} here.`
            : ', and the cost of moving its cache line was not measured.') +
        (prices.locks.some((lock) => lock.refused)
            ? ' Locks without a figure may saturate before all others.'
            : '');

    // The drawing is made by show(), on the page: only there it has a width.
    const draw = (prices) => {
        const known = prices.cpu_ns > 0;
        const said = el('p', { class: 'verdict' }, ...verdict(prices));
        const plot = el('div', { class: 'plot' });
        const parts = () => [plot, legend(prices), numbers(prices)];
        return {
            figure: el(
                'figure',
                { class: 'throughput' },
                said,
                ...(known ? parts() : []),
                el('figcaption', {}, assumed(prices)),
            ),
            show: () => {
                if (known)
                    plot.replaceChildren(drawing(prices, plot.clientWidth, said.textContent));
            },
        };
    };

    return { draw };
})();
