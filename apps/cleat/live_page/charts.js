// charts: the last minutes as lines. They are drawn again with each answer, and when the colours
// change; there is no animation.
const charts = (() => {
    const { el } = elements;
    const colour = (name) =>
        getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = 12;
    const drawn = [];

    function axis(more) {
        const { ticks, ...rest } = more;
        return {
            grid: { color: colour('--grid'), borderColor: colour('--line'), drawTicks: false },
            border: { color: colour('--line'), display: true },
            ticks: { color: colour('--soft'), padding: 6, maxRotation: 0, ...ticks },
            ...rest,
        };
    }

    const ago = (seconds) => {
        if (seconds > -0.5) return 'now';
        return seconds % 60 === 0
            ? `${-seconds / 60}\u00a0min ago`
            : `${Math.round(-seconds)}\u00a0s ago`;
    };
    const tickAgo = (seconds) => {
        if (seconds === 0) return 'now';
        return seconds % 60 === 0 ? `−${-seconds / 60}\u00a0min` : `−${-seconds}\u00a0s`;
    };

    // The axis grows with the history: a page that was opened just now shows its seconds.
    const spans = [
        [60, 15],
        [120, 30],
        [record.length, 60],
    ];
    function clockAxis() {
        const points = record.points();
        const seen = points.length ? points.at(-1).at - points[0].at : 0;
        const [length, stepSize] = spans.find(([each]) => each >= seen) ?? spans.at(-1);
        return axis({
            type: 'linear',
            min: -length,
            max: 0,
            ticks: { stepSize, callback: tickAgo, maxTicksLimit: 6 },
        });
    }

    // Decades with 2 and 5 between them, where there is room.
    const logTicks = (value) => {
        const digit = Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9));
        return digit === 1 || digit === 2 || digit === 5;
    };

    const valueAxis = ({ tick, max, logarithmic }) =>
        logarithmic
            ? axis({
                  type: 'logarithmic',
                  ticks: {
                      callback: (value) => (logTicks(value) ? tick(value) : null),
                      maxTicksLimit: 7,
                  },
              })
            : axis({
                  beginAtZero: true,
                  max,
                  suggestedMax: max ?? 1,
                  grace: max ? 0 : '5%',
                  ticks: { callback: tick, maxTicksLimit: 6 },
              });

    // A line in the legend looks like the line in the chart.
    const legendLabels = (chart) =>
        chart.data.datasets.map((set, i) => ({
            datasetIndex: i,
            text: set.label,
            fontColor: colour('--ink'),
            hidden: !chart.isDatasetVisible(i),
            pointStyle: 'line',
            strokeStyle: set.borderColor,
            lineDash: set.borderDash,
            lineWidth: set.borderWidth,
        }));

    function optionsOf(plot) {
        return {
            animation: false,
            responsive: true,
            maintainAspectRatio: false,
            normalized: true,
            interaction: { mode: 'index', intersect: false },
            layout: { padding: { right: 8, top: 4 } },
            scales: { x: clockAxis(), y: valueAxis(plot) },
            plugins: {
                legend: {
                    position: 'bottom',
                    align: 'start',
                    labels: {
                        usePointStyle: true,
                        pointStyleWidth: 28,
                        padding: 14,
                        generateLabels: legendLabels,
                    },
                },
                tooltip: {
                    backgroundColor: colour('--ink'),
                    titleColor: colour('--paper'),
                    bodyColor: colour('--paper'),
                    padding: 10,
                    boxPadding: 5,
                    callbacks: {
                        title: (items) => ago(items[0].parsed.x),
                        label: (item) => ` ${item.dataset.label}: ${plot.full(item.parsed.y)}`,
                        labelColor: ({ dataset }) => ({
                            borderColor: colour('--paper'),
                            backgroundColor: dataset.borderColor,
                        }),
                    },
                },
            },
        };
    }

    // A point that stands alone would not be seen as a line.
    const radiusOf = (data) => (data.filter((point) => point.y !== null).length === 1 ? 3 : 0);

    const setOf = (line, points, now) => {
        const data = points.map((point) => ({
            x: Math.min(0, point.at - now),
            y: point.broken ? null : (line.read(point) ?? null),
        }));
        const paint = colour(line.colour);
        return {
            label: line.name,
            data,
            borderColor: paint,
            backgroundColor: paint,
            borderWidth: line.width ?? 1.75,
            borderDash: line.dash ?? [],
            borderJoinStyle: 'round',
            pointRadius: radiusOf(data),
            pointHoverRadius: 4,
            parsing: false,
        };
    };

    const spoken = (title, plot, lines, last) =>
        last === undefined
            ? `${title}: no numbers yet`
            : `${title}, now: ` +
              lines
                  .map((line) => {
                      const value = line.read(last) ?? null;
                      return `${line.name} ${value === null ? 'none' : plot.full(value)}`;
                  })
                  .join(', ');

    // figure is a chart: `plot` has lines(), which may become more, tick and full for numbers, and
    // what valueAxis takes.
    function figure(title, plot, choices = null) {
        const canvas = el('canvas', { role: 'img', 'aria-label': title });
        const node = el(
            'figure',
            {},
            el('figcaption', {}, el('span', {}, title), choices),
            el('div', { class: 'plot' }, canvas),
        );
        let chart = null;
        const entry = {
            node,
            show() {
                const points = record.points();
                const lines = plot.lines();
                const now = points.at(-1)?.at ?? 0;
                const datasets = lines.map((line) => setOf(line, points, now));
                canvas.setAttribute('aria-label', spoken(title, plot, lines, record.last()));
                if (chart === null) {
                    chart = new Chart(canvas, {
                        type: 'line',
                        data: { datasets },
                        options: optionsOf(plot),
                    });
                    return;
                }
                datasets.forEach((set, i) => {
                    const old = chart.data.datasets[i];
                    if (old?.label === set.label) Object.assign(old, set);
                    else chart.data.datasets[i] = set;
                });
                chart.data.datasets.length = datasets.length;
                chart.options.scales.x = clockAxis();
                chart.update('none');
            },
            again() {
                chart?.destroy();
                chart = null;
                entry.show();
            },
        };
        drawn.push(entry);
        return entry;
    }

    window
        .matchMedia('(prefers-color-scheme: dark)')
        .addEventListener('change', () => drawn.forEach((each) => each.again()));

    return { figure, show: () => drawn.forEach((each) => each.show()) };
})();
