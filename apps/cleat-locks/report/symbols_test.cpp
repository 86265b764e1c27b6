#include "report/symbols.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/auxv.h>
#include <sys/mman.h>

// Symbols that the tests look up, by the names that they expect.
extern "C" {
int m = 7;              // In the file's data; and the mangled name of a type.
char zeroed_memory[64]; // In none of the file's bytes.
[[gnu::noinline]] int plain_function(int value)
{
    return value + m;
}
}

namespace cleat::locks::symbols_test {

[[gnu::noinline]] int readable_function(int value)
{
    return value - m;
}

namespace {

symbols of_this_process()
{
    std::ifstream from{"/proc/self/maps"};
    return symbols{std::string{std::istreambuf_iterator<char>{from}, {}}};
}

template <class T>
std::uint64_t address_of(T* object)
{
    return reinterpret_cast<std::uint64_t>(object);
}

} // namespace

TEST_CASE("an object has its variable's name, in data and in memory that begins as zeros")
{
    symbols here = of_this_process();
    CHECK(here.object_at(address_of(&m)) == "m");
    CHECK(here.object_at(address_of(&zeroed_memory[0])) == "zeroed_memory");
    CHECK(here.object_at(address_of(&zeroed_memory[8])) == "zeroed_memory+0x8");
}

TEST_CASE("an object on the heap or the stack has no name")
{
    symbols here = of_this_process();
    std::string const heap(1000, 'x');
    int const stack = 0;
    CHECK(here.object_at(address_of(heap.data())).empty());
    CHECK(here.object_at(address_of(&stack)).empty());
    CHECK(here.object_at(0).empty());
}

TEST_CASE("a function has its name as people write it")
{
    symbols here = of_this_process();
    CHECK(
        here.functions_at(address_of(&plain_function), false).back().function == "plain_function");
    CHECK(
        here.functions_at(address_of(&readable_function), false)
            .back()
            .function.find("cleat::locks::symbols_test::readable_function") == 0);
    CHECK(here.functions_at(0x10, true).back().function == "0x10");
}

TEST_CASE("code that is in no file is one function for each kind, wherever it lies")
{
    constexpr std::size_t size = 8192;
    void* const made =
        ::mmap(nullptr, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(made != MAP_FAILED);
    symbols here = of_this_process();
    std::uint64_t const begin = address_of(made);
    for (std::uint64_t const address : {begin, begin + 1, begin + size - 1}) {
        CHECK(here.functions_at(address, false).back().function == "[anon]");
        CHECK(here.functions_at(address + 1, true).back().module == "[anon]");
    }
    if (std::uint64_t const kernels = ::getauxval(AT_SYSINFO_EHDR); kernels != 0)
        for (unsigned const offset : {0x100u, 0x500u})
            CHECK(here.functions_at(kernels + offset, false).back().function == "[vdso]");
    ::munmap(made, size);
}

TEST_CASE("memory of no file is named by the map, memory of a file by the file")
{
    symbols map{"1000-2000 r-xp 00000000 00:00 0\n"
                "2000-3000 r-xp 00000000 00:01 77    /memfd:doublemapper (deleted)\n"
                "3000-4000 rwxp 00000000 00:00 0     [anon:v8]\n"
                "4000-5000 r-xp 00000000 fe:00 9     /no/such/library.so\n"
                "7000-8000 r-xp 00000000 00:00 0     [vdso]\n"};
    auto const name = [&](std::uint64_t address) {
        return map.functions_at(address, false).back().function;
    };
    CHECK(name(0xfff) == "0xfff");
    CHECK(name(0x1000) == "[anon]");
    CHECK(name(0x2fff) == "[anon]");
    CHECK(name(0x3800) == "[anon:v8]");
    CHECK(name(0x4010) == "library.so+0x10");
    CHECK(name(0x6fff) == "0x6fff");
    CHECK(name(0x7fff) == "[vdso]");
    CHECK(map.functions_at(0x8000, true).back().function == "[vdso]"); // The call is before it.
    CHECK(name(0x8000) == "0x8000");
}

} // namespace cleat::locks::symbols_test

TEST_CASE("the files with a process's code are each named once")
{
    std::string const maps = "1000-2000 r--p 00000000 08:01 7 /usr/bin/a program\n"
                             "2000-3000 r-xp 00001000 08:01 7 /usr/bin/a program\n"
                             "3000-4000 rw-p 00002000 08:01 7 /usr/bin/a program\n"
                             "4000-5000 r-xp 00000000 08:01 8 /usr/lib/libx.so.1\n"
                             "5000-6000 r-xp 00001000 08:01 8 /usr/lib/libx.so.1\n"
                             "6000-7000 r--p 00000000 08:01 9 /usr/share/fonts/x\n"
                             "7000-8000 rwxp 00000000 00:00 0 \n"
                             "8000-9000 r-xp 00000000 00:01 3 /memfd:jit (deleted)\n"
                             "9000-a000 r-xp 00000000 00:00 0 [vdso]\n"
                             "no/space\n"
                             "no map at all";
    CHECK(
        cleat::locks::code_files(maps) ==
        std::vector<std::string>{"/usr/bin/a program", "/usr/lib/libx.so.1"});
}

TEST_CASE("an earlier mapping keeps its place, unless another one is there now")
{
    std::string const now = "1000-2000 r-xp 0 08:01 7 /bin/a\n"
                            "5000-6000 r-xp 0 08:01 8 /lib/new.so\n"
                            "8000-9000 rw-p 0 00:00 0 \n";
    std::string const earlier = "1000-2000 r-xp 0 08:01 7 /bin/a\n"
                                "2000-3000 r-xp 0 08:01 9 /lib/gone.so\n"
                                "5800-6800 r-xp 0 08:01 9 /lib/overlaps.so\n"
                                "7000-8001 r-xp 0 08:01 9 /lib/overlaps.so\n"
                                "9000-a000 r-xp 0 08:01 9 /lib/behind.so\n"
                                "no line of a map\n";
    CHECK(
        cleat::locks::with_earlier(now, earlier) == "1000-2000 r-xp 0 08:01 7 /bin/a\n"
                                                    "2000-3000 r-xp 0 08:01 9 /lib/gone.so\n"
                                                    "5000-6000 r-xp 0 08:01 8 /lib/new.so\n"
                                                    "8000-9000 rw-p 0 00:00 0 \n"
                                                    "9000-a000 r-xp 0 08:01 9 /lib/behind.so\n");
}
