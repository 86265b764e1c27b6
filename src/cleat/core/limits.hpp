// limits: the bounds of buffers, queues and waits, by name, with their reasons. A loop, queue,
// buffer or wait without one is a bug.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace cleat::limits {

/// operator""_KiB, operator""_MiB are sizes in bytes: 64_KiB is 65,536.
inline constexpr std::size_t operator""_KiB(unsigned long long n)
{
    return n * 1024;
}
inline constexpr std::size_t operator""_MiB(unsigned long long n)
{
    return n * 1024 * 1024;
}

// Records.

/// plaintext_record_max: the most plaintext in one record (RFC 8446, section 5.1; RFC 5246, section
/// 6.2.1).
inline constexpr std::size_t plaintext_record_max = 16_KiB;

/// record_header_size: type, version and length (RFC 8446, section 5.1).
inline constexpr std::size_t record_header_size = 5;

/// record_overhead_max: the most bytes that a record has besides its plaintext: the header, and in
/// TLS 1.2 with CBC an IV (16), a SHA-384 MAC (48) and padding (256). TLS 1.3 adds at most 256 to
/// the header (RFC 8446, section 5.2). RFC 5246 would permit 2048, but no cipher suite needs that
/// and TLS libraries refuse it.
inline constexpr std::size_t record_overhead_max = record_header_size + 16 + 48 + 256;

/// record_max: the longest record on the wire. A block that receives records holds at least one.
inline constexpr std::size_t record_max = plaintext_record_max + record_overhead_max;

// Turns. In one turn a connection receives, encrypts or decrypts, and sends a bounded number of
// bytes in each direction. Then other connections are served.

/// turn_min: a connection's first turn, and a relay's smallest. Below 64 KiB a relay pays more for
/// wake-ups and system calls than for encryption.
inline constexpr std::size_t turn_min = 64_KiB;

/// turn_max: the largest turn. 1 MiB was the cheapest per byte of the sizes measured
/// (docs/decisions/turns.md). Larger ones make other connections wait.
inline constexpr std::size_t turn_max = 1_MiB;

/// turn_tight, turn_full: the largest turns while memory is short (see max-memory), because what a
/// receiver does not take of a turn stays in memory. One of turn_tight is still a transfer.
inline constexpr std::size_t turn_tight = 32_KiB;
inline constexpr std::size_t turn_full = 4_KiB;

/// memory_bound_min: the least max-memory. Bytes that workers take between two readings of the
/// memory have to fit above the mark at which it is tight. memory_auto_percent: the part of a
/// control group's limit that max-memory = auto is.
inline constexpr std::size_t memory_bound_min = 64 * 1_MiB;
inline constexpr unsigned memory_auto_percent = 90;

