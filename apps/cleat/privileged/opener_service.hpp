// opener_service: one request of cleat's, and its answer.

#pragma once

#include "privileged/descriptor_message.hpp"
#include "privileged/named_files.hpp"
#include "privileged/request.hpp"
#include "privileged/trusted_path.hpp"

#include <cleat/core/unique_fd.hpp>

#include <string>

namespace cleat::app {

struct serve;

/// opener_service decides what cleat gets. Its caller may be an attacker who has taken over cleat,
/// so it trusts nothing in the message.
class opener_service
{
public:
    /// reply is the answer, and the descriptor that goes with it.
    struct reply
    {
        opener_answer answer;
        unique_fd fd{};
    };

    /// `start` outlives the service.
    opener_service(serve const& start, std::string folder, trusted_paths paths)
        : paths_{std::move(paths)}, named_{start, std::move(folder), paths_}
    {
    }
    opener_service(opener_service&&) = delete;

    /// serve_one does what the message asks for, or says why not. Throws std::bad_alloc.
    [[nodiscard]] reply serve_one(descriptor_message const& message);

private:
    [[nodiscard]] reply open(opener_request const& request);
    [[nodiscard]] reply look(opener_request const& request);
    [[nodiscard]] reply watch(std::string const& path, int inotify);
    [[nodiscard]] reply bind(bind_address const& address, int socket);
    [[nodiscard]] reply not_named(std::string const& wanted) const;

    trusted_paths paths_;
    named_files named_;
};

} // namespace cleat::app
