//! Handshakes of rustls on AWS-LC: the program of the libraries' study that C++ does not write.
//!
//! Command line, order of steps, clocks and the line of JSON are those of ../handshakes.hpp, which
//! says why each is as it is.
mod laps;
mod rustls_contexts;
mod task;

use std::error::Error;
use std::io::{Read, Write};
use std::sync::{Arc, Barrier};
use std::time::Instant;

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, Connection, HandshakeKind, ServerConnection};

use laps::{reading_ns, thread_cpu_ns, Laps, Tally};
use rustls_contexts::Contexts;
use task::{Kind, Sharing, Task};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Which rustls this is stands in the lock file, and nowhere in rustls itself.
const LOCKED: &str = include_str!("../Cargo.lock");
const TURNS_MAX: usize = 10; // no handshake here takes more than four
const WARM_UP: usize = 5;

/// What a thread keeps: its contexts, the name that its tickets are kept under, and two blocks.
struct Seat {
    task: Task,
    contexts: Arc<Contexts>,
    name: ServerName<'static>,
    from_client: Vec<u8>,
    from_server: Vec<u8>,
}

impl Seat {
    fn new(task: &Task, contexts: Arc<Contexts>, thread: usize) -> Outcome<Self> {
        let mut seat = Seat {
            task: task.clone(),
            contexts,
            // A client takes what is kept under its server's name, so each thread has a name.
            name: ServerName::try_from(format!("thread-{thread}.example"))?,
            from_client: Vec::with_capacity(64 * 1024),
            from_server: Vec::with_capacity(64 * 1024),
        };
        let mut unheeded = Tally::default();
        if task.resumes() {
            seat.connect(false, &mut Laps::untimed(&mut unheeded))?; // brings the session
        }
        for _ in 0..WARM_UP {
            seat.connect(task.resumes(), &mut Laps::untimed(&mut unheeded))?;
        }
        Ok(seat)
    }

    fn connect(&mut self, resumed: bool, laps: &mut Laps) -> Outcome<()> {
        let client = ClientConnection::new(self.contexts.client.clone(), self.name.clone())?;
        let mut client = Connection::from(client);
        self.from_client.clear();
        laps.client();
        let mut server = Connection::from(ServerConnection::new(self.contexts.server.clone())?);
        self.from_server.clear();
        laps.server();
        self.handshake(&mut client, &mut server, laps)?;
        check(&self.task, &client, resumed)?;
        check(&self.task, &server, resumed)?;
        laps.tally.handshakes += 1;
        laps.tally.resumed += u64::from(resumed);
        laps.neither();
        drop(server);
        laps.server();
        drop(client);
        laps.client();
        Ok(())
    }

    fn handshake(
        &mut self,
        client: &mut Connection,
        server: &mut Connection,
        laps: &mut Laps,
    ) -> Outcome<()> {
        let (mut client_done, mut server_done) = (false, false);
        for _ in 0..TURNS_MAX {
            client_done = shake(client, &self.from_server, &mut self.from_client)?;
            laps.client();
            server_done = shake(server, &self.from_client, &mut self.from_server)?;
            if client_done && server_done {
                server.writer().write_all(b"!")?;
                flush(server, &mut self.from_server)?;
                laps.server();
                break;
            }
            laps.server();
        }
        if !client_done || !server_done {
            return Err("the handshake does not end".into());
        }
        shake(client, &self.from_server, &mut self.from_client)?;
        let mut byte = [0];
        client.reader().read_exact(&mut byte)?;
        laps.client();
        if byte == *b"!" {
            Ok(())
        } else {
            Err("the server's byte did not arrive".into())
        }
    }
}

/// Takes what the peer has sent, and replaces `outgoing` by the answer. True: it is established.
fn shake(side: &mut Connection, mut incoming: &[u8], outgoing: &mut Vec<u8>) -> Outcome<bool> {
    outgoing.clear();
    while !incoming.is_empty() {
        side.read_tls(&mut incoming)?;
        side.process_new_packets()?;
    }
    flush(side, outgoing)?;
    Ok(!side.is_handshaking())
}

fn flush(side: &mut Connection, outgoing: &mut Vec<u8>) -> Outcome<()> {
    while side.wants_write() {
        side.write_tls(outgoing)?;
    }
    Ok(())
}

