// handshakes.hpp: the parts that all programs of the libraries' study share: threads, clocks, and
// the order in which client and server of a pair send.
//
// A Library brings these, and a side is the client or the server of one connection:
//
//     Library::version()                // name and version
//     Library::contexts(task)           // what connections share; throws unsupported
//     Library::thread_state(contexts&)  // kept by a thread between its connections
//     Library::side(thread_state&, role)
//
//     bool side::shake(bytes)           // reads the peer's bytes; true: established
//     bytes side::outgoing()            // for the peer, before the next call
//     void side::send()                 // adds a byte of plaintext to it
//     bool side::receive(bytes)         // whether there was such a byte
//     void side::ask_again()            // server: asks for a renegotiation
//     void side::expect_again()         // from now on shake reports a new handshake
//     void side::check(bool resumed)    // throws unless the handshake is as asked
#pragma once

#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace study {

using bytes = std::span<char const>;

enum class handshake_kind
{
    full,
    ticket,
    id,
    renegotiate
};
enum class sharing
{
    shared,
    thread,
    library
};
enum class role
{
    client,
    server
};

/// task is one command line.
struct task
{
    std::string version = "1.3";
    std::string kind_name = "full";
    std::string key = "ecdsa-p256";
    std::string group = "x25519";
    std::string contexts_name = "shared";
    std::string certificate; // a PEM file with certificate and key
    unsigned threads = 1;
    double seconds = 1;
    handshake_kind kind = handshake_kind::full;
    sharing contexts = sharing::shared;

    bool tls13() const { return version == "1.3"; }
    bool post_quantum() const { return group == "x25519mlkem768"; }
    bool rsa() const { return key == "rsa-2048"; }
    bool resumes() const { return kind == handshake_kind::ticket || kind == handshake_kind::id; }
};

/// unsupported is what a library, or TLS, does not have: an answer, and no failure.
struct unsupported : std::runtime_error
{
    using runtime_error::runtime_error;
};

/// tally is what one thread has done. Times are nanoseconds of its CPU time.
struct alignas(64) tally
{
    std::uint64_t handshakes = 0;
    std::uint64_t resumed = 0;
    std::uint64_t cpu = 0; // of all of them
    std::chrono::steady_clock::time_point began;
    std::chrono::steady_clock::time_point ended;

    // Of the timed ones alone: in the calls of each side, and between them.
    std::uint64_t client = 0;
    std::uint64_t server = 0;
    std::uint64_t neither = 0;
    std::uint64_t readings = 0; // of the clock
};

/// task_of reads a command line; it ends the program where that is wrong.
task task_of(int argc, char** argv);

/// print writes the one line of JSON.
void print(task const& use, std::string const& library, std::vector<tally> const& tallies);
void print_unsupported(task const& use, std::string const& library, char const* why);

inline std::uint64_t thread_cpu_ns()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec);
}

/// laps_clock tells which side has used how much of a thread's CPU time.
///
/// The clock is the thread's own CPU clock: with more threads than cores, any other one would count
/// the time in which a thread waits for a core against the side that it stopped in. A reading is a
/// system call of up to 1 us, so only one connection of `timed_of` is timed, with a dozen readings,
/// and their own time is subtracted. Each side then has that part of the thread's whole CPU time
/// which it has of the timed connections'.
class laps_clock
{
public:
    static constexpr std::uint64_t timed_of = 32;

    // `reading` is what a reading takes, as reading_ns says.
    laps_clock(tally& counts, std::uint64_t reading, bool timed)
        : counts_(counts), reading_(reading), timed_(timed), last_(timed ? thread_cpu_ns() : 0)
    {
    }

    void client() { lap(counts_.client); }
    void server() { lap(counts_.server); }
    void neither() { lap(counts_.neither); }

    /// reading_ns measures what a reading takes, on this thread.
    static std::uint64_t reading_ns()
    {
        constexpr std::uint64_t count = 200;
        std::uint64_t const before = thread_cpu_ns();
        std::uint64_t after = before;
        for (std::uint64_t i = 0; i < count; ++i)
            after = thread_cpu_ns();
        return (after - before) / count;
    }

private:
    void lap(std::uint64_t& side)
    {
        if (!timed_)
            return;
        std::uint64_t const now = thread_cpu_ns();
        std::uint64_t const took = now - last_;
        side += took > reading_ ? took - reading_ : 0;
        counts_.readings += reading_;
        last_ = now;
    }

    tally& counts_;
    std::uint64_t reading_;
    bool timed_;
    std::uint64_t last_;
};

/// connections is a thread's: one client and one server at a time, and the bytes between them.
template <class Library>
class connections
{
public:
    connections(typename Library::contexts& contexts, task const& use)
        : use_(use), thread_(contexts)
    {
        tally unheeded;
        laps_clock clock{unheeded, 0, false};
        if (use_.resumes())
            connect(false, clock, unheeded); // brings the session
        if (use_.kind == handshake_kind::renegotiate)
            open(clock);
        for (int warm = 0; warm < warm_up; ++warm)
            one(clock, unheeded);
    }

