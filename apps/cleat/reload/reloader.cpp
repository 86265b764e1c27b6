#include "reload/reloader.hpp"

#include <new>
#include <utility>

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

namespace cleat::app {
namespace {

// On Linux a priority is a thread's. The workers' connections come first; with idle CPUs the
// reload is as fast as any thread.
constexpr int niceness = 10;

} // namespace

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
    is_built_ = true;
    workers_.wake();
}

candidate reloader::take()
{
    thread_.join();
    is_built_ = false;
    return std::exchange(made_, {});
}

} // namespace cleat::app
