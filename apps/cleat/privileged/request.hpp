// request: what cleat asks the opener, the process that opens root's files, and what it answers, as
// bytes of one message each. Descriptors travel beside the bytes (descriptor_message.hpp).
//
// A request is one byte, the kind, and then a path; behind the path of a folder whose files are
// looked at, their names, with a zero byte before each; or, for a port, 23 bytes: the family (4 or
// 6), the port and the address in network order, padded to 16 bytes, and the scope. An answer is
// four bytes, an errno in the host's order, and then a text: for the operator; or the places of a
// watch, each its number and its name with a slash behind both; or the facts of files, of 48 bytes
// each.

#pragma once

#include "watch/root_folders.hpp"

#include <cleat/tls/store/file_text.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/socket.h>

namespace cleat::app {

/// bind_address is an IP address and a port, as bind(2) takes it.
struct bind_address
{
    sockaddr_storage storage{};
    socklen_t size = 0;

    [[nodiscard]] sockaddr const* data() const noexcept
    {
        return reinterpret_cast<sockaddr const*>(&storage);
    }
    [[nodiscard]] int family() const noexcept { return storage.ss_family; }
    [[nodiscard]] unsigned port() const noexcept; ///< In host order.
};

/// opener_request is one thing that cleat may not do itself.
struct opener_request
{
    enum class kind : char
    {
        file = 'f',   ///< Open the file for reading.
        folder = 'd', ///< Open the folder for listing.
        log = 'l',    ///< Open the file for appending, or make it.
        port = 'p',   ///< Bind the socket that comes with the request to the address.
        look = 's',   ///< Look at files in the folder, by their names: stat(2).
        watch = 'w',  ///< Watch the path by the inotify(7) descriptor that comes with it.
    };

    kind what = kind::file;
    std::string path{};               ///< Absolute. Not for a port.
    bind_address address{};           ///< For a port.
    std::vector<std::string> names{}; ///< Of the files to look at.
};

/// opener_answer is 0, and beside it a descriptor or in the text the places of a watch; or it is an
/// errno and a text for the operator.
struct opener_answer
{
    int error = 0;
    std::string text{};
};

/// request_max and answer_max: the longest messages, in bytes.
inline constexpr std::size_t request_max = 4096; // A path is shorter (PATH_MAX).
inline constexpr std::size_t answer_max = 8192;  // The text names a path.

/// facts_size is the bytes of an answer for each file, and names_max how many files a request may
/// have.
inline constexpr std::size_t facts_size = 6 * 8;
inline constexpr std::size_t names_max = answer_max / facts_size - 1;

/// encode gives nothing for a request that is no valid one: decode would refuse it.
[[nodiscard]] std::optional<std::string> encode(opener_request const& request);
[[nodiscard]] std::string encode(opener_answer const& answer);

/// decode_request trusts nothing: each byte of a request is as encode writes it, or there is none.
[[nodiscard]] std::optional<opener_request> decode_request(std::string_view bytes);
[[nodiscard]] std::optional<opener_answer> decode_answer(std::string_view bytes);

/// encode is the text of an answer; decode_places gives nothing for any other text. A name has no
/// slash.
[[nodiscard]] std::string encode(std::vector<watched_place> const& places);
[[nodiscard]] std::optional<std::vector<watched_place>> decode_places(std::string_view text);

/// encode is the text of an answer; decode_facts gives nothing for a text of another length.
[[nodiscard]] std::string encode(std::vector<tls::file_facts> const& facts);
[[nodiscard]] std::optional<std::vector<tls::file_facts>> decode_facts(std::string_view text);

/// address_from makes a bind_address of an IP address; nothing for any other family or size.
[[nodiscard]] std::optional<bind_address> address_from(
    sockaddr const& address, std::size_t size) noexcept;

} // namespace cleat::app
