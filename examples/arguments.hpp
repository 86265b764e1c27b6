// arguments: the little that the examples' command lines need, and how they end.

#pragma once

#include <cleat/tls/context_spec.hpp>

#include <fmt/core.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <signal.h>

namespace example {

/// arguments are pairs of a name and a value: --listen 127.0.0.1:8443.
class arguments
{
public:
    /// Made first in main: it also holds back SIGINT and SIGTERM, for threads to come as well, so
    /// that wait_for_signal gets them.
    arguments(int count, char** values) : all_{values + 1, values + count}
    {
        sigset_t const ends = ending_signals();
        ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
    }

    /// all is every value that was given under a name.
    [[nodiscard]] std::vector<std::string> all(std::string_view name) const
    {
        std::vector<std::string> found;
        for (std::size_t i = 0; i + 1 < all_.size(); i += 2)
            if (all_[i] == name)
                found.push_back(all_[i + 1]);
        return found;
    }

    /// value is the last one that was given under a name. Throws when there is none and no default.
    [[nodiscard]] std::string value(std::string_view name, char const* fallback = nullptr) const
    {
        std::vector<std::string> const found = all(name);
        if (found.empty() && fallback == nullptr)
            throw std::invalid_argument{fmt::format("{} is missing", name)};
        return found.empty() ? fallback : found.back();
    }

    /// wait_for_signal returns when the user presses Ctrl-C, or something sends SIGTERM.
    static void wait_for_signal()
    {
        sigset_t const ends = ending_signals();
        int got = 0;
        ::sigwait(&ends, &got);
    }

private:
    static sigset_t ending_signals()
    {
        sigset_t ends;
        ::sigemptyset(&ends);
        ::sigaddset(&ends, SIGINT);
        ::sigaddset(&ends, SIGTERM);
        return ends;
    }

    std::vector<std::string> all_;
};

/// certificate reads a file that has a certificate, its chain and its key, as scripts/certs makes
/// them.
inline cleat::tls::certificate_source certificate(std::string const& path)
{
    std::ifstream file{path};
    if (!file)
        throw std::invalid_argument{fmt::format("{} cannot be read", path)};
    std::string const text{std::istreambuf_iterator<char>{file}, {}};
    return {text, text, path};
}

/// say_ready prints the port, for who started us and for scripts.
inline void say_ready(unsigned port)
{
    fmt::print("ready {}\n", port);
    std::fflush(stdout);
}

/// run is main's body with its exceptions printed.
template <class Body>
int run(int count, char** values, Body body)
try {
    body(arguments{count, values});
    return 0;
} catch (std::exception const& e) {
    fmt::print(stderr, "{}: {}\n", values[0], e.what());
    return 1;
}

} // namespace example
