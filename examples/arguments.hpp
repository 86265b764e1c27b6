// arguments: the examples' command lines and exit codes.

#pragma once

#include <cleat/tls/context_spec.hpp>

#include <fmt/core.h>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <signal.h>

namespace example {

/// arguments are pairs of a name and a value: --listen 127.0.0.1:8443. Wrong ones are
/// std::invalid_argument.
class arguments
{
public:
    /// Make it first in main: it also blocks SIGINT and SIGTERM, for later threads too, so that
    /// wait_for_signal gets them. The names are those in usage: "--cert FILE [--port NUM]".
    arguments(int count, char** values, std::string_view usage) : all_{values + 1, values + count}
    {
        sigset_t const signals = ending_signals();
        ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
        std::string const known = fmt::format("[{} ", usage);
        for (std::size_t i = 0; i < all_.size(); i += 2) {
            bool const is_name = all_[i].starts_with("--") &&
                                 (known.find("[" + all_[i] + " ") != std::string::npos ||
                                  known.find(" " + all_[i] + " ") != std::string::npos);
            if (!is_name)
                throw std::invalid_argument{fmt::format("there is no {}", all_[i])};
            if (i + 1 == all_.size())
                throw std::invalid_argument{fmt::format("{} wants a value", all_[i])};
        }
    }

    /// all is every value of a name.
    [[nodiscard]] std::vector<std::string> all(std::string_view name) const
    {
        std::vector<std::string> found;
        for (std::size_t i = 0; i + 1 < all_.size(); i += 2)
            if (all_[i] == name)
                found.push_back(all_[i + 1]);
        return found;
    }

    /// value is the last value of a name. Throws when there is none and no fallback.
    [[nodiscard]] std::string value(std::string_view name, char const* fallback = nullptr) const
    {
        std::vector<std::string> const found = all(name);
        if (found.empty() && fallback == nullptr)
            throw std::invalid_argument{fmt::format("{} is missing", name)};
        return found.empty() ? fallback : found.back();
    }

    /// port is a name's value as a port number.
    [[nodiscard]] unsigned short port(std::string_view name, char const* fallback) const
    {
        return port_in(name, value(name, fallback));
    }

    /// port_in converts a text to a port number; name is for its error.
    static unsigned short port_in(std::string_view name, std::string_view text)
    {
        unsigned short number = 0;
        char const* const end = text.data() + text.size();
        auto const [stop, ec] = std::from_chars(text.data(), end, number);
        if (ec != std::errc{} || stop != end)
            throw std::invalid_argument{
                fmt::format("{}: a port is a number from 0 to 65535, not '{}'", name, text)};
        return number;
    }

    /// wait_for_signal returns when the user presses Ctrl-C, or something sends SIGTERM.
    static void wait_for_signal()
    {
        sigset_t const signals = ending_signals();
        int received = 0;
        ::sigwait(&signals, &received);
    }

private:
    static sigset_t ending_signals()
    {
        sigset_t signals;
        ::sigemptyset(&signals);
        ::sigaddset(&signals, SIGINT);
        ::sigaddset(&signals, SIGTERM);
        return signals;
    }

    std::vector<std::string> all_;
};

/// certificate reads a file with a certificate, its chain and its key, as scripts/certs makes it.
inline cleat::tls::certificate_source certificate(std::string const& path)
{
    std::ifstream file{path};
    if (!file)
        throw std::runtime_error{fmt::format("{} cannot be read", path)};
    std::string const text{std::istreambuf_iterator<char>{file}, {}};
    return {text, text, path};
}

/// say_ready prints the port, for users and scripts.
inline void say_ready(unsigned port)
{
    fmt::print("ready {}\n", port);
    std::fflush(stdout);
}

/// run calls the body of main, answers --help and prints exceptions. Exit code 2: the command line
/// is wrong; 1: another error.
template <class Body>
int run(int count, char** values, std::string_view usage, Body body)
try {
    for (int i = 1; i < count; ++i)
        if (std::string_view{values[i]} == "--help") {
            fmt::print("usage: {} {}\n", values[0], usage);
            return 0;
        }
    body(arguments{count, values, usage});
    return 0;
} catch (std::invalid_argument const& e) {
    fmt::print(stderr, "{}: {}\nusage: {} {}\n", values[0], e.what(), values[0], usage);
    return 2;
} catch (std::exception const& e) {
    fmt::print(stderr, "{}: {}\n", values[0], e.what());
    return 1;
}

} // namespace example