/// stalled_after: while memory is short, a connection ends whose receiver has acknowledged no byte
/// for so long, though cleat holds some for it. stalled_at_once: how many are looked at after a
/// reading of the memory.
inline constexpr std::chrono::milliseconds stalled_after{5'000};
inline constexpr std::size_t stalled_at_once = 64;

/// joined_max: up to this many unsent bytes are copied in front of new ones, so that one send takes
/// both. More unsent bytes are sent first, by a call of their own.
inline constexpr std::size_t joined_max = 4_KiB;

/// unsent_max: the most bytes that cleat keeps for a receiver that takes no more: a turn,
/// encrypted. While it keeps any, it does not read from their sender.
inline constexpr std::size_t unsent_max = turn_max + record_max;

/// pending_writes_max: buffers in one gather write. Linux takes no more in one call (IOV_MAX).
inline constexpr std::size_t pending_writes_max = 1024;

/// library_call_max: bytes in one call of a TLS library, which counts them with an int.
inline constexpr std::size_t library_call_max = 1U << 30U;

// Time in one pass of a worker's event loop. When it is used up, the worker asks for new events. A
// connection that is being served then is served to the end of its turn.

/// handshake_time: for handshakes. With a shorter time established connections wait less, but the
/// worker asks for events more often: an epoll_wait of a microsecond each time.
inline constexpr std::chrono::microseconds handshake_time{100};

/// handshake_time_max: with more, established connections wait longer than a signature with
/// RSA-4096 takes.
inline constexpr std::chrono::microseconds handshake_time_max{10'000};

/// bulk_time: for transfers.
inline constexpr std::chrono::microseconds bulk_time{250};

/// bulk_min: a connection whose last turn moved more bytes than this, both directions together, is
/// a transfer. A smaller turn takes some 10 us, so connections with smaller turns are all served in
/// the pass that finds them ready.
inline constexpr std::size_t bulk_min = record_max;

// Events.

/// accept_batch_max: connections accepted in a row from a listening socket, before other
/// connections are served.
inline constexpr std::size_t accept_batch_max = 64;

/// events_per_wait: events taken by one epoll_wait. With more, the last of them would wait longer.
inline constexpr int events_per_wait = 256;

/// linger_timeout: how long a client may be silent after the last byte was delivered to it. If we
/// closed at once, bytes that it still sends would cause an RST, which can destroy an answer that
/// it has not read.
inline constexpr std::chrono::seconds linger_timeout{10};

/// fin_delay: how long our FIN waits, after our close_notify, for the client to close. If it closes
/// in that time, our close sends the FIN, and no shutdown call is needed. Longer than nearly every
/// round trip, and too short for a person to notice.
inline constexpr std::chrono::milliseconds fin_delay{100};

/// backlog_pause: the time between two attempts of a worker to connect to a UNIX upstream whose
/// backlog is full.
inline constexpr std::chrono::milliseconds backlog_pause{10};

/// attempt_delay: how long the address of one family has before a server's address of the other
/// family is tried beside it (RFC 8305, section 5, recommends this).
inline constexpr std::chrono::milliseconds attempt_delay{250};

/// family_time: how long a worker remembers that the other address family has answered first, and
/// tries that family first.
inline constexpr std::chrono::seconds family_time{600};

/// family_trial: after family_time one connection tries the original order again. The next one may
/// do so only after this time, when the race of the first has ended.
inline constexpr std::chrono::seconds family_trial{2};

/// handler_end_max: how long a connection's handler may take to end after its interrupt.
inline constexpr std::chrono::milliseconds handler_end_max{1000};

/// descriptor_reserve: where fewer descriptors than this are left, or than an eighth of all, a new
/// connection ends others whose handshake is not finished.
inline constexpr unsigned descriptor_reserve = 64;

/// half_open_many: while so many connections of a worker have not finished their handshake, TLS
/// begins for others when their whole ClientHello has come. A connection that waits for it is then
/// less than half as large.
inline constexpr std::size_t half_open_many = 512;

/// evicted_at_once: how many such connections a worker ends where it has no descriptor or no memory
/// for a new one.
inline constexpr std::size_t evicted_at_once = 16;

/// crowd_min: where more connections than this wait in a listening socket's queue, or more than
/// half of its backlog, a worker reads the ClientHello of all before it serves one, and serves
/// those first that resume a session.
inline constexpr std::size_t crowd_min = 128;

/// crowd_time: in each pass of the worker's loop, the time to accept and read connections while
/// full handshakes wait. It is longer than handshake_time, because a connection that is not read in
/// time is lost.
inline constexpr std::chrono::microseconds crowd_time{500};

/// line_wait_max, line_size_max: a full handshake that would wait for longer than this, or behind
/// more others, is shed. Most clients would wait for longer.
inline constexpr std::chrono::milliseconds line_wait_max{2'000};
inline constexpr std::size_t line_size_max = 4'096;

/// line_sample_min: the wait of a handshake predicts the waits of those behind it where at least
/// this many were before it.
inline constexpr std::size_t line_sample_min = 32;

/// line_share: while handshakes with a cheap signature wait, too, those with a dear one (RSA) get
/// one part in so many of the line's time. line_cost_max: no handshake counts as longer than this,
/// which is longer than a signature: the process may have been stopped.
inline constexpr int line_share = 4;
inline constexpr std::chrono::microseconds line_cost_max{10'000};

/// line_reserve: where the line is full, one in so many of its places more is for handshakes with
/// the other cost of signature.
inline constexpr std::size_t line_reserve = 8;

/// shed_networks_max: networks of clients for which a worker counts the handshakes that are shed.
/// Each costs 96 bytes, and a look for each that is shed. shed_networks_shown: in status.json.
inline constexpr std::size_t shed_networks_max = 64;
inline constexpr std::size_t shed_networks_shown = 20;

/// claims_max: how many handshakes may go ahead of others because their client claims to resume a
/// session, until they have resumed it. claim_renewal: the time after which the credit of one false
/// claim comes back.
inline constexpr std::uint32_t claims_max = 512;
inline constexpr std::chrono::milliseconds claim_renewal{50};

/// accept_pause: the time without accepting after descriptors or memory have run out.
inline constexpr std::chrono::milliseconds accept_pause{100};

/// fast_open_queue: with tcp-fastopen, connections of one listening socket that have sent data and
/// whose handshake of TCP has not ended. The kernel answers others without taking their data.
inline constexpr int fast_open_queue = 256;

/// servers_max: those of an upstream. Each connection remembers in one word which it has tried.
inline constexpr std::size_t servers_max = 64;

/// check_answer_max: bytes of a server's answer in which a check looks for the expected text, a
/// status line or a greeting. They are on the stack.
inline constexpr std::size_t check_answer_max = 4096;

/// server_metrics_max: servers with metrics of their own, of all upstreams together.
inline constexpr std::size_t server_metrics_max = 1000;

/// checks_at_once: checks of servers that are under way at a time. Others wait for the end of one,
/// so that thousands of servers that do not answer hold few descriptors.
inline constexpr std::size_t checks_at_once = 256;

/// preconnect_max: connections that a worker has ready for a server. They are for a burst of
/// clients within one round trip.
inline constexpr int preconnect_max = 1000;

/// preconnects_in_turn: how many of these connections begin in one pass of a worker, at some 20 us
/// each.
inline constexpr std::size_t preconnects_in_turn = 16;

/// preconnect_timeout: for such a connection to be established, with the handshake of TLS. No
/// client waits for it.
inline constexpr std::chrono::milliseconds preconnect_timeout{5'000};

/// preconnect_pause_min, preconnect_pause_max: between two attempts to have connections ready for a
/// server that does not accept, or closes them.
inline constexpr std::chrono::milliseconds preconnect_pause_min{1'000};
inline constexpr std::chrono::milliseconds preconnect_pause_max{32'000};

/// server_sessions_max: sessions that a client keeps of one server. A session of
/// TLS 1.3 is for one connection, and a burst of connections begins before the first brings more.
inline constexpr std::size_t server_sessions_max = 16;

/// saved_session_max: the longest session that is read from bytes. A ticket has at most 64 KiB, and
/// the peer's chain is beside it.
inline constexpr std::size_t saved_session_max = 1U << 20U;

/// session_answer_time: how long a handshake waits for a session that another worker has. That
/// worker answers in its next pass; without an answer the handshake is a full one.
inline constexpr std::chrono::milliseconds session_answer_time{100};

/// cached_session_max: the largest session that a session_id_cache keeps: that of a client with a
/// long chain of certificates. It is encoded on the stack.
inline constexpr std::size_t cached_session_max = 16_KiB;

/// cached_session_size: the bytes that a session in a session_id_cache may take on average. A
/// session takes at most 350 bytes and its client's certificates.
inline constexpr std::size_t cached_session_size = 1_KiB;

/// cached_servers_max: servers whose sessions a session_cache keeps. Each takes 200 bytes, and 1 to
/// 2 KiB for each of its sessions.
inline constexpr std::size_t cached_servers_max = 1'000;

/// service_targets_max: servers of an upstream that one name with SRV records stands for. Their
/// places are taken from servers_max at the start, because a worker's counts have fixed places.
inline constexpr std::size_t service_targets_max = 8;

/// routes_of_name_max: routes of a frontend for the same name. They are looked through one after
/// the other; those of other names cost nothing.
inline constexpr std::size_t routes_of_name_max = 64;

// Bytes of a peer that is not trusted yet.

/// proxy_header_max: a PROXY v2 header with its TLVs, without certificates.
inline constexpr std::size_t proxy_header_max = 4096;

/// proxy_certificate_max: the PEM text of a client's certificate in a PROXY v2 header. Those of
/// ML-DSA-87 have some 10 KiB; the length of a header has 16 bits.
inline constexpr std::size_t proxy_certificate_max = 32 * 1024;

/// client_hello_max: the bytes of a ClientHello, with the headers of its records, that is read
/// before a route is chosen. Clients with post-quantum key shares send some 2 KiB. A passthrough's
/// upstream may take more than terminated_hello_max.
inline constexpr std::size_t client_hello_max = 64_KiB;

/// terminated_hello_max: the longest ClientHello, without the header of its message, of a client
/// whose TLS ends here. AWS-LC and BoringSSL take no longer one from a client without a
/// certificate; OpenSSL by itself would hold 128 KiB for each unfinished handshake. Where the first
/// nine bytes come in several parts, only the TLS library's own limit holds.
inline constexpr std::size_t terminated_hello_max = 16 * 1024;

/// fingerprint_values_max: cipher suites, extensions or signature algorithms in a client's
/// fingerprint. All known clients offer fewer than a hundred.
inline constexpr std::size_t fingerprint_values_max = 256;

/// logged_offers_max: cipher suites, groups or versions of a client that the log names where
/// nothing could be agreed on. Browsers offer about 16 suites, and old clients up to 80.
inline constexpr std::size_t logged_offers_max = 24;

// Rules for clients' certificates, which are files of the operator's.

/// allow_rules_max: the rules of one frontend. A handshake goes through them one after the other:
/// some 10 ns for each.
inline constexpr std::size_t allow_rules_max = 1000;

/// allow_file_max: a file of rules. A rule is a line or two.
inline constexpr std::size_t allow_file_max = 4_MiB;

/// rule_text_max: names of a certificate in a log line about a rule that it does not meet.
inline constexpr std::size_t rule_text_max = 200;

/// crl_file_max: a file of CRLs. Those of the largest public authorities have some 10 MiB.
inline constexpr std::size_t crl_file_max = 64_MiB;

// Lists of addresses, which are files of the operator's.

/// address_prefixes_max: the prefixes of one list. While it is read, each IPv6 prefix takes 17
/// bytes; in the list, 40 at most.
inline constexpr std::size_t address_prefixes_max = 4'000'000;

/// address_list_file_max: a file of prefixes, one a line, with some room for comments.
inline constexpr std::size_t address_list_file_max = 128_MiB;

/// address_list_faults_max: the mistakes of one file that are reported, each by its line. The
/// others are counted: a file of another kind has a mistake on every line.
inline constexpr std::size_t address_list_faults_max = 5;

// Tickets.

/// ticket_delay: how long a session ticket waits after the handshake for an answer, to share its
/// packet. A request that is on its way comes in that time. A client that waits for the ticket, or
/// for the acknowledgment that it carries, does not notice the delay.
inline constexpr std::chrono::milliseconds ticket_delay{1};

/// ticket_lifetime_max: RFC 8446, section 4.6.1, allows seven days.
inline constexpr std::chrono::seconds ticket_lifetime_max = std::chrono::hours{7 * 24};

/// ticket_epochs_max: epochs that a ticket may live. Each of a worker's contexts keeps the keys of
/// all of them, 80 bytes each, and compares the name of a ticket with theirs.
inline constexpr int ticket_epochs_max = 48;

/// ticket_ratchet_steps_max: epochs that a ratchet of ticket keys moves on at once: 69 days of the
/// shortest ones, which take a worker up to half a second. More is a clock that is wrong.
inline constexpr std::int64_t ticket_ratchet_steps_max = 100'000;

/// ticket_epoch_look: how often the main thread compares the clock with the epoch of ratchets. The
/// clock may be set.
inline constexpr std::chrono::seconds ticket_epoch_look{60};

/// tickets_max: tickets with one handshake. AWS-LC and BoringSSL send no more.
inline constexpr unsigned tickets_max = 16;

/// ticket_secrets_max: secrets that open tickets at the same time. A rotation needs two or three.
inline constexpr std::size_t ticket_secrets_max = 8;

/// ticket_secret_file_max: a file of secrets, with some room for comments.
inline constexpr std::size_t ticket_secret_file_max = 16_KiB;

// Certificates that are loaded when a client first needs them.

/// certificate_failure_time: how long a file that could not be used is not read again. A client
/// that asks for its name over and over costs no reading, and a repaired file serves soon.
inline constexpr std::chrono::seconds certificate_failure_time{10};

/// certificate_failures_max: such files that a worker remembers; the oldest is forgotten first.
inline constexpr std::size_t certificate_failures_max = 64;

/// compressed_certificates_max: compressed certificate messages that each of a worker's contexts
/// keeps, of about 6 KiB each; the least recently used is dropped first.
inline constexpr std::size_t compressed_certificates_max = 256;

/// certificates_read_together: files that a thread takes from the common list at a time, at the
/// start. Enough that threads seldom contend for the list, and few enough that they end at about
/// the same time.
inline constexpr std::size_t certificates_read_together = 64;

/// certificate_index_max: the size of the index file. A certificate takes some 150 bytes of it.
inline constexpr std::size_t certificate_index_max = 1024 * 1_MiB;

/// certificates_looked_at_again: how many certificates of the last reload are read again because
/// they had changed too lately for a stamp.
inline constexpr std::size_t certificates_looked_at_again = 100;

/// certificates_proved_max: changed certificates of a reload that are tried out with handshakes,
/// half a millisecond each. More are a new set of certificates, and not a renewal.
inline constexpr std::size_t certificates_proved_max = 1000;

/// certificate_readers_max: threads that read certificates at the start.
inline constexpr std::size_t certificate_readers_max = 16;

/// expiry_lines_max: how many expiring certificates one look names in the log; it counts the
/// others.
inline constexpr std::size_t expiry_lines_max = 10;

// Limits of clients.

/// client_table_max: clients that a worker has places for, at 18 bytes each. No machine has more
/// clients than this at a time.
inline constexpr int client_table_max = 16 * 1024 * 1024;

/// client_share_min: connections and tokens that each of several workers lets a client have at
/// least, up to the client's limit of connections: by chance the kernel gives a few in a row to one
/// worker.
inline constexpr std::uint32_t client_share_min = 4;

// Log.

/// log_line_max: bytes of a log line, which is built on the stack: enough for the fields of any
/// event.
inline constexpr std::size_t log_line_max = 2048;

/// log_value_max: characters of one value in the log, escaped: a peer's value leaves room for the
/// other fields.
inline constexpr std::size_t log_value_max = 512;

/// failure_interval: the time in which each reason for a failure has log-burst lines.
inline constexpr std::chrono::milliseconds failure_interval{60'000};

/// failure_reasons_max: reasons that a worker distinguishes in that time. It keeps 64 bytes for
/// each.
inline constexpr std::size_t failure_reasons_max = 48;

/// access_log_ring: lines of the access log that each worker keeps for the thread that writes them:
/// half a second of a core's handshakes. Only used pages cost memory.
inline constexpr std::size_t access_log_ring = 1_MiB;

/// access_log_pause: how long lines are collected before they are written together. A person who
/// follows the file does not notice it.
inline constexpr std::chrono::milliseconds access_log_pause{50};

/// access_log_block: how much is written at once.
inline constexpr std::size_t access_log_block = 64_KiB;

/// access_log_rotation_interval: the time between two checks that the file still has its name.
inline constexpr std::chrono::milliseconds access_log_rotation_interval{1'000};

/// access_log_end_time: how long the end of the program waits for a reader or a disk that takes no
/// more lines.
inline constexpr std::chrono::milliseconds access_log_end_time{500};

/// access_log_look_interval: the time between two checks for lost lines. At most one result in
/// access_log_report_interval is logged.
inline constexpr std::chrono::milliseconds access_log_look_interval{1'000};
inline constexpr std::chrono::milliseconds access_log_report_interval{60'000};

// The admin server.

/// admin_connections_max: enough for a few scrapers, health checks and a browser. More get 503.
inline constexpr std::size_t admin_connections_max = 16;

/// admin_header_max: a browser's headers have some 2 KiB.
inline constexpr std::uint32_t admin_header_max = 8 * 1024;

/// admin_body_max: no command needs a body; curl may send a short one.
inline constexpr std::uint64_t admin_body_max = 4 * 1024;

/// admin_request_time: from a request's first byte to its last, and as long for the answer: a
/// client that is stuck does not keep its place.
inline constexpr std::chrono::milliseconds admin_request_time{5'000};

/// admin_idle_time: between two requests on a connection. Prometheus asks every 15 to 60 seconds.
inline constexpr std::chrono::milliseconds admin_idle_time{120'000};

/// admin_linger_time, admin_linger_max: how long, and for how many bytes, a connection is still
/// read from after its last answer.
inline constexpr std::chrono::milliseconds admin_linger_time{1'000};
inline constexpr std::size_t admin_linger_max = 64_KiB;

/// admin_answer_time: for all workers to answer a health check. A turn of a worker takes less than
/// a millisecond, and a machine may be busy.
inline constexpr std::chrono::milliseconds admin_answer_time{1'000};

/// admin_queue_time: for workers to report the length of their queues before /metrics answers.
inline constexpr std::chrono::milliseconds admin_queue_time{20};

/// admin_soonest_max, admin_names_max: how many of the certificates that end first are on the
/// status page, and how many names of each. The page also says how many there are in all.
inline constexpr std::size_t admin_soonest_max = 12;
inline constexpr std::size_t admin_names_max = 3;

/// admin_problems_max: how many problems of a refused reload the status page names. `cleat reload`
/// names more, and the log 20 of each grade.
inline constexpr std::size_t admin_problems_max = 5;

/// certificate_metrics_max: certificates with a metric of their own. Each is a time series, which
/// stays the same when the certificate is renewed.
inline constexpr int certificate_metrics_max = 1'000;

/// admin_end_time: for answers that are on their way when the program ends.
inline constexpr std::chrono::milliseconds admin_end_time{1'000};

// Files.

/// config_lines_max: far beyond any configuration; a file of another kind is refused early.
inline constexpr std::size_t config_lines_max = 100'000;

/// config_line_max: one line of a configuration file; a cipher list is the longest in practice.
inline constexpr std::size_t config_line_max = 64_KiB;

/// pem_file_max: a certificate, its chain and its key; a larger file is of another kind.
inline constexpr std::size_t pem_file_max = 1_MiB;

/// sysfs_file_max: one file of sysfs, procfs or cgroupfs. A CPU list fits one page.
inline constexpr std::size_t sysfs_file_max = 64_KiB;

/// opener_answer_time: for the process that opens root's files to answer. A local disk answers in
/// milliseconds; a network file system that hangs must not hold a reload for ever.
inline constexpr std::chrono::milliseconds opener_answer_time{30'000};

// Machine.

/// cpus_max: CPU numbers go below this; Linux stops at 8192, and a list from a file is not trusted.
inline constexpr int cpus_max = 65'536;

/// cgroup_depth_max: levels of control groups in which a limit is read.
inline constexpr int cgroup_depth_max = 64;

/// cpu_quota_share: of the CPU quota of our control group, the part that transfers and handshakes
/// leave used on average. With all of it the process would often have none left for requests of
/// established connections.
inline constexpr double cpu_quota_share = 0.95;

/// cpu_credit_part: of the quota of one period, what handshakes and transfers use before they wait
/// again. With more the quota is used up in some periods, and with less the caches are cold more
/// often (docs/decisions/cpu-quota.md).
inline constexpr double cpu_credit_part = 0.40;

/// worker_question_interval: the time between two questions to a worker whether its loop runs: a
/// wake-up a second. worker_held_after: a worker that has not answered for this long counts as
/// held. A turn of its loop takes some milliseconds; with lock_memory off, pages that were swapped
/// out take longer.
inline constexpr std::chrono::milliseconds worker_question_interval{1'000};
inline constexpr std::chrono::milliseconds worker_held_after{2'000};

/// workers_max: workers in a process; a larger number in a configuration is a typing error.
inline constexpr int workers_max = 1024;

static_assert(turn_min >= record_max && turn_max >= turn_min);

} // namespace cleat::limits
