#include <cleat/tls/backend/awslc/uniqueness.hpp>

#include <new>

#include <sys/mman.h>
#include <unistd.h>

// AWS-LC's own names (crypto/ube). The linker takes these definitions before the archive's, whose
// object files are then left out.
extern "C" {
int CRYPTO_get_vm_ube_generation(std::uint32_t* number);
int CRYPTO_get_ube_generation_number(std::uint64_t* number);
std::uint64_t CRYPTO_get_fork_ube_generation();
}

namespace cleat::tls::awslc {
namespace {

// A word that a child finds zero, or null where the kernel has no such memory.
std::atomic<std::uint64_t>* wiped_on_fork() noexcept
{
    long const size = ::sysconf(_SC_PAGESIZE);
    if (size <= 0)
        return nullptr;
    auto const length = static_cast<std::size_t>(size);
    void* const page =
        ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return nullptr;
    // An emulator may accept any advice without doing it, and would not wipe the word. Such an
    // emulator accepts advice -1, which does not exist, too.
    if (::madvise(page, length, -1) == 0 || ::madvise(page, length, MADV_WIPEONFORK) != 0) {
        ::munmap(page, length);
        return nullptr;
    }
    return new (page) std::atomic<std::uint64_t>{0};
}

struct answer
{
    std::uint64_t number = 0;   // 0 where forks cannot be detected.
    bool machine_known = false; // False: the machine has a number, which cannot be read.
};

answer ask() noexcept
{
    // Never unmapped: random numbers are needed until the process ends.
    static std::atomic<std::uint64_t>* const word = wiped_on_fork();
    static generation number{word};
    if (word == nullptr)
        return {};
    bool known = true;
    std::uint64_t const current = number.current([&]() noexcept {
        std::uint32_t machine = 0;
        known = CRYPTO_get_vm_ube_generation(&machine) == 1;
        return machine;
    });
    return {current, known};
}

} // namespace

void detect_copies() noexcept
{
    static_cast<void>(ask());
}

} // namespace cleat::tls::awslc

// Returns 1 and the number, or 0 where copies cannot be detected: AWS-LC then takes new entropy for
// each call.
int CRYPTO_get_ube_generation_number(std::uint64_t* number)
{
    auto const [current, machine_known] = cleat::tls::awslc::ask();
    *number = current;
    return current != 0 && machine_known ? 1 : 0;
}

// Called for RSA's blinding. The number changes for snapshots too, which costs a new blinding
// factor.
std::uint64_t CRYPTO_get_fork_ube_generation()
{
    return cleat::tls::awslc::ask().number;
}
