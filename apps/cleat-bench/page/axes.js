// axes: the axes of charts: rates, times, the clock, percentiles. Colours are those of the page.
const axes = (() => {
    const colour = (name) =>
        getComputedStyle(document.documentElement).getPropertyValue(name).trim();

    function axis(title, more = {}) {
        const { ticks, ...rest } = more;
        return {
            title: { display: title !== '', text: title, color: colour('--soft'), padding: 6 },
            grid: { color: colour('--grid'), borderColor: colour('--line'), drawTicks: false },
            border: { color: colour('--line'), display: true },
            ticks: { color: colour('--soft'), padding: 6, maxRotation: 0, ...ticks },
            ...rest,
        };
    }

    // nameAxis has the names of bars or rows, each as far as it fits beside the chart.
    const nameAxis = (names, more = {}) =>
        axis('', {
            grid: { display: false },
            ticks: {
                color: colour('--ink'),
                autoSkip: false,
                callback(value) {
                    const most = Math.max(10, Math.floor(this.chart.width / 24));
                    return units.shortened(names[value], most);
                },
            },
            ...more,
        });

    // between gives the round numbers (1, 2, 5, ...) of a logarithmic axis, about six of them.
    function between(low, high) {
        const decades = Math.log10(high / low);
        const digits = decades <= 1.2 ? [1, 1.5, 2, 3, 5, 7] : decades <= 3 ? [1, 2, 5] : [1];
        const found = [];
        for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); ++e)
            for (const digit of digits) found.push(Number((digit * 10 ** e).toPrecision(3)));
        return found.filter((value) => value >= low * 0.999 && value <= high * 1.001);
    }

    // A linear axis of times has round steps in the unit of its labels.
    function timeAxis(title, logarithmic, values) {
        const positive = values.filter((value) => value > 0);
        const top = positive.length ? Math.max(...positive) : 1e6;
        if (!logarithmic)
            return axis(title, {
                beginAtZero: true,
                ticks: { callback: (ns) => units.timeTick(ns), maxTicksLimit: 8 },
            });
        const bottom = positive.length ? Math.min(...positive) : 1e3;
        const steps = top / bottom > 500 ? [1, 10] : [1, 1.5, 2, 3, 5, 7, 10];
        const down = 10 ** Math.floor(Math.log10(bottom));
        const up = 10 ** Math.floor(Math.log10(top));
        const low = down * Math.max(...steps.filter((s) => s * down <= bottom * 1.0001));
        const high = up * Math.min(...steps.filter((s) => s * up >= top * 0.9999));
        return axis(title, {
            type: 'logarithmic',
            min: low === high ? low / 2 : low,
            max: low === high ? high * 2 : high,
            afterBuildTicks(scale) {
                scale.ticks = between(scale.min, scale.max).map((value) => ({ value }));
            },
            ticks: { callback: (ns) => units.timeTick(ns), autoSkip: false },
        });
    }

    const clockSteps = [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400,
    ];

    function clockAxis(end) {
        let step = 1;
        return axis('time since the beginning (s)', {
            type: 'linear',
            min: 0,
            max: end,
            afterBuildTicks(scale) {
                const room = Math.max(2, Math.floor(scale.chart.width / 85));
                step =
                    end < 2
                        ? 10 ** Math.floor(Math.log10(end / 2))
                        : (clockSteps.find((s) => end / s <= room) ??
                          Math.ceil(end / room / 86400) * 86400);
                scale.ticks = [];
                for (let i = 0; i * step <= end * 1.0001; ++i)
                    scale.ticks.push({ value: i * step });
                const long = step >= 30 || end >= 180;
                scale.options.title.text = long
                    ? `time since the beginning (${end < 3600 ? 'min:s' : 'h:min:s'})`
                    : 'time since the beginning (s)';
            },
            ticks: {
                autoSkip: false,
                callback: (s) => (end >= 180 ? units.clock(s, 30) : units.clock(s, step)),
            },
        });
    }

    function percentileAxis(last) {
        return axis('share of transactions that took no longer', {
            type: 'logarithmic',
            min: 1,
            max: Math.max(last, 10),
            afterBuildTicks(scale) {
                const wanted = [1, 2, 4];
                for (let x = 10; x <= scale.max; x *= 10) wanted.push(x);
                const crowded = wanted.length * 46 > scale.width;
                scale.ticks = wanted
                    .filter((x) => x <= scale.max && !(crowded && (x === 4 || x === 2)))
                    .map((value) => ({ value }));
            },
            ticks: { autoSkip: true, callback: (x) => units.percentile(x) },
        });
    }

    // A ratio of 2 is as far from 1 as one of a half. If all are close to 1, steps are even.
    function ratioTicks(low, high) {
        if (high / low > 3) return between(low, high);
        const rough = (high - low) / 5;
        const step = [0.02, 0.05, 0.1, 0.2, 0.5].find((one) => one >= rough) ?? 1;
        const found = [];
        for (let i = Math.ceil(low / step); i * step <= high; ++i)
            found.push(Number((i * step).toFixed(2)));
        return found;
    }

    function ratioAxis(title, values) {
        const low = Math.min(0.92, ...values.map((value) => value * 0.96));
        const high = Math.max(1.08, ...values.map((value) => value * 1.04));
        return axis(title, {
            type: 'logarithmic',
            min: low,
            max: high,
            afterBuildTicks(scale) {
                scale.ticks = ratioTicks(low, high).map((value) => ({ value }));
            },
            ticks: { callback: (value) => String(value) },
        });
    }

    return { colour, axis, nameAxis, ratioAxis, timeAxis, clockAxis, percentileAxis };
})();
