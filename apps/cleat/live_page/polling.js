// polling: asks for the status again and again, one question at a time; not while nobody sees the
// page.
const polling = (() => {
    const interval = 2000; // Milliseconds between an answer and the next question.
    const patience = 5000; // Without an answer for so long the server is taken for gone.

    // take(status) gets each answer, fail(reason) each failure. The result has pause(bool) and
    // ask(), which asks at once.
    function start(take, fail) {
        let timer = null;
        let isAsking = false;
        let isPaused = false;

        // An answer, or the reason why there is none.
        async function answered() {
            const stop = new AbortController();
            const late = setTimeout(() => stop.abort(), patience);
            try {
                const answer = await fetch('status.json', {
                    cache: 'no-store',
                    signal: stop.signal,
                });
                const status = await answer.json();
                return answer.ok ? { status } : { why: status.error ?? String(answer.status) };
            } catch (failed) {
                return { why: stop.signal.aborted ? 'it is late' : failed.message };
            } finally {
                clearTimeout(late);
            }
        }

        async function ask() {
            clearTimeout(timer);
            if (isAsking || isPaused || document.hidden) return;
            isAsking = true;
            const { status, why } = await answered();
            isAsking = false;
            timer = setTimeout(ask, interval);
            if (status) take(status);
            else fail(why);
        }

        document.addEventListener('visibilitychange', ask);
        ask();
        return {
            ask,
            pause(yes) {
                isPaused = yes;
                ask();
            },
        };
    }

    return { start };
})();