    /// one makes one handshake of the kind that is measured.
    void one(laps_clock& clock, tally& counts)
    {
        if (use_.kind == handshake_kind::renegotiate)
            again(clock, counts);
        else
            connect(use_.resumes(), clock, counts);
    }

private:
    static constexpr int turns_max = 10; // no handshake here takes more than four
    static constexpr int warm_up = 5;

    void connect(bool resumed, laps_clock& clock, tally& counts)
    {
        open(clock);
        close(resumed, clock, counts);
    }

    void open(laps_clock& clock)
    {
        client_.emplace(thread_, role::client);
        clock.client();
        server_.emplace(thread_, role::server);
        clock.server();
        handshake(clock);
    }

    // Both sides live until here, so that making and freeing them is a part of each one's cost.
    void close(bool resumed, laps_clock& clock, tally& counts)
    {
        count(resumed, clock, counts);
        server_.reset();
        clock.server();
        client_.reset();
        clock.client();
    }

    void again(laps_clock& clock, tally& counts)
    {
        client_->expect_again();
        server_->expect_again();
        clock.neither();
        server_->ask_again();
        clock.server();
        handshake(clock);
        count(false, clock, counts);
    }

    // It ends with a byte from the server: some libraries send the tickets of TLS 1.3 only with it,
    // and it proves that both sides have the same keys.
    void handshake(laps_clock& clock)
    {
        bool client_done = false;
        bool server_done = false;
        for (int turn = 0; !client_done || !server_done; ++turn) {
            if (turn == turns_max)
                throw std::runtime_error("the handshake does not end");
            client_done = client_->shake(server_->outgoing());
            clock.client();
            server_done = server_->shake(client_->outgoing());
            if (client_done && server_done)
                server_->send();
            clock.server();
        }
        if (!client_->receive(server_->outgoing()))
            throw std::runtime_error("the server's byte did not arrive");
        clock.client();
    }

    void count(bool resumed, laps_clock& clock, tally& counts)
    {
        client_->check(resumed);
        server_->check(resumed);
        ++counts.handshakes;
        counts.resumed += resumed ? 1 : 0;
        clock.neither();
    }

    task const& use_;
    typename Library::thread_state thread_;
    std::optional<typename Library::side> client_;
    std::optional<typename Library::side> server_;
};

/// work is a thread: it gets ready, waits for the others, and makes handshakes until time is up.
template <class Library>
void work(
    task const& use, typename Library::contexts* shared, std::barrier<>& start, tally& counted)
{
    std::optional<typename Library::contexts> own;
    std::optional<connections<Library>> mine;
    try {
        if (shared == nullptr)
            own.emplace(use);
        mine.emplace(shared == nullptr ? *own : *shared, use);
    } catch (...) {
        start.arrive_and_drop();
        throw;
    }
    start.arrive_and_wait();
    std::uint64_t const reading = laps_clock::reading_ns();
    tally local; // on this thread's stack while it counts
    local.began = std::chrono::steady_clock::now();
    local.ended = local.began;
    std::uint64_t const cpu_before = thread_cpu_ns();
    do {
        laps_clock clock{local, reading, local.handshakes % laps_clock::timed_of == 0};
        mine->one(clock, local);
        local.ended = std::chrono::steady_clock::now();
    } while (local.ended - local.began < std::chrono::duration<double>{use.seconds});
    local.cpu = thread_cpu_ns() - cpu_before - local.readings;
    counted = local;
}

template <class Library>
void measure(task const& use)
{
    std::optional<typename Library::contexts> shared;
    if (use.contexts == sharing::shared)
        shared.emplace(use);
    std::vector<tally> tallies(use.threads);
    std::barrier start{static_cast<std::ptrdiff_t>(use.threads)};
    std::exception_ptr failed;
    std::mutex failing;
    std::vector<std::thread> threads;
    for (tally& each : tallies)
        threads.emplace_back([&] {
            try {
                work<Library>(use, shared ? &*shared : nullptr, start, each);
            } catch (...) {
                std::lock_guard const held{failing};
                failed = std::current_exception();
            }
        });
    for (std::thread& each : threads)
        each.join();
    if (failed)
        std::rethrow_exception(failed);
    print(use, Library::version(), tallies);
}

/// run is a program's main. 0: a line of JSON was printed, with figures or with why there are none.
template <class Library>
int run(int argc, char** argv)
{
    task const use = task_of(argc, argv);
    try {
        if (use.post_quantum() && !use.tls13())
            throw unsupported("TLS 1.2 has no such group");
        if (use.kind == handshake_kind::renegotiate && use.tls13())
            throw unsupported("TLS 1.3 has no renegotiation");
        measure<Library>(use);
        return 0;
    } catch (unsupported const& why) {
        print_unsupported(use, Library::version(), why.what());
        return 0;
    } catch (std::exception const& failure) {
        std::string const text = std::string{argv[0]} + ": " + failure.what() + "\n";
        std::fputs(text.c_str(), stderr);
        return 1;
    }
}

} // namespace study
