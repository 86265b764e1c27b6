// commands: the buttons that tell cleat to do something, and its answers.
const commands = (() => {
    const { el } = elements;

    async function post(path) {
        const answer = await fetch(path, { method: 'POST', cache: 'no-store' });
        const said = await answer.json();
        if (said.error) throw new Error(said.error);
        return said;
    }

    // The changes in words: "2 certificates added".
    function changesOf(changes) {
        const found = changes.keys.map((key) => `the key ${key}`);
        for (const [key, count] of Object.entries(changes)) {
            if (key === 'keys' || count === 0) continue;
            const [what, how] = key.split('_');
            found.push(`${units.count(count)} ${count === 1 ? what.slice(0, -1) : what} ${how}`);
        }
        return found.length ? `Changed: ${found.join(', ')}.` : 'Nothing has changed.';
    }

    function reloadResult(said) {
        return [
            el(
                'p',
                {},
                said.done
                    ? `Reloaded in ${units.time(said.took_ms / 1000)}. ${changesOf(said.changes)}`
                    : 'The reload was refused; nothing has changed:',
            ),
            said.problems.length
                ? el(
                      'ul',
                      {},
                      said.problems.map((each) => el('li', {}, units.problem(each))),
                  )
                : null,
        ];
    }

    // confirmation is a dialog that asks before cleat ends. Its first button does nothing.
    function confirmation(act) {
        const open = el('p', {});
        const close = el('button', { type: 'button', click: () => node.close() }, 'Go on serving');
        const drain = el(
            'button',
            {
                type: 'button',
                class: 'danger',
                click() {
                    node.close();
                    act();
                },
            },
            'Drain and end',
        );
        const node = el(
            'dialog',
            { 'aria-labelledby': 'drain-title' },
            el('h2', { id: 'drain-title' }, 'End this cleat?'),
            el(
                'p',
                {},
                'It accepts no more connections, and the process ends with the last one, or ' +
                    'after shutdown-timeout. This cannot be taken back.',
            ),
            open,
            el('div', { class: 'buttons' }, close, drain),
        );
        return {
            node,
            ask(count) {
                open.textContent =
                    count === 1
                        ? '1 connection is open.'
                        : `${units.count(count)} connections are open.`;
                node.showModal();
                close.focus();
            },
        };
    }

    // bar has the buttons; done() is called after a command, with a new answer worth asking for.
    function bar(done) {
        const output = el('div', { class: 'output', role: 'status', hidden: '' });
        let openConnections = 0;
        const say = (...inside) => {
            output.hidden = false;
            output.replaceChildren(
                ...inside.flat().filter((each) => each !== null),
                el(
                    'button',
                    {
                        type: 'button',
                        click() {
                            output.hidden = true;
                            reload.focus();
                        },
                    },
                    'Close',
                ),
            );
        };
        const asking = async (button, path, show) => {
            button.disabled = true;
            try {
                say(show(await post(path)));
            } catch (failed) {
                say(el('p', { class: 'bad' }, `${path}: ${failed.message}`));
            } finally {
                button.disabled = false;
                button.focus();
                done();
            }
        };
        const reload = el(
            'button',
            { type: 'button', click: () => asking(reload, 'reload', reloadResult) },
            'Reload',
        );
        const question = confirmation(() =>
            asking(drain, 'drain', () =>
                el('p', {}, 'cleat drains, and ends with the last connection.'),
            ),
        );
        const drain = el(
            'button',
            { type: 'button', class: 'danger', click: () => question.ask(openConnections) },
            'Drain…',
        );
        return {
            buttons: [reload, drain],
            output,
            dialog: question.node,
            show(status) {
                openConnections = rates.value(status, 'cleat_connections_open');
                reload.hidden = drain.hidden = status.state === 'draining';
            },
        };
    }

    return { bar };
})();
