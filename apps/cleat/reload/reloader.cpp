#include "reload/reloader.hpp"

#include <cerrno>
#include <cstdint>
#include <new>
#include <system_error>
#include <utility>

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

namespace cleat::app {
namespace {

// On Linux a priority is a thread's. The workers' connections come first; with idle CPUs the
// reload is as fast as any thread.
constexpr int niceness = 10;

} // namespace

reloader::reloader(worker_group& workers)
    : workers_{workers}, done_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)}
{
    if (!done_)
        throw std::system_error{errno, std::system_category(), "eventfd"};
}

reloader::~reloader()
{
    if (thread_.joinable())
        thread_.join();
}

void reloader::begin(reload_request request)
{
    request_ = std::move(request);
    thread_ = std::thread{[this] { run(); }};
}

void reloader::run() noexcept
{
    static_cast<void>(::pthread_setname_np(::pthread_self(), "reload"));
    static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), niceness));
    try {
        made_ = build_candidate(request_, workers_);
    } catch (std::bad_alloc const&) { // There is no memory to say so, either.
        made_ = {};
    }
    std::uint64_t const one = 1;
    static_cast<void>(!::write(done_.get(), &one, sizeof one));
}

candidate reloader::take()
{
    thread_.join();
    std::uint64_t count = 0;
    static_cast<void>(!::read(done_.get(), &count, sizeof count));
    return std::exchange(made_, {});
}

} // namespace cleat::app
