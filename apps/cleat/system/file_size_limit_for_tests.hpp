// file_size_limit: a disk that is full at a size, for tests.

#pragma once

#include <doctest/doctest.h>

#include <csignal>

#include <sys/resource.h>

namespace cleat::app {

/// file_size_limit lets no file of the process grow beyond a size while it lives. A write is cut
/// there, as by a disk that is full; the next one fails with EFBIG.
class file_size_limit
{
public:
    explicit file_size_limit(rlim_t bytes) : signal_{std::signal(SIGXFSZ, SIG_IGN)}
    {
        REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
        rlimit const now{bytes, before_.rlim_max};
        REQUIRE(::setrlimit(RLIMIT_FSIZE, &now) == 0);
    }
    file_size_limit(file_size_limit&&) = delete;
    ~file_size_limit()
    {
        CHECK(::setrlimit(RLIMIT_FSIZE, &before_) == 0);
        static_cast<void>(std::signal(SIGXFSZ, signal_));
    }

private:
    void (*signal_)(int);
    rlimit before_{};
};

} // namespace cleat::app
