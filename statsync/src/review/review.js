// The review page. All texts become text nodes, never markup: names come from databases.
'use strict';

const words = { rating: 'rating', firstplay: 'first played', lastplay: 'last played',
    playcount: 'play count', label: 'labels' };
const view = { tab: 'matched', filter: 'conflict', text: '', from: 0 };
let summary = null;
let asked = 0;

const element = (id) => document.getElementById(id);

function el(name, attributes = {}, ...inside) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (typeof value === 'function') made.addEventListener(key, value);
        else if (value !== null) made.setAttribute(key, value);
    }
    made.append(...inside.flat(Infinity));
    return made;
}

const counted = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;

async function ask(name, question = {}) {
    const answer = await fetch(name, { method: 'POST', body: JSON.stringify(question) });
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.error);
    return found;
}

function complain(error) {
    const text = error instanceof TypeError
        ? 'statsync has ended. Start it again for another review.' : error.message;
    element('result').replaceChildren(el('p', { class: 'conflict' }, text));
}

const button = (text, act, isPressed = null) =>
    el('button', { type: 'button', click: () => act().catch(complain),
        'aria-pressed': isPressed === null ? null : String(isPressed) }, text);

// Choices.

async function change(name, question) {
    summary = await ask(name, question);
    drawSummary();
    await load(view.from);
}

function batchRow(field, verbs) {
    const count = summary.conflicts[field];
    const act = (player, isTaken) =>
        change('batch', { field, player, is_taken: isTaken });
    const buttons = summary.players.map((one, i) => verbs.map(([verb, isTaken]) =>
        button(`${verb} ${one.name}`, () => act(i, isTaken))));
    const noun = field === 'rating' ? 'ratings' : 'labels';
    return el('p', {}, `${counted(count, 'track')} with ${noun} that differ: `, buttons,
        button(`Leave all ${noun}`, () => act(null, false)));
}

function drawBatch() {
    const rows = [];
    if (summary.conflicts.rating) rows.push(batchRow('rating', [['Take ratings from', true]]));
    if (summary.conflicts.label) {
        rows.push(batchRow('label', [['Include labels from', true], ['Exclude labels from', false]]));
    }
    element('batch').replaceChildren(...rows);
    element('batch').hidden = view.tab !== 'matched' || rows.length === 0;
}

// Tables.

function cell(row, field, value) {
    if (!value) return el('td', { class: 'unset' }, '');
    const after = 'after' in value ? [' → ', el('span', { class: 'after' }, value.after)] : [];
    if (!field.is_conflict) return el('td', {}, value.now, after);
    const isTaken = field.chosen.includes(value.player);
    const act = () => change('choose',
        { group: row.group, field: field.name, player: value.player, is_taken: !isTaken });
    const choose = button(value.now, act, isTaken);
    choose.setAttribute('aria-label',
        `${words[field.name]} ${value.now} of ${summary.players[value.player].name}`);
    return el('td', {}, choose, after);
}

const trackHead = (track, span, more = []) =>
    el('tr', { class: 'track' }, el('th', { colspan: span, scope: 'rowgroup' },
        `${track.artist} – ${track.title} `, el('small', {}, track.album), more));

function fieldRow(row, field) {
    const open = field.is_conflict && !field.is_settled;
    const cells = summary.players.map((_, i) =>
        cell(row, field, field.values.find((value) => value.player === i)));
    const note = open ? ' in conflict' : field.is_conflict ? ' settled' : '';
    return el('tr', {}, el('th', { scope: 'row', class: open ? 'conflict' : null },
        words[field.name] + note), cells);
}

function matchedBody(row) {
    const span = summary.players.length + 1;
    const same = row.fields.length ? [] : [el('small', {}, ' · nothing to write')];
    return el('tbody', {}, trackHead(row.track, span, same),
        row.fields.map((field) => fieldRow(row, field)));
}

function memberBody(row) {
    return el('tbody', {}, el('tr', {}, el('td', {}, row.track.artist), el('td', {}, row.track.title),
        el('td', {}, row.track.album), el('td', {}, summary.players[row.player].name)));
}

async function load(from, isAdded = false) {
    const mine = ++asked;
    const upTo = isAdded ? from : 0;
    const pages = [];
    // A choice draws all rows again that were there, so that they stay in their places.
    for (let first = upTo; first <= from; first += 100)
        pages.push(await ask('rows', { ...view, from: first }));
    if (mine !== asked) return; // A later question has its own answer.
    view.from = from;
    const rows = pages.flatMap((page) => page.rows);
    const count = pages[0].count;
    const isMatched = view.tab === 'matched';
    const bodies = rows.map(isMatched ? matchedBody : memberBody);
    if (isAdded) {
        element('rows').append(...bodies);
    } else {
        const heads = isMatched ? ['', ...summary.players.map((one) => one.name)]
            : ['Artist', 'Title', 'Album', 'Player'];
        element('rows').replaceChildren(el('thead', {}, el('tr', {},
            heads.map((text) => el('th', { scope: 'col' }, text)))), ...bodies);
    }
    const shown = element('rows').tBodies.length;
    element('count').textContent = count === 0 ? 'No such track.' : `${shown} of ${counted(count, 'track')}`;
    element('more').hidden = shown >= count;
}

// The parts around them.

function drawChoice(id, options, key) {
    element(id).replaceChildren(...options.map(([value, text]) => button(text, async () => {
        view[key] = value;
        draw();
        await load(0);
    }, view[key] === value)));
}

function drawSummary() {
    const writes = summary.players.map((one) => `${one.name} ${one.writes}`).join(', ');
    element('summary').textContent = `${counted(summary.updated, 'track')} to write (${writes}); ${
        counted(summary.unsettled, 'track')} in conflict, which ${
        summary.unsettled === 1 ? 'is' : 'are'} not written. Compared by ${
        summary.compared.replaceAll(',', ', ')}.`;
    element('apply').textContent = `Write ${counted(summary.updated, 'track')}`;
    element('apply').disabled = summary.updated === 0;
}

function draw() {
    drawSummary();
    drawBatch();
    drawChoice('tabs', [['matched', `Matched ${summary.matched}`], ['unique',
        `Unique ${summary.unique}`], ['excluded', `Excluded ${summary.excluded}`]], 'tab');
    drawChoice('filters', [['conflict', 'In conflict'], ['write', 'To write'], ['all', 'All']],
        'filter');
    element('filters').hidden = view.tab !== 'matched';
}

async function end(name) {
    element('apply').disabled = element('leave').disabled = true;
    try {
        const { lines } = await ask(name);
        element('result').replaceChildren(...lines.map((line) => el('p', {}, line)));
        element('work').hidden = element('leave').hidden = element('apply').hidden = true;
    } catch (error) {
        element('leave').disabled = false;
        drawSummary();
        throw error;
    }
}

element('apply').addEventListener('click', () => end('apply').catch(complain));
element('leave').addEventListener('click', () => end('end').catch(complain));
element('more').addEventListener('click', () => load(view.from + 100, true).catch(complain));
element('search').addEventListener('input', () => {
    view.text = element('search').value;
    load(0).catch(complain);
});

(async () => {
    summary = await ask('summary');
    if (!summary.conflicts.rating && !summary.conflicts.label) view.filter = 'write';
    draw();
    await load(0);
})().catch(complain);
