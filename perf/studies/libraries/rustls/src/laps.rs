//! Which side has used how much of a thread's CPU time; ../../handshakes.hpp says why this way.
use std::time::Instant;

const TIMED_OF: u64 = 32;

/// What one thread has done. Times are nanoseconds of its CPU time.
#[derive(Default)]
pub struct Tally {
    pub handshakes: u64,
    pub resumed: u64,
    pub cpu: u64, // of all of them
    pub times: Option<(Instant, Instant)>,
    // Of the timed ones alone: in the calls of each side, and between them.
    client: u64,
    server: u64,
    neither: u64,
    pub readings: u64, // of the clock
}

pub fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec that lives through the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// What a reading of the clock takes, on this thread.
pub fn reading_ns() -> u64 {
    const COUNT: u64 = 200;
    let before = thread_cpu_ns();
    let mut after = before;
    for _ in 0..COUNT {
        after = thread_cpu_ns();
    }
    (after - before) / COUNT
}

pub struct Laps<'a> {
    pub tally: &'a mut Tally,
    reading: u64,
    last: Option<u64>,
}

impl<'a> Laps<'a> {
    /// Times one connection of TIMED_OF.
    pub fn of(tally: &'a mut Tally, reading: u64) -> Self {
        let timed = tally.handshakes % TIMED_OF == 0;
        Laps { tally, reading, last: timed.then(thread_cpu_ns) }
    }

    pub fn untimed(tally: &'a mut Tally) -> Self {
        Laps { tally, reading: 0, last: None }
    }

    fn lap(&mut self) -> u64 {
        let Some(last) = self.last else { return 0 };
        let now = thread_cpu_ns();
        self.last = Some(now);
        self.tally.readings += self.reading;
        (now - last).saturating_sub(self.reading)
    }

    pub fn client(&mut self) {
        self.tally.client += self.lap();
    }

    pub fn server(&mut self) {
        self.tally.server += self.lap();
    }

    pub fn neither(&mut self) {
        self.tally.neither += self.lap();
    }
}

/// The members of the JSON object that say what was found.
pub fn json(tallies: &[Tally]) -> String {
    let times = || tallies.iter().filter_map(|tally| tally.times);
    let began = times().map(|(began, _)| began).min().expect("a thread");
    let ended = times().map(|(_, ended)| ended).max().expect("a thread");
    let handshakes: u64 = tallies.iter().map(|tally| tally.handshakes).sum();
    let resumed: u64 = tallies.iter().map(|tally| tally.resumed).sum();
    let cpu: u64 = tallies.iter().map(|tally| tally.cpu).sum();
    let us = |side: fn(&Tally) -> u64| {
        let part = |tally: &Tally| {
            let timed = tally.client + tally.server + tally.neither;
            tally.cpu as f64 / 1e3 * side(tally) as f64 / timed as f64
        };
        tallies.iter().map(part).sum::<f64>() / handshakes as f64
    };
    format!(
        r#""handshakes": {handshakes}, "resumed": {resumed}, "seconds": {:.4}, "server_cpu_us": {:.2}, "client_cpu_us": {:.2}, "cpu_seconds": {:.4}"#,
        (ended - began).as_secs_f64(),
        us(|tally| tally.server),
        us(|tally| tally.client),
        cpu as f64 / 1e9
    )
}
