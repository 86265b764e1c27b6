#include "generate/websocket_opening.hpp"
#include "text/fields.hpp"
#include "text/lists.hpp"
#include "text/sha1.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace cleat::bench {
namespace {

// A subprotocol's name is compared as it is.
bool offers(std::string_view offered, std::string_view chosen)
{
    return std::ranges::any_of(
        comma_separated(offered), [&](std::string_view each) { return trimmed(each) == chosen; });
}

} // namespace

std::string new_key(std::array<std::byte, 16> const& random)
{
    return base64(random);
}

std::string accept_of(std::string_view key)
{
    return base64(sha1(std::string{key} + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"));
}

std::string upgrade_fields()
{
    return fmt::format(
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: {}\r\n",
        no_key);
}

std::string with_key(std::string request, std::string_view key)
{
    if (std::size_t const place = request.find(no_key); place != std::string::npos)
        request.replace(place, no_key.size(), key);
    return request;
}

std::size_t opening_answer::take(std::string_view bytes)
{
    std::size_t taken = 0;
    while (!over_ && taken != bytes.size()) {
        std::string_view const rest = bytes.substr(taken);
        std::size_t const end = rest.find('\n');
        std::size_t const size = end == std::string_view::npos ? rest.size() : end + 1;
        taken += size;
        size_ += size;
        line_.append(rest.substr(0, size));
        if (size_ > head_max) {
            fail("no HTTP answer");
        } else if (end != std::string_view::npos) {
            line_.pop_back();
            std::string const line = std::exchange(line_, {});
            on_line(trimmed(line));
        }
    }
    return taken;
}

void opening_answer::on_line(std::string_view line)
{
    if (status_ == 0) {
        // status-line = HTTP-version SP status-code SP [ reason-phrase ] (RFC 9112, section 4)
        bool const good =
            line.size() >= 12 && line.starts_with("HTTP/1.") &&
            std::from_chars(line.data() + 9, line.data() + 12, status_).ptr == line.data() + 12 &&
            status_ >= 100;
        if (!good)
            fail("no HTTP answer");
        return;
    }
    if (line.empty())
        return on_end();
    std::size_t const colon = line.find(':');
    if (colon == std::string_view::npos)
        return fail("no HTTP answer");
    on_field(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
}

void opening_answer::on_field(std::string_view name, std::string_view value)
{
    if (status_ != 101)
        return;
    if (is_same_word(name, "upgrade"))
        upgrade_ = upgrade_ || is_same_word(value, "websocket");
    else if (is_same_word(name, "connection"))
        connection_ = connection_ || has_word(value, "upgrade");
    else if (is_same_word(name, "sec-websocket-accept") && value != accept_)
        fail("wrong Sec-WebSocket-Accept");
    else if (is_same_word(name, "sec-websocket-accept"))
        has_accept_ = true;
    else if (is_same_word(name, "sec-websocket-extensions") && !value.empty())
        fail("extension that was not offered");
    else if (is_same_word(name, "sec-websocket-protocol") && !offers(offered_, value))
        fail("subprotocol that was not offered");
}

// An interim answer other than 101 is skipped (RFC 9110, section 15.2).
void opening_answer::on_end()
{
    if (status_ < 200 && status_ != 101) {
        status_ = 0;
        return;
    }
    if (status_ != 101)
        return fail(fmt::format("refused with status {}", status_));
    if (!upgrade_)
        return fail("answer without Upgrade: websocket");
    if (!connection_)
        return fail("answer without Connection: Upgrade");
    if (!has_accept_)
        return fail("no Sec-WebSocket-Accept");
    over_ = true;
}

void opening_answer::fail(std::string fault)
{
    fault_ = std::move(fault);
    over_ = true;
}

} // namespace cleat::bench
