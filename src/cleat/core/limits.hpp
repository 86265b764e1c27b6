// Every bound of cleat, by name, with its reason. A loop, queue, buffer or wait without one is a
// bug.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace cleat::limits {

inline constexpr std::size_t operator""_KiB(unsigned long long n)
{
    return n * 1024;
}
inline constexpr std::size_t operator""_MiB(unsigned long long n)
{
    return n * 1024 * 1024;
}

// Records.

/// plaintext_record_max: RFC 8446 section 5.1 and RFC 5246 section 6.2.1 allow 2^14 bytes and no
/// more.
inline constexpr std::size_t plaintext_record_max = 16_KiB;

/// record_header_size: type, version and length (RFC 8446 section 5.1).
inline constexpr std::size_t record_header_size = 5;

/// record_overhead_max: header, and the most that a record grows by: a TLS 1.2 CBC record's IV
/// (16), SHA-384 MAC (48) and padding (256). TLS 1.3 allows 256 in all (RFC 8446 section 5.2). RFC
/// 5246 would permit 2048, but no cipher suite needs it and TLS libraries refuse it.
inline constexpr std::size_t record_overhead_max = record_header_size + 16 + 48 + 256;

/// record_max: the longest record on the wire, and so the least that a receive block must hold.
inline constexpr std::size_t record_max = plaintext_record_max + record_overhead_max;

// Turns: how much moves between two visits to the kernel.

/// turn_min: below 64 KiB a relay pays more for wake-ups and system calls than for encryption.
inline constexpr std::size_t turn_min = 64_KiB;

/// turn_max: turns of 1 MiB were the cheapest per byte of those measured; longer ones make other
/// connections wait.
inline constexpr std::size_t turn_max = 1_MiB;

/// joined_max: up to this many waiting bytes are copied in front of the next ones, for one send;
/// more are sent first.
inline constexpr std::size_t joined_max = 4_KiB;

/// unsent_max: bytes in our memory that one slow receiver has not taken: a turn, sealed. Its sender
/// is not read meanwhile.
inline constexpr std::size_t unsent_max = turn_max + record_max;

/// pending_writes_max: buffers in one gather write; Linux takes no more in one call (IOV_MAX).
inline constexpr std::size_t pending_writes_max = 1024;

/// library_call_max: TLS libraries count the bytes of one call with an int.
inline constexpr std::size_t library_call_max = 1U << 30U;

// Time: how long a worker may work before it asks for new events.

/// handshake_time: for public-key work in a turn of a worker's loop, and one step more. With a
/// shorter time established connections wait less, and the worker asks the kernel for events more
/// often: an epoll_wait of a microsecond each time.
inline constexpr std::chrono::microseconds handshake_time{100};

/// bulk_time: for transfers in a turn of a worker's loop, and one transfer's turn more.
inline constexpr std::chrono::microseconds bulk_time{250};

/// bulk_min: a connection that moved more bytes than this in its last turn, both ways together, is
/// a transfer. Other turns take some 10 us, so that all that one wait found are served at once.
inline constexpr std::size_t bulk_min = record_max;

// Events.

/// accept_batch_max: connections accepted from a listening socket before other tasks get their
/// turn.
inline constexpr int accept_batch_max = 64;

/// queued_connections_max: connections accepted from a listening socket before it is closed; more
/// than any backlog in practice.
inline constexpr int queued_connections_max = 65'536;

/// events_per_wait: events taken from the kernel at once; with more the last one waits longer.
inline constexpr int events_per_wait = 256;

/// linger_timeout: how long a client may be silent after the last byte was delivered to it. If we
/// closed at once, bytes that it still sends would cause an RST, which can destroy an answer that
/// it has not read.
inline constexpr std::chrono::seconds linger_timeout{10};

/// fin_delay: how long we wait after a close_notify for the client to close, so that closing sends
/// our FIN without a call of its own. Longer than nearly every round trip, and too short for a
/// person to notice.
inline constexpr std::chrono::milliseconds fin_delay{100};

/// backlog_pause: between two tries of a worker to reach a UNIX upstream whose backlog is full.
inline constexpr std::chrono::milliseconds backlog_pause{10};

/// handler_farewell: how long a connection's handler may take to end after its interrupt.
inline constexpr std::chrono::milliseconds handler_farewell{1000};

/// accept_pause: before accepting again after running out of descriptors or memory.
inline constexpr std::chrono::milliseconds accept_pause{100};

// Bytes of a peer that is not trusted yet.

/// proxy_header_max: a PROXY v2 header with its TLVs; certificates are not passed on in it.
inline constexpr std::size_t proxy_header_max = 4096;

// Tickets.

/// ticket_delay: how long a session ticket waits after the handshake, to be sent with an answer. A
/// request that is on its way comes within that time, and a client that waits for the ticket, or
/// for the acknowledgment that it carries, does not notice it.
inline constexpr std::chrono::milliseconds ticket_delay{1};

/// ticket_lifetime_max: RFC 8446 section 4.6.1 allows seven days.
inline constexpr std::chrono::seconds ticket_lifetime_max = std::chrono::hours{7 * 24};

// Certificates that are loaded when a client first needs them.

/// certificate_failure_time: how long a file that could not be used is not read again. A client
/// that asks for its name over and over costs no reading, and a repaired file serves soon.
inline constexpr std::chrono::seconds certificate_failure_time{10};

/// certificate_failures_max: such files that a worker remembers; the oldest is forgotten first.
inline constexpr std::size_t certificate_failures_max = 64;

/// certificates_read_together: files that a thread reads at the start before it looks for more.
/// Enough that threads seldom meet, and few enough that they end together.
inline constexpr std::size_t certificates_read_together = 64;

/// certificate_readers_max: threads that read certificates at the start.
inline constexpr std::size_t certificate_readers_max = 16;

/// expiry_lines_max: certificates about to expire that the log names at the start; it counts the
/// others.
inline constexpr std::size_t expiry_lines_max = 10;

// Log.

/// log_line_max: a line is built on the stack and written whole; it holds every field that we log.
inline constexpr std::size_t log_line_max = 2048;

/// log_value_max: characters of one value, escaped, so that a peer's value leaves room for others.
inline constexpr std::size_t log_value_max = 512;

// Files.

/// config_lines_max: far beyond any configuration; a file of another kind is refused early.
inline constexpr std::size_t config_lines_max = 10'000;

/// config_line_max: one line of a configuration file; a cipher list is the longest in practice.
inline constexpr std::size_t config_line_max = 64_KiB;

/// pem_file_max: a certificate, its chain and its key; a larger file is of another kind.
inline constexpr std::size_t pem_file_max = 1_MiB;

/// sysfs_file_max: one file of sysfs, procfs or cgroupfs. A CPU list fits one page.
inline constexpr std::size_t sysfs_file_max = 64_KiB;

// Machine.

/// cpus_max: CPU numbers go below this; Linux stops at 8192, and a list from a file is not trusted.
inline constexpr int cpus_max = 65'536;

/// cgroup_depth_max: levels of control groups in which a CPU limit is read.
inline constexpr int cgroup_depth_max = 64;

/// workers_max: workers in a process; a larger number in a configuration is a typing error.
inline constexpr int workers_max = 1024;

static_assert(turn_min >= record_max && turn_max >= turn_min);

} // namespace cleat::limits
