// tree: the inverted call tree with the three columns, which are never mixed. Below a function are
// its callers.
const tree = (() => {
    const { el } = dom;
    const shownPercent = 0.1;

    const join = (profile) => {
        const root = { children: new Map() };
        for (const stack of profile.stacks) {
            let node = root;
            for (const each of stack.functions) {
                if (!node.children.has(each))
                    node.children.set(each, {
                        name: profile.functions[each],
                        blocked: 0,
                        locks: 0,
                        references: 0,
                        children: new Map(),
                    });
                node = node.children.get(each);
                node.blocked += stack.blocked_ns;
                node.locks += stack.lock_cpu_samples;
                node.references += stack.reference_cpu_samples;
            }
        }
        return root;
    };

    const percentage = (share, whole) => (whole > 0 ? (100 * share) / whole : 0);

    const draw = (profile) => {
        const samples = profile.total.cpu_samples;
        const columns = (node) => [
            percentage(node.blocked, profile.thread_ns),
            percentage(node.locks, samples),
            percentage(node.references, samples),
        ];
        const row = (node, depth) => [
            ...columns(node).map((share) => el('span', {}, units.percent(share))),
            el('code', { '--depth': depth, title: node.name }, units.name(node.name)),
        ];
        const heavy = (node) => Math.max(...columns(node)) >= shownPercent;
        const below = (node) =>
            [...node.children.values()]
                .filter(heavy)
                .sort((a, b) => Math.max(...columns(b)) - Math.max(...columns(a)));
        const branch = (node, depth) => {
            const children = below(node);
            if (children.length === 0) return el('div', { class: 'leaf' }, row(node, depth));
            const made = el('details', {}, el('summary', {}, row(node, depth)));
            // Branches are made when they are opened: a deep tree would be a slow page.
            made.addEventListener(
                'toggle',
                () => {
                    const below = children.map((child) => branch(child, depth + 1));
                    made.append(...below);
                    // An only child is opened at once.
                    if (below.length === 1) below[0].open = true;
                },
                { once: true },
            );
            return made;
        };
        const roots = below(join(profile));
        if (roots.length === 0) return null;
        const head = el(
            'div',
            { class: 'leaf head' },
            ['blocked', 'lock CPU', 'ref. CPU'].map((word) => el('span', {}, word)),
            el('span', {}, 'function'),
        );
        const made = roots.map((root) => branch(root, 0));
        made[0].open = true;
        return el('div', { class: 'tree' }, head, made);
    };

    return { draw };
})();
