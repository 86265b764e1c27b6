#include "reload/reloader.hpp"
#include "system/low_priority.hpp"

#include <new>
#include <utility>

#include <pthread.h>

namespace cleat::app {

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
    lower_priority();
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