/// Fails unless the handshake was the one that was asked for.
fn check(task: &Task, side: &Connection, resumed: bool) -> Outcome<()> {
    let suite = side.negotiated_cipher_suite().map(|suite| suite.suite());
    let group = side.negotiated_key_exchange_group().map(|group| group.name());
    if side.protocol_version() != Some(task.protocol()) {
        return Err("another version of TLS was agreed on".into());
    }
    if suite != Some(rustls_contexts::suite(task).suite()) {
        return Err(format!("another suite was agreed on: {suite:?}").into());
    }
    // A resumption of TLS 1.2 exchanges no keys.
    if group != Some(rustls_contexts::group(task).name()) && (task.tls13() || !resumed) {
        return Err(format!("another group was agreed on: {group:?}").into());
    }
    let kind = if resumed { HandshakeKind::Resumed } else { HandshakeKind::Full };
    if side.handshake_kind() != Some(kind) {
        return Err(format!("{:?}, not {kind:?}", side.handshake_kind()).into());
    }
    Ok(())
}

/// A thread: gets ready, waits for the others, and makes handshakes until time is up.
fn work(
    task: &Task,
    shared: Option<Arc<Contexts>>,
    thread: usize,
    start: &Barrier,
) -> Outcome<Tally> {
    let contexts = match shared {
        Some(contexts) => contexts,
        None => Arc::new(Contexts::new(task)?),
    };
    let mut seat = Seat::new(task, contexts, thread)?;
    start.wait();
    let reading = reading_ns();
    let mut tally = Tally::default();
    let began = Instant::now();
    let cpu_before = thread_cpu_ns();
    let ended = loop {
        seat.connect(task.resumes(), &mut Laps::of(&mut tally, reading))?;
        let now = Instant::now();
        if (now - began).as_secs_f64() >= task.seconds {
            break now;
        }
    };
    tally.cpu = thread_cpu_ns() - cpu_before - tally.readings;
    tally.times = Some((began, ended));
    Ok(tally)
}

fn measure(task: &Task) -> Outcome<Vec<Tally>> {
    let shared = match task.contexts {
        Sharing::Shared => Some(Arc::new(Contexts::new(task)?)),
        _ => None,
    };
    let start = Arc::new(Barrier::new(task.threads));
    let threads: Vec<_> = (0..task.threads)
        .map(|thread| {
            let (task, shared, start) = (task.clone(), shared.clone(), start.clone());
            std::thread::spawn(move || {
                work(&task, shared, thread, &start).unwrap_or_else(|failure| {
                    // The others may wait for this one at the barrier: it ends them all.
                    eprintln!("study-handshakes-rustls: {failure}");
                    std::process::exit(1)
                })
            })
        })
        .collect();
    threads
        .into_iter()
        .map(|thread| thread.join().map_err(|_| "a thread panicked".into()))
        .collect()
}

fn version() -> String {
    let behind = LOCKED.split("name = \"rustls\"\nversion = \"").nth(1).unwrap_or_default();
    format!("rustls {}", behind.split('"').next().unwrap_or_default())
}

fn unsupported(task: &Task) -> Option<&'static str> {
    match (task.kind, task.contexts) {
        _ if task.post_quantum && !task.tls13() => Some("TLS 1.2 has no such group"),
        (Kind::Renegotiate, _) if task.tls13() => Some("TLS 1.3 has no renegotiation"),
        (Kind::Renegotiate, _) => Some("the library does not renegotiate"),
        (_, Sharing::Library) => Some("the library has no library contexts"),
        _ => None,
    }
}

fn main() {
    let task = Task::parse().unwrap_or_else(|failure| {
        eprintln!("study-handshakes-rustls: {failure}");
        std::process::exit(2)
    });
    if let Some(why) = unsupported(&task) {
        println!("{{{}, \"unsupported\": \"{why}\"}}", task.described(&version()));
        return;
    }
    match measure(&task) {
        Ok(tallies) => println!("{{{}, {}}}", task.described(&version()), laps::json(&tallies)),
        Err(failure) => {
            eprintln!("study-handshakes-rustls: {failure}");
            std::process::exit(1)
        }
    }
}
