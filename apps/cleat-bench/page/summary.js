// summary: a result's first screen: when, the verdict, and its key figures.
const summary = (() => {
    const { el, text, tile, tiles } = elements;
    const { latencyOf, timesMessagesAlone, serverCpu, generatorCpu, busiest } = results;

    // box is for what has to be known before any figure is read.
    const box = (title, ...inside) =>
        el('div', { class: 'verdict', role: 'note' }, el('strong', {}, title), inside);

    function verdicts(result) {
        const found = [];
        if (!result.kept_up)
            found.push(box('Overloaded: it did not keep up', text(sentence(result.overload))));
        if (result.limits.length)
            found.push(
                box(
                    'Client-limited: these figures are not the server’s',
                    text(
                        'The generator’s own machine was the limit.',
                        result.kept_up ? 'The server may do better than what is shown.' : '',
                    ),
                    el(
                        'dl',
                        {},
                        result.limits.map((limit, i) => limitAndCure(limit, result.cures[i])),
                    ),
                ),
            );
        if (result.partial)
            found.push(
                box(
                    'Partial: this run was ended before its time',
                    text(
                        `It was measured for ${units.length(result.measured_s)},`,
                        'and what was still under way counts as failed.',
                    ),
                ),
            );
        if (result.attempts === 0)
            found.push(box('Nothing was attempted', text('There is nothing to measure here.')));
        else if (result.ok === 0)
            found.push(
                box(
                    'No transaction was ok',
                    text('Every attempt failed. The table of failures says where.'),
                ),
            );
        if (found.length === 0) found.push(fine(result));
        return [...found, ...result.remarks.map((remark) => box('Note', text(sentence(remark))))];
    }

    const sentence = (words) => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
    const limitAndCure = (limit, cure) => [
        el('dt', {}, sentence(limit)),
        cure ? el('dd', {}, `Cure: ${cure}.`) : null,
    ];

    function fine(result) {
        const slip = latencyOf(result, 'slip');
        const late = slip && slip.count ? slip.p99 : null;
        return el(
            'p',
            { class: 'fine' },
            `The generator was not the limit: its busiest worker ran ${units.round(busiest(result))}`,
            ' of the time',
            late === null
                ? '.'
                : `, and 99\u00a0% of the transactions began at most ${units.time(late)} late.`,
        );
    }

    const about = (result) =>
        elements.about(
            result.name ? result.target : null,
            units.moment(result.started),
            `measured for ${units.length(result.measured_s)}`,
        );

    function timeTile(name, ns, more) {
        return ns === null ? tile(name, '–', '', more) : tile(name, ...units.timeParts(ns), more);
    }

    const notOpened = ({ websocket }) => websocket.openings - websocket.opened;
    // The unit of the rate: what a transaction is.
    const perSecond = ({ websocket }) =>
        !websocket ? 'ok/s' : websocket.use === 'echo' ? 'messages/s' : 'openings/s';

    function figures(result) {
        const response = latencyOf(result, 'response');
        const of100 = (value) => (response.count ? value : null);
        // A percentile that is a failure's has no time.
        const missing = `${units.share(result.failed, result.attempts)} failed`;
        const percentile = (key, more) =>
            timeTile(
                `Response, ${key}`,
                of100(response[key]),
                response.count && response[key] === null ? missing : more,
            );
        const handshakes = result.full + result.resumed;
        const late = timesMessagesAlone(result)
            ? 'of each message alone'
            : result.rate_asked !== null
              ? 'from the intended start'
              : 'from the start';
        return tiles(
            tile(
                'Rate',
                units.rate(result.rate),
                perSecond(result),
                result.rate_asked !== null
                    ? `asked for ${units.rate(result.rate_asked)}/s`
                    : 'closed loop: as fast as it goes',
                !result.kept_up,
            ),
            result.kept_up
                ? null
                : tile(
                      'Drain',
                      ...units.timeParts(result.drain_s * 1e9),
                      `${units.count(result.drained)} ended after the load, ` +
                          `${units.rate(result.drain_rate)} ok/s`,
                      true,
                  ),
            tile(
                'Attempts',
                units.count(result.attempts),
                '',
                `in ${units.length(result.measured_s)}`,
            ),
            tile('Ok', units.count(result.ok), '', units.share(result.ok, result.attempts)),
            tile(
                'Failed',
                units.count(result.failed),
                '',
                units.share(result.failed, result.attempts),
                result.failed !== 0,
            ),
            tile(
                'Resumed',
                handshakes ? units.share(result.resumed, handshakes).replace('\u00a0%', '') : '–',
                handshakes ? '%' : '',
                `${units.count(result.resumed)} of ${units.count(handshakes)} handshakes`,
            ),
            result.websocket
                ? tile(
                      'Openings',
                      result.opening_rate
                          ? units.rate(result.opening_rate)
                          : units.count(result.websocket.opened),
                      result.opening_rate ? 'ok/s' : '',
                      `${units.count(notOpened(result))} of ` +
                          `${units.count(result.websocket.openings)} failed`,
                      notOpened(result) !== 0,
                  )
                : null,
            percentile('p50', late),
            percentile('p99', '1 % took longer'),
            result.failed
                ? timeTile('Slowest answer', of100(response.slowest_ok), `${missing}, without one`)
                : timeTile('Response, max', of100(response.max), 'the slowest of all'),
            result.server
                ? timeTile('Server’s CPU', serverCpu(result), 'for each transaction')
                : null,
            timeTile('Generator’s CPU', generatorCpu(result), 'for each transaction'),
        );
    }

    return { box, about, verdicts, figures };
})();
