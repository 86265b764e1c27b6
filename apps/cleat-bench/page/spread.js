// spread: two charts of servers that ran several rounds: bars with whiskers from the least to the
// most, and a dot for each round's ratio to the base, with a text beside each server.
const spread = (() => {
    const { colour, axis, nameAxis, ratioAxis } = axes;
    const { draw, options, faint } = charts;
    const gap = 7;

    const font = () => `12px ${Chart.defaults.font.family}`;

    function write(context, words, x, y, paint) {
        context.font = font();
        context.textAlign = 'left';
        context.textBaseline = 'middle';
        context.fillStyle = paint;
        context.fillText(words, x, y);
    }

    function stroke(context, paint, width, ...points) {
        context.strokeStyle = paint;
        context.lineWidth = width;
        context.beginPath();
        points.forEach(([x, y], i) => (i % 2 === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
        context.stroke();
    }

    // room is the width of the longest text beside the bars.
    function room(canvas, rows) {
        const context = canvas.getContext('2d');
        context.font = font();
        return Math.max(...rows.map(({ words }) => context.measureText(words).width)) + 2 * gap;
    }

    // Whiskers are drawn over the bars, and each bar's text beyond them.
    const whiskers = (rows) => ({
        id: 'whiskers',
        afterDatasetsDraw({ ctx, scales }) {
            const ink = colour('--ink');
            rows.forEach(({ least, most, words, strong }, i) => {
                const y = scales.y.getPixelForValue(i);
                const [from, to] = [least, most].map((value) => scales.x.getPixelForValue(value));
                const cap = 4;
                if (to - from > 1)
                    stroke(
                        ctx,
                        ink,
                        1.25,
                        [from, y],
                        [to, y],
                        [from, y - cap],
                        [from, y + cap],
                        [to, y - cap],
                        [to, y + cap],
                    );
                write(ctx, words, to + gap, y, strong ? ink : colour('--soft'));
            });
        },
    });

    // bars has a row {name, paint, value, least, most, words, strong} for each server.
    function bars(canvas, rows, format, title) {
        return draw(canvas, () => ({
            type: 'bar',
            data: {
                labels: rows.map(({ name }) => name),
                datasets: [
                    {
                        label: 'median',
                        data: rows.map(({ value }) => value),
                        backgroundColor: rows.map(({ paint }) => colour(paint)),
                        maxBarThickness: 24,
                        categoryPercentage: 0.8,
                        barPercentage: 1,
                    },
                ],
            },
            options: {
                ...options(
                    {
                        x: axis(title, {
                            beginAtZero: true,
                            max: Math.max(...rows.map(({ most }) => most)),
                            ticks: {
                                callback: format.tick,
                                maxTicksLimit: 5,
                                includeBounds: false,
                            },
                        }),
                        y: nameAxis(rows.map(({ name }) => name)),
                    },
                    ({ dataIndex }) => {
                        const { value, least, most } = rows[dataIndex];
                        const [from, to] = [least, most].map(format.full);
                        return ` ${format.full(value)} (${from} to ${to})`;
                    },
                    ([{ label }]) => units.shortened(label, 60),
                    { display: false },
                ),
                indexAxis: 'y',
                interaction: { mode: 'index', axis: 'y', intersect: false },
                layout: { padding: { right: room(canvas, rows) } },
            },
            plugins: [whiskers(rows)],
        }));
    }

    // beside is where a text begins that belongs to x: around it, but inside the chart and not
    // across the line.
    function beside(x, width, line, { left, right }) {
        const middle = Math.min(Math.max(x - width / 2, left + 3), right - width);
        if (middle > line || middle + width < line) return middle;
        const after = line + gap;
        const before = line - gap - width;
        if (x >= line || before < left) return after + width <= right ? after : middle;
        return before;
    }

    // The base is a line at 1; the median of a server's dots is a mark with its text below.
    const marks = (rows) => ({
        id: 'marks',
        beforeDatasetsDraw({ ctx, scales, chartArea }) {
            const x = scales.x.getPixelForValue(1);
            stroke(ctx, colour('--ink'), 1.25, [x, chartArea.top], [x, chartArea.bottom]);
        },
        afterDatasetsDraw({ ctx, scales, chartArea }) {
            ctx.font = font();
            rows.forEach(({ paint, median, words, pale }, i) => {
                const x = scales.x.getPixelForValue(median);
                const up = scales.y.getPixelForValue(i - 0.27);
                const down = scales.y.getPixelForValue(i + 0.13);
                stroke(ctx, colour(paint), 2.5, [x, up], [x, down]);
                const width = ctx.measureText(words).width;
                const left = beside(x, width, scales.x.getPixelForValue(1), chartArea);
                const below = scales.y.getPixelForValue(i + 0.34);
                ctx.clearRect(left - 2, below - 7, width + 4, 14);
                write(ctx, words, left, below, colour(pale ? '--soft' : '--ink'));
            });
        },
    });

    // Rounds are drawn a little above each other, the first at the top, so that equal ones do not
    // hide each other.
    const dots = ({ ratios }, row) =>
        ratios.flatMap((ratio, round) => {
            const shift = ratios.length > 1 ? (round / (ratios.length - 1) - 0.5) * 0.3 : 0;
            return ratio === null ? [] : [{ x: ratio, y: row - 0.07 + shift, round: round + 1 }];
        });

    // ratios has a row {name, paint, ratios, median, words, pale} for each server but the base.
    function ratios(canvas, rows, title) {
        const all = rows.flatMap((row) => row.ratios).filter((ratio) => ratio !== null);
        return draw(canvas, () => ({
            type: 'scatter',
            data: {
                datasets: rows.map((row, i) => ({
                    label: row.name,
                    data: dots(row, i),
                    backgroundColor: faint(colour(row.paint), row.pale ? 0.12 : 0.85),
                    borderColor: faint(colour(row.paint), row.pale ? 0.55 : 1),
                    borderWidth: 1.25,
                    pointRadius: 4,
                    pointHoverRadius: 6,
                })),
            },
            options: {
                ...options(
                    {
                        x: ratioAxis(title, all),
                        y: nameAxis(
                            rows.map(({ name }) => name),
                            {
                                type: 'linear',
                                reverse: true,
                                min: -0.5,
                                max: rows.length - 0.5,
                                afterBuildTicks(scale) {
                                    scale.ticks = rows.map((_, value) => ({ value }));
                                },
                            },
                        ),
                    },
                    ({ raw }) => ` round ${raw.round}: ${units.times(raw.x)}×`,
                    ([{ dataset }]) => units.shortened(dataset.label, 60),
                    { display: false },
                ),
                interaction: { mode: 'nearest', intersect: true },
            },
            plugins: [marks(rows)],
        }));
    }

    return { bars, ratios };
})();
