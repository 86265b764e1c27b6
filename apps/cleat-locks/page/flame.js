// flame: call stacks of one measure as boxes, each as wide as its share. A click zooms in.
const flame = (() => {
    const { el } = dom;
    const rowHeight = 20;
    const depthMax = 80;

    // join makes a tree of all stacks that have any of the measure.
    const join = (profile, measure, inverted) => {
        const root = { name: 'all', value: 0, children: new Map() };
        for (const stack of profile.stacks) {
            const value = stack[measure.key];
            if (!value) continue;
            root.value += value;
            let node = root;
            const functions = inverted ? stack.functions : [...stack.functions].reverse();
            for (const each of functions.slice(0, depthMax)) {
                if (!node.children.has(each))
                    node.children.set(each, {
                        name: profile.functions[each],
                        value: 0,
                        children: new Map(),
                        parent: node,
                    });
                node = node.children.get(each);
                node.value += value;
            }
        }
        return root;
    };

    // Each name has a shade of its own; the hue is the measure's.
    const shade = (name) => {
        let hash = 7;
        for (const c of name) hash = (hash * 31 + c.charCodeAt(0)) >>> 0;
        return hash % 15;
    };

    const matches = (name, wanted) => name.toLowerCase().includes(wanted);

    // The sum of the measure in stacks with a function of such a name.
    const matching = (profile, measure, wanted) =>
        profile.stacks
            .filter((stack) =>
                stack.functions.some((each) => matches(profile.functions[each], wanted)),
            )
            .reduce((sum, stack) => sum + stack[measure.key], 0);

    const deepest = (node) =>
        1 + Math.max(0, ...[...node.children.values()].map((each) => deepest(each)));

    const draw = (profile, measure, inverted, search, readout) => {
        const wanted = search.trim().toLowerCase();
        const root = join(profile, measure, inverted);
        const canvas = el('div', { class: 'flame', role: 'group' });
        const say = (value, words) => {
            const share = root.value ? (100 * value) / root.value : 0;
            readout.replaceChildren(
                el('b', {}, `${measure.say(value)} · ${share.toFixed(1)} %`),
                el('code', {}, words),
            );
        };
        const tell = (node) => say(node.value, node.name);
        const show = (top) => {
            canvas.replaceChildren();
            const width = canvas.clientWidth || 1000;
            const before = [];
            for (let node = top.parent; node; node = node.parent) before.unshift(node);
            const box = (node, row, left, size, faint) => {
                const part = el(
                    'button',
                    {
                        type: 'button',
                        title: node.name,
                        class: faint || (wanted && !matches(node.name, wanted)) ? 'faint' : '',
                        style:
                            `left:${left}px;top:${row * rowHeight}px;width:${size}px;` +
                            `--hue:${measure.hue};--shade:${shade(node.name)}`,
                        click: () => show(node),
                        focus: () => tell(node),
                        mouseenter: () => tell(node),
                    },
                    size > 24 ? units.name(node.name) : '',
                );
                canvas.append(part);
            };
            const place = (node, row, left, size) => {
                box(node, row, left, size, false);
                let childLeft = left;
                const children = [...node.children.values()].sort((a, b) => b.value - a.value);
                for (const child of children) {
                    const part = (size * child.value) / node.value;
                    if (part >= 2) place(child, row + 1, childLeft, part);
                    childLeft += part;
                }
            };
            before.forEach((node, row) => box(node, row, 0, width, true));
            if (top.value > 0) place(top, before.length, 0, width);
            canvas.style.height = `${(before.length + deepest(top)) * rowHeight}px`;
            if (wanted && top === root)
                say(matching(profile, measure, wanted), `in stacks with “${search.trim()}”`);
            else tell(top);
        };
        return { canvas, show: () => show(root), empty: root.value === 0 };
    };

    return { draw };
})();
