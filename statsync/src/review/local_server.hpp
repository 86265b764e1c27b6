// local_server: a web server for one page, which only this user's browser on this machine can ask.

#pragma once

#include <functional>
#include <string>

namespace statsync {

struct web_request
{
    std::string method;
    std::string name; ///< The path after its secret part; empty for the page itself.
    std::string body;
};

struct web_answer
{
    std::string body;
    std::string type = "application/json";
    int status = 200;
    bool is_last = false; ///< The server ends when it has sent this one.
};

using web_handler = std::function<web_answer(web_request const&)>;

/// local_server listens on 127.0.0.1 at a free port. All addresses begin with a random secret; a
/// request without it, or with the name of another host, is refused before the handler sees it.
class local_server
{
public:
    static constexpr std::size_t connection_count_max = 32;    ///< A browser opens six or so.
    static constexpr std::size_t request_size_max = 64 * 1024; ///< A request names one choice.

    local_server();
    local_server(local_server const&) = delete;
    local_server& operator=(local_server const&) = delete;
    ~local_server();

    std::string address() const;

    /// serve answers one request after the other, until an answer is the last one.
    void serve(web_handler const& handler);

private:
    web_answer answer(std::string const& request, web_handler const& handler) const;

    int listener_ = -1;
    std::string host_;
    std::string secret_;
};

} // namespace statsync
