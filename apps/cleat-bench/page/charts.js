// charts: what all charts share, and the kinds of charts of a result. A chart is drawn again when
// the colours change, for paper, or after a choice beside it; there is no animation.
const charts = (() => {
    const { colour, axis, nameAxis, timeAxis, clockAxis, percentileAxis } = axes;
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = 12;
    const drawn = [];
    const stages = {
        tcp: { colour: '--c7', dash: [2, 3] },
        tls: { colour: '--c2', dash: [] },
        tls_resumed: { colour: '--c5', dash: [8, 4] },
        first_byte: { colour: '--c3', dash: [5, 3, 1, 3] },
        opening: { colour: '--c4', dash: [9, 3, 2, 3] },
        response: { colour: '--c1', dash: [], width: 2.75 },
    };
    const dashes = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

    const paints = 8;
    const nameOf = (number) => `--c${(number % paints) + 1}`;
    const faint = (hex, alpha) =>
        hex +
        Math.round(alpha * 255)
            .toString(16)
            .padStart(2, '0');

    // Each bar has a colour. One may be the tooltip's background colour, so there is a border.
    const tooltipColour = ({ dataset, dataIndex }) => {
        const own = (paint) => (Array.isArray(paint) ? paint[dataIndex] : paint);
        const filled = own(
            Array.isArray(dataset.backgroundColor) ? dataset.backgroundColor : dataset.borderColor,
        );
        return { borderColor: colour('--paper'), backgroundColor: filled, borderWidth: 1 };
    };
    const named = (item) => ` ${units.shortened(item.dataset.label, 32)}: `;

    // draw keeps make, which gives a chart's configuration, with its canvas.
    function draw(canvas, make) {
        const entry = { canvas, make, chart: null };
        entry.again = () => {
            if (entry.chart) entry.chart.destroy();
            entry.chart = new Chart(canvas, make());
        };
        drawn.push(entry);
        entry.again();
        return entry.again;
    }

    // A line in the legend looks like the line in the chart; a long name does not widen it.
    function legendLabels(chart) {
        const most = chart.width < 480 ? 32 : 60;
        return chart.data.datasets.map((set, i) => ({
            datasetIndex: i,
            text: units.shortened(set.label, most),
            fontColor: colour('--ink'),
            hidden: !chart.isDatasetVisible(i),
            pointStyle: 'line',
            strokeStyle: set.borderColor,
            lineDash: set.borderDash ?? [],
            lineWidth: set.borderWidth,
        }));
    }

    function options(scales, label, heading, legend = {}) {
        return {
            animation: false,
            responsive: true,
            maintainAspectRatio: false,
            normalized: true,
            interaction: { mode: 'index', intersect: false },
            layout: { padding: { right: 6 } },
            scales,
            plugins: {
                legend: {
                    position: 'bottom',
                    align: 'start',
                    labels: {
                        usePointStyle: true,
                        pointStyleWidth: 30,
                        padding: 14,
                        generateLabels: legendLabels,
                    },
                    ...legend,
                },
                tooltip: {
                    backgroundColor: colour('--ink'),
                    titleColor: colour('--paper'),
                    bodyColor: colour('--paper'),
                    padding: 10,
                    boxPadding: 5,
                    caretPadding: 12,
                    callbacks: { label, title: heading, labelColor: tooltipColour },
                },
            },
        };
    }

    const span = (line, i) => {
        const begin = line.middle_s[i] - line.length_s[i] / 2;
        const short = (s) =>
            Number(s.toFixed(line.interval_s < 0.1 ? 3 : line.interval_s < 1 ? 2 : 1));
        return `${short(begin)} to ${short(begin + line.length_s[i])} s`;
    };

    function line(label, paint, data, more = {}) {
        const few = data.filter((point) => point.y !== null).length <= 2;
        return {
            label,
            data,
            borderColor: paint,
            backgroundColor: paint,
            borderWidth: 1.75,
            borderJoinStyle: 'round',
            pointRadius: few ? 4 : 0,
            pointHoverRadius: 4,
            pointHitRadius: 8,
            parsing: false,
            ...more,
        };
    }

    // aligned gives the axes of charts that stand side by side or below each other one width, so that
    // equal values of x do too.
    const aligned = (scale) => {
        scale.width = Math.max(scale.width, 88);
    };

    // outcomes draws attempted, ok and failed. `plot` has the axis x(), points(key) of a line, the
    // tooltip's heading, and the look of all lines. `ok` is the line of what went well.
    function outcomes(canvas, { x, points, heading, title, unit, ok = 'ok', look = {} }) {
        return draw(canvas, () => {
            const blue = colour('--c1');
            const each = (key, paint, more) => line(key, paint, points(key), { ...more, ...look });
            return {
                type: 'line',
                data: {
                    datasets: [
                        each('attempted', colour('--ink'), {
                            borderDash: [3, 3],
                            borderWidth: 1.25,
                        }),
                        each(ok, blue, { fill: 'origin', backgroundColor: faint(blue, 0.14) }),
                        each('failed', colour('--c2'), { borderWidth: 2.25 }),
                    ],
                },
                options: options(
                    {
                        x: x(),
                        y: axis(title, {
                            beginAtZero: true,
                            suggestedMax: 1,
                            grace: '4%',
                            afterFit: aligned,
                            ticks: { callback: units.tick, maxTicksLimit: 8 },
                        }),
                    },
                    (item) => `${named(item)}${units.rate(item.parsed.y)}${unit}`,
                    heading,
                ),
            };
        });
    }

    // meanAndMax draws response times; `plot` is as above, with the points of mean_ns and max_ns.
    function meanAndMax(canvas, choice, { x, points, heading, look = {} }) {
        return draw(canvas, () => {
            const [mean, max] = [points('mean_ns'), points('max_ns')];
            const values = [...mean, ...max].map(({ y }) => y).filter((ns) => ns !== null);
            return {
                type: 'line',
                data: {
                    datasets: [
                        line('mean', colour('--c1'), mean, { borderWidth: 2.25, ...look }),
                        line('max', colour('--c2'), max, { borderDash: [5, 3], ...look }),
                    ],
                },
                options: options(
                    {
                        x: x(),
                        y: {
                            ...timeAxis('response time', choice.logarithmic, values),
                            afterFit: aligned,
                        },
                    },
                    (item) => `${named(item)}${units.time(item.parsed.y)}`,
                    heading,
                ),
            };
        });
    }

    const overTime = (timeline) => ({
        x: () => clockAxis(timeline.middle_s.at(-1) + timeline.length_s.at(-1) / 2),
        heading: (items) => span(timeline, items[0].dataIndex),
    });

    // A step is as long as its interval.
    const rates = (canvas, timeline) =>
        outcomes(canvas, {
            ...overTime(timeline),
            title: 'transactions per second',
            unit: '/s',
            points: (key) =>
                timeline[key].map((count, i) => ({
                    x: timeline.middle_s[i],
                    y: count / timeline.length_s[i],
                })),
        });

    const responseTimes = (canvas, timeline, choice) =>
        meanAndMax(canvas, choice, {
            ...overTime(timeline),
            points: (key) => timeline[key].map((ns, i) => ({ x: timeline.middle_s[i], y: ns })),
        });

    // percentiles draws curves over 1/(1-p): each power of ten is one nine more. `series` gives
    // {label, curve, colour, dash, width}.
    function percentiles(canvas, grid, series, choice) {
        return draw(canvas, () => {
            const curves = series();
            const longest = Math.max(...curves.map((each) => each.curve.length));
            const values = curves.flatMap((each) => [each.curve[0], each.curve.at(-1)]);
            return {
                type: 'line',
                data: {
                    datasets: curves.map((each) =>
                        line(
                            each.label,
                            colour(each.colour),
                            each.curve.map((ns, i) => ({ x: grid[i], y: ns })),
                            {
                                borderDash: each.dash,
                                borderWidth: each.width ?? 2,
                            },
                        ),
                    ),
                },
                options: options(
                    {
                        x: percentileAxis(grid[longest - 1]),
                        y: timeAxis('time', choice.logarithmic, values),
                    },
                    (item) => `${named(item)}${units.time(item.parsed.y)}`,
                    (items) => `${units.percentile(items[0].parsed.x)} took no longer than`,
                ),
            };
        });
    }

    // bars has one bar for each name. A series with `outline` is a mark over the bars, such as the
    // rate asked for.
    function bars(canvas, names, series, format, title) {
        return draw(canvas, () => {
            const several = series.filter((each) => !each.outline).length > 1;
            const own = names.map((_, i) => colour(nameOf(i)));
            return {
                type: 'bar',
                data: {
                    labels: names,
                    datasets: series.map((each) => ({
                        label: each.label,
                        data: each.values,
                        backgroundColor: each.outline
                            ? 'transparent'
                            : own.map((paint) => (each.pale ? faint(paint, 0.4) : paint)),
                        borderColor: each.outline ? colour('--ink') : own,
                        borderWidth: each.outline
                            ? { top: 0, bottom: 0, left: 0, right: 2 }
                            : each.pale
                              ? 1
                              : 0,
                        borderSkipped: false,
                        grouped: several,
                        order: each.outline ? 0 : 1,
                        maxBarThickness: 26,
                        categoryPercentage: 0.8,
                        barPercentage: several ? 0.9 : 1,
                    })),
                },
                options: {
                    ...options(
                        {
                            x: axis(title, {
                                beginAtZero: true,
                                grace: '4%',
                                ticks: { callback: format.tick, maxTicksLimit: 6 },
                            }),
                            y: nameAxis(names),
                        },
                        (item) => `${named(item)}${format.full(item.parsed.x)}`,
                        (items) => units.shortened(items[0].label, 60),
                        { display: false },
                    ),
                    indexAxis: 'y',
                    interaction: { mode: 'index', axis: 'y', intersect: false },
                },
            };
        });
    }

    const again = () => drawn.forEach((entry) => entry.again());
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);

    // Paper is light, and has the width of a page: 700 px of 96 to the inch.
    window.addEventListener('beforeprint', () => {
        document.documentElement.classList.add('print');
        again();
        for (const { canvas, chart } of drawn)
            chart.resize(canvas.closest('.charts')?.children.length > 1 ? 340 : 700, 300);
    });
    window.addEventListener('afterprint', () => {
        document.documentElement.classList.remove('print');
        again();
    });

    // dashOf gives lines of the same colour different dashes, and neighbouring lines too.
    const dashOf = (number) => dashes[(number + Math.floor(number / paints)) % dashes.length];

    return {
        draw,
        line,
        options,
        faint,
        outcomes,
        meanAndMax,
        rates,
        responseTimes,
        percentiles,
        bars,
        stages,
        dashOf,
        nameOf,
    };
})();
