#include <cleat/tls/openssl_error.hpp>
#include <cleat/tls/store/certificate_loader.hpp>
#include <cleat/tls/store/certificate_supply.hpp>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <new>
#include <system_error>
#include <utility>

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace cleat::tls {

certificate_supply::certificate_supply()
    : certificate_supply{[](certificate_load const& wanted) {
        return std::make_shared<certificate const>(
            load_certificate(*wanted.library, wanted.files, wanted.folder, wanted.opener));
    }}
{
}

certificate_supply::certificate_supply(reader read)
    : read_{std::move(read)}, wakeup_{::eventfd(0, EFD_CLOEXEC)}
{
    if (!wakeup_)
        throw std::system_error{errno, std::system_category(), "eventfd"};
    // Signals are for the thread that waits for them.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread{[this] { run(); }};
    } catch (...) {
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

certificate_supply::~certificate_supply()
{
    stopping_ = true;
    wake();
    thread_.join();
}

void certificate_supply::wake() const noexcept
{
    std::uint64_t const one = 1;
    static_cast<void>(!::write(wakeup_.get(), &one, sizeof one));
}

void certificate_supply::submit(certificate_load& load) noexcept
{
    submitted_.push(load);
    wake();
}

void certificate_supply::run() noexcept
{
    ::pthread_setname_np(::pthread_self(), "certificates");
    for (bool stopping = false; !stopping;) {
        std::uint64_t count = 0;
        static_cast<void>(!::read(wakeup_.get(), &count, sizeof count));
        stopping = stopping_.load(); // Before take, which has then all that was ever submitted.
        for (certificate_load* wanted = submitted_.take(); wanted != nullptr;) {
            certificate_load& current = *std::exchange(wanted, wanted->next);
            if (!current.abandoned.load() && !stopping_.load())
                load(current);
            current.done(current);
        }
    }
}

void certificate_supply::load(certificate_load& wanted) const noexcept
{
    try {
        try {
            wanted.loaded = read_(wanted);
        } catch (load_error const& failed) {
            wanted.may_pass = failed.may_pass;
            wanted.failure = failed.what();
            wanted.failure.append(". ").append(failed.cure);
        } catch (spec_error const& failed) {
            wanted.failure = failed.what();
        }
    } catch (std::bad_alloc const&) {
        wanted.may_pass = true;
        wanted.failure = "out of memory"; // Short enough to need none.
    }
    clear_errors();
    if (wanted.library != nullptr)
        wanted.library->leave_thread();
}

} // namespace cleat::tls
