// challenge_answer: the life of a connection that validates a name by tls-alpn-01 (RFC 8737).

#pragma once

#include "connection/connection_log.hpp"
#include "worker/frontend_socket.hpp"

#include <cleat/core/byte_queue.hpp>
#include <cleat/net/interrupt.hpp>
#include <cleat/net/socket.hpp>
#include <cleat/net/task.hpp>

#include <string>

namespace cleat::app {

/// answers_challenges: the settings of the frontend's configuration name a folder of certificates.
[[nodiscard]] bool answers_challenges(frontend_socket const& frontend) noexcept;

/// answer_challenge shows the client the certificate for this name that a hook has put into
/// acme-challenges, and ends the connection. Where there is none, the client reads the alert
/// unrecognized_name, and the log says why. `hello` is all that was received. The deadline is the
/// interrupt's. The name is one that is_challenge has seen.
net::task<> answer_challenge(
    net::interrupt& interrupt, frontend_socket const& frontend, net::socket& accepted,
    std::string server_name, byte_queue hello, connection_log& log);

} // namespace cleat::app
