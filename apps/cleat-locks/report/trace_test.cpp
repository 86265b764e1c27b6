#include "report/profile.hpp"
#include "report/report_json.hpp"
#include "report/report_text.hpp"
#include "report/trace.hpp"

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <stdlib.h>
#include <sys/stat.h>

namespace cleat::locks::trace_test {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t slots = sizeof(trace_header);
constexpr std::size_t locks_begin = slots + sizeof(trace_slot[trace_slots_max]);
constexpr std::size_t first_block = trace_tables_bytes;
constexpr std::size_t block_size = trace_block_bytes;

// folder is a temporary directory for one test.
struct folder
{
    folder()
    {
        std::string name = (fs::temp_directory_path() / "cleat-locks-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path = name;
    }
    folder(folder const&) = delete;
    folder& operator=(folder const&) = delete;
    ~folder()
    {
        std::error_code ec;
        fs::remove_all(path, ec);
    }
    fs::path put(std::string const& bytes, char const* name = "1.trace") const
    {
        std::ofstream{path / name, std::ios::binary} << bytes;
        return path / name;
    }
    fs::path path;
};

trace_header header_for_test()
{
    trace_header made{};
    std::memcpy(made.magic, TRACE_MAGIC, sizeof made.magic);
    made.header_size = sizeof(trace_header);
    made.slot_size = sizeof(trace_slot);
    made.lock_size = sizeof(trace_lock);
    made.thread_size = block_size;
    made.ready = 1;
    made.began_ns = 1000;
    made.ended_ns = 9000;
    made.pid = 1;
    made.blocks = made.threads = made.locks = 1;
    std::strcpy(made.program, "/bin/subject");
    return made;
}

// one_block is a thread that took lock 0 five times, with a stack of two frames.
std::unique_ptr<trace_thread> one_block()
{
    auto made = std::make_unique<trace_thread>();
    made->state = trace_running;
    made->threads = 1;
    made->began_ns = 1000;
    made->seen_ns = 5000;
    trace_site& site = made->site[17];
    site.key = 99;
    site.return_to = 0x1234;
    site.how = trace_exclusive;
    site.acquisitions = site.attributed_acquisitions = 5;
    trace_stack stack{};
    stack.depth = 2;
    stack.size = sizeof stack / 8 + 2;
    stack.what = trace_taken;
    stack.how = trace_exclusive;
    stack.count = 5;
    std::memcpy(made->words, &stack, sizeof stack);
    made->words[sizeof stack / 8] = 0x1234;
    made->words[sizeof stack / 8 + 1] = 0x5678;
    return made;
}

std::string whole(trace_header const& header, trace_thread const& block)
{
    std::string made(first_block + block_size, '\0');
    std::memcpy(made.data(), &header, sizeof header);
    trace_lock lock{};
    lock.address = 0x4000;
    lock.kind = trace_mutex;
    lock.instances = 1;
    lock.threads = 1;
    lock.ready = 1;
    std::memcpy(made.data() + locks_begin, &lock, sizeof lock);
    std::memcpy(made.data() + first_block, &block, sizeof block);
    return made;
}

std::string whole()
{
    return whole(header_for_test(), *one_block());
}

// acquisitions reads a trace as any command does.
std::uint64_t acquisitions(fs::path const& path)
{
    std::vector<traced_process> const found = read_trace(path);
    return make_profile(found).total.acquisitions;
}

} // namespace

TEST_CASE("a trace is read as it was written")
{
    folder const traces;
    std::vector<traced_process> const found = read_trace(traces.put(whole()));
    REQUIRE(found.size() == 1);
    CHECK(found[0].pid == 1);
    CHECK(found[0].ended);
    REQUIRE(found[0].threads.size() == 1);
    REQUIRE(found[0].threads[0].stacks.size() == 1);
    CHECK(found[0].threads[0].stacks[0].frames == std::vector<std::uint64_t>{0x1234, 0x5678});
    CHECK(found[0].threads[0].sites[0].acquisitions == 5);
    CHECK(found[0].threads[0].lived_ns == 8000);
    CHECK(acquisitions(traces.path) == 5);
}

TEST_CASE("a trace that was cut is an error within its tables, and without threads behind them")
{
    folder const traces;
    std::string const all = whole();
    constexpr std::size_t tables_end =
        locks_begin + sizeof(trace_lock[trace_locks_max]); // Without padding to a page.
    std::size_t errors = 0;
    std::size_t partial = 0;
    for (std::size_t size = 0; size < all.size(); size += size < slots + 100 ? 97 : 100'003) {
        fs::path const file = traces.put(all.substr(0, size));
        if (size < tables_end) {
            CHECK_THROWS_WITH_AS(
                static_cast<void>(acquisitions(file)), doctest::Contains("1.trace: "),
                std::runtime_error);
            ++errors;
        } else {
            CHECK(acquisitions(file) == 0);
            ++partial;
        }
    }
    CHECK(errors > 50);
    CHECK(partial > 5);
}

TEST_CASE("blocks that were cut off are counted, without those that had no room")
{
    folder const traces;
    trace_header header = header_for_test();
    header.blocks = 3;
    std::string const one = whole(header, *one_block());
    std::string const all = one + one.substr(first_block) + one.substr(first_block);
    auto const cut = [&](std::string const& bytes) {
        return make_profile(read_trace(traces.put(bytes))).processes[0].blocks_cut;
    };
    CHECK(cut(all) == 0);
    CHECK(cut(all.substr(0, all.size() - 1)) == 1);
    CHECK(cut(all.substr(0, all.size() - 4096)) == 1);
    CHECK(cut(all.substr(0, all.size() - block_size)) == 1);
    CHECK(cut(all.substr(0, all.size() - block_size - 1)) == 2);
    CHECK(cut(all.substr(0, first_block)) == 3);
    CHECK(acquisitions(traces.put(all.substr(0, all.size() - 4096))) == 10);

    header.threads_lost = 1; // The third one, say.
    std::string const two = whole(header, *one_block()) + one.substr(first_block);
    CHECK(cut(two) == 0);
    CHECK(cut(two.substr(0, two.size() - 4096)) == 1);
    CHECK(make_profile(read_trace(traces.put(two))).processes[0].lost == 1);
}

TEST_CASE("a cut is in the text and in the JSON")
{
    folder const traces;
    trace_header header = header_for_test();
    header.blocks = 2;
    profile const found = make_profile(read_trace(traces.put(whole(header, *one_block()))));
    CHECK(
        report_text(found, 10).find(
            "; the trace is cut short: 1 of its 2 thread records is missing\n") !=
        std::string::npos);
    auto const json = boost::json::serialize(to_json(found));
    CHECK(json.find("\"blocks\":2,\"blocks_cut\":1") != std::string::npos);
    profile const whole_one = make_profile(read_trace(traces.put(whole())));
    CHECK(report_text(whole_one, 10).find("cut short") == std::string::npos);
}

TEST_CASE("a path that is neither a file nor a folder is an error that says so")
{
    folder const traces;
    CHECK_THROWS_WITH_AS(
        static_cast<void>(read_trace("/dev/null")),
        "/dev/null: this is neither a file nor a folder: give what `cleat-locks run -o` wrote",
        std::runtime_error);
    // Opening a pipe would wait for its other end.
    REQUIRE(::mkfifo((traces.path / "1.trace").c_str(), 0600) == 0);
    CHECK_THROWS_WITH(
        static_cast<void>(read_trace(traces.path)),
        doctest::Contains("neither a file nor a folder"));
}

TEST_CASE("a lock that is not in its table is left out")
{
    folder const traces;
    auto block = one_block();
    block->site[17].lock = 1;
    auto stack = trace_stack{};
    std::memcpy(&stack, block->words, sizeof stack);
    stack.lock = 0xffffffff;
    std::memcpy(block->words, &stack, sizeof stack);
    CHECK(acquisitions(traces.put(whole(header_for_test(), *block))) == 0);
}

TEST_CASE("a lock of a kind that does not exist is an error that names the file")
{
    folder const traces;
    auto const with = [&](std::uint32_t kind, std::uint32_t ready) {
        std::string bytes = whole();
        std::memcpy(bytes.data() + locks_begin + offsetof(trace_lock, kind), &kind, sizeof kind);
        std::memcpy(bytes.data() + locks_begin + offsetof(trace_lock, ready), &ready, sizeof ready);
        return traces.put(bytes);
    };
    for (std::uint32_t const kind : {0U, trace_futex + 1U, unsigned{trace_gone}, 0xffff'ffffU})
        CHECK_THROWS_WITH_AS(
            static_cast<void>(acquisitions(with(kind, 1))),
            doctest::Contains("1.trace: the trace is damaged: its lock 0 is of the unknown kind"),
            std::runtime_error);
    for (std::uint32_t kind = trace_mutex; kind <= trace_futex; ++kind)
        CHECK(acquisitions(with(kind, 1)) == 5);
    // An entry that its process had not completed as it ended.
    CHECK(acquisitions(with(0, 0)) == 5);
}

TEST_CASE("a stack that does not fit ends the list")
{
    folder const traces;
    for (auto const& [depth, size] : {std::pair{95, 2}, {2, 95}, {60000, 60000}, {0, 0}}) {
        auto block = one_block();
        trace_stack stack{};
        std::memcpy(&stack, block->words, sizeof stack);
        stack.depth = static_cast<std::uint16_t>(depth);
        stack.size = static_cast<std::uint32_t>(size);
        std::memcpy(block->words, &stack, sizeof stack);
        fs::path const file = traces.put(whole(header_for_test(), *block));
        CHECK(read_trace(file)[0].threads[0].stacks.empty());
    }
}

TEST_CASE("counts that are too high are cut to the size of the tables")
{
    folder const traces;
    trace_header header = header_for_test();
    header.locks = header.blocks = header.arguments_size = 0xffffffff;
    CHECK(acquisitions(traces.put(whole(header, *one_block()))) == 5);
}

TEST_CASE("times that run backwards are no times")
{
    folder const traces;
    trace_header header = header_for_test();
    header.ended_ns = 1;
    auto block = one_block();
    block->began_ns = ~std::uint64_t{0};
    traced_process const found = read_trace(traces.put(whole(header, *block)))[0];
    CHECK(found.ended_ns >= found.began_ns);
    CHECK(found.threads[0].lived_ns == 0);
}

TEST_CASE(
    "an end that a process did not record is from its parent, or the next program, or unknown")
{
    folder const traces;
    trace_header header = header_for_test();
    header.ended_ns = 0;
    traces.put(whole(header, *one_block()));
    auto const first = [&] { return read_trace(traces.path)[0]; };
    CHECK_FALSE(first().end_known);
    CHECK(first().ended_ns == 5000);
    CHECK(first().threads[0].lived_at_least);
    profile const unknown = make_profile(read_trace(traces.path));
    CHECK(
        report_text(unknown, 5).find("at least 4.00 us, its end was not recorded") !=
        std::string::npos);

    // It ran another program: that one's trace is the last, and gets the end.
    header.began_ns = 7000;
    traces.put(whole(header, *one_block()), "1.2.trace");
    CHECK(first().ended_ns == 7000);
    CHECK(first().threads[0].lived_ns == 6000);
    CHECK_FALSE(first().threads[0].lived_at_least);
    CHECK_FALSE(first().ended);
    note_end(traces.path, 1, {"x", 8000, 3 << 8});
    std::vector<traced_process> const both = read_trace(traces.path);
    CHECK(both[0].ended_ns == 7000);
    CHECK(both[1].ended_ns == 8000);
    CHECK(both[1].end_known);
    CHECK_FALSE(both[1].ended);
    CHECK_FALSE(make_profile(both).thread_ns_at_least);
    CHECK(
        report_text(make_profile(both), 5).find("ended with exit code 3, without libc's exit") !=
        std::string::npos);
}

TEST_CASE("an end is not noted for a program that executed one that is not recorded")
{
    folder const traces;
    trace_header header = header_for_test();
    header.ended_ns = 0;
    auto const main_thread = one_block();
    main_thread->tid = 1;
    std::strcpy(main_thread->name, "env");
    traces.put(whole(header, *main_thread));
    note_end(traces.path, 1, {"sleep", 20'000, 0});
    CHECK_FALSE(read_trace(traces.path)[0].end_known);
    note_end(traces.path, 1, {"env", 20'000, 0});
    CHECK(read_trace(traces.path)[0].end_known);
    CHECK(read_trace(traces.path)[0].ended_ns == 20'000);
}

TEST_CASE("an end is noted for that process alone, and where it recorded none")
{
    folder const traces;
    traces.put(whole());
    note_end(traces.path, 1, {"x", 20'000, 0});
    note_end(traces.path, 2, {"x", 20'000, 0}); // It left no trace.
    CHECK(read_trace(traces.path)[0].ended_ns == 9000);
    traces.put("hello");
    note_end(traces.path, 1, {"x", 20'000, 0});
    CHECK_THROWS_WITH(static_cast<void>(read_trace(traces.path)), doctest::Contains("no trace"));
}

TEST_CASE("a byte of the magic or of the sizes that is wrong refuses the file")
{
    folder const traces;
    std::string const good = whole();
    REQUIRE(acquisitions(traces.put(good)) == 5);
    for (std::size_t position = 0; position < offsetof(trace_header, ready); ++position) {
        std::string bytes = good;
        bytes[position] = static_cast<char>(bytes[position] ^ 1);
        char const* const why =
            position < sizeof(trace_header::magic) ? "this is no trace" : "another version";
        CHECK_THROWS_WITH_AS(
            static_cast<void>(read_trace(traces.put(bytes))), doctest::Contains(why),
            std::runtime_error);
    }
}

TEST_CASE("bytes at random behind the sizes change figures, and nothing else")
{
    folder const traces;
    std::string const good = whole();
    constexpr std::size_t first_figure = offsetof(trace_header, cpu_hz);
    std::uint64_t random = 42;
    std::size_t changed = 0;
    for (int round = 0; round < 40; ++round) {
        std::string bytes = good;
        for (int i = 0; i < 400; ++i) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            std::size_t const position = random % 3 == 0
                                             ? first_figure + (random >> 20) % 300
                                             : first_block + (random >> 20) % block_size;
            bytes[position] = static_cast<char>(random >> 40);
        }
        profile const found = make_profile(read_trace(traces.put(bytes)));
        CHECK(found.processes.size() == 1);
        CHECK(found.threads.size() <= 1);
        CHECK(report_text(found, 10).find("Threads\n") != std::string::npos);
        changed += found.processes[0].pid != 1;
    }
    CHECK(changed > 30);
}

TEST_CASE("other files are refused, each with its reason")
{
    folder const traces;
    CHECK_THROWS_WITH(
        static_cast<void>(read_trace(traces.put("hello"))), doctest::Contains("this is no trace"));
    trace_header other = header_for_test();
    other.thread_size += 8;
    CHECK_THROWS_WITH(
        static_cast<void>(read_trace(traces.put(whole(other, *one_block())))),
        doctest::Contains("another version"));
    CHECK_THROWS_WITH(
        static_cast<void>(read_trace(traces.path / "none")),
        doctest::Contains("there is no such trace"));
}

TEST_CASE("a process that ended as its trace began does not hide the others")
{
    folder const traces;
    traces.put(whole());
    trace_header header = header_for_test();
    header.ready = 0;
    traces.put(whole(header, *one_block()), "2.trace");
    traces.put("", "3.trace");
    profile const found = make_profile(read_trace(traces.path));
    CHECK(found.processes.size() == 3);
    CHECK(found.total.acquisitions == 5);
}

TEST_CASE("a memory map whose lines cannot be read is an error")
{
    folder const traces;
    traces.put(whole());
    for (char const* const map : {"\n", "x", "1-2"}) {
        traces.put(map, "1.maps");
        CHECK_THROWS_WITH_AS(
            static_cast<void>(acquisitions(traces.path)),
            "the trace's memory map cannot be read: its .maps is damaged", std::runtime_error);
    }
}

TEST_CASE("a memory map without the code's files leaves out names only")
{
    folder const traces;
    traces.put(whole());
    for (char const* const map :
         {"", "1000-2000 r-xp 00000000 fe:00 1 /none\n",
          "1000-2000 r-xp 0 0:0 0\n2000-3000 r-xp 0 0:0 0 [heap]\n"}) {
        traces.put(map, "1.maps");
        CHECK(acquisitions(traces.path) == 5);
    }
}

TEST_CASE("a wait that has not ended counts until the process did, and as no acquisition")
{
    folder const traces;
    std::unique_ptr<trace_thread> const waiting = one_block();
    waiting->wait_site = 17 + 1;
    waiting->wait_began_ns = 3000; // It ended at 9000.
    std::vector<traced_process> const found =
        read_trace(traces.put(whole(header_for_test(), *waiting)));
    REQUIRE(found[0].threads[0].waits);
    CHECK(found[0].threads[0].waits->return_to == 0x1234);
    profile const made = make_profile(found);
    REQUIRE(made.unended_waits.size() == 1);
    CHECK(made.unended_waits[0].ns == 6000);
    CHECK(made.unended_waits[0].is_for_a_lock());
    CHECK(made.total.blocked_ns == 6000);
    CHECK(made.total.acquisitions == 5);
    CHECK(made.locks[0].wait_ns == 6000);
    CHECK(report_text(made, 10).find("Waits that had not ended") != std::string::npos);
}

TEST_CASE("a thread that has ended does not wait, nor does one at a site that does not exist")
{
    folder const traces;
    std::unique_ptr<trace_thread> const ended = one_block();
    ended->state = trace_idle; // Cancelled in its wait.
    ended->wait_site = 17 + 1;
    CHECK_FALSE(read_trace(traces.put(whole(header_for_test(), *ended)))[0].threads[0].waits);
    std::unique_ptr<trace_thread> const damaged = one_block();
    for (std::uint32_t const position : {1U, std::uint32_t{trace_sites_max}, 0xffff'ffffU}) {
        damaged->wait_site = position;
        CHECK_FALSE(read_trace(traces.put(whole(header_for_test(), *damaged)))[0].threads[0].waits);
    }
    std::unique_ptr<trace_thread> const late = one_block();
    late->wait_site = 17 + 1;
    late->wait_began_ns = 10'000; // After the end of the process.
    CHECK_FALSE(read_trace(traces.put(whole(header_for_test(), *late)))[0].threads[0].waits);
}

} // namespace cleat::locks::trace_test
