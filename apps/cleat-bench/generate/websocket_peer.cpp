#include "generate/websocket_peer.hpp"

#include <cleat/core/assert.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace cleat::bench {
namespace {

constexpr unsigned normal_closure = 1000;

std::string_view as_text(std::span<std::byte const> bytes) noexcept
{
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

} // namespace

websocket_peer::websocket_peer(websocket_load const& load, std::string request, entropy& random)
    : load_{load}, random_{random}
{
    std::string const key = new_key(random.bytes<16>());
    request_ = with_key(std::move(request), key);
    opening_.emplace(key, load.subprotocols);
}

bool websocket_peer::has_to_send() const noexcept
{
    return is_sending() || pong_ || close_;
}

// A control frame waits for the end of a message that has begun: a message is one frame.
std::size_t websocket_peer::make(std::span<std::byte> block) noexcept
{
    std::size_t made = make_request(block);
    if (message_.has_begun())
        made += message_.make(block.subspan(made));
    if (message_.is_over() || !message_.has_begun()) {
        if (pong_ && block.size() - made >= frame_head_max + control_max) {
            made +=
                make_control(block.subspan(made), opcode::pong, std::as_bytes(std::span{*pong_}));
            pong_.reset();
        }
        if (close_ && message_.is_over() && block.size() - made >= frame_head_max + control_max) {
            std::array<std::byte, 2> const code{
                static_cast<std::byte>(*close_ >> 8U), static_cast<std::byte>(*close_)};
            made += make_control(
                block.subspan(made), opcode::close,
                std::span{code}.first(*close_ == close_code({}) ? 0 : code.size()));
            close_.reset();
        }
    }
    return made + message_.make(block.subspan(made));
}

std::size_t websocket_peer::make_request(std::span<std::byte> block) noexcept
{
    std::size_t const size = std::min(block.size(), request_.size() - requested_);
    std::memcpy(block.data(), request_.data() + requested_, size);
    requested_ += size;
    return size;
}

std::size_t websocket_peer::make_control(
    std::span<std::byte> block, opcode kind, std::span<std::byte const> payload) noexcept
{
    auto const key = random_.bytes<4>();
    std::size_t const head = write_head(block.first<frame_head_max>(), kind, payload.size(), key);
    std::span<std::byte> const body = block.subspan(head, payload.size());
    std::ranges::copy(payload, body.begin());
    mask(body, key, 0);
    return head + payload.size();
}

void websocket_peer::take(std::span<std::byte const> bytes)
{
    if (opening_) {
        bytes = bytes.subspan(opening_->take(as_text(bytes)));
        progress_ = true;
        if (!opening_->is_over())
            return;
        fault_ = opening_->fault();
        is_open_ = fault_.empty();
        opening_.reset();
        request_ = {};
        requested_ = 0;
    }
    if (is_open_)
        take_frames(bytes);
}

void websocket_peer::take_frames(std::span<std::byte const> bytes)
{
    using event = frame_reader::event;
    while (!bytes.empty() && fault_.empty() && !is_closed_) {
        frame_reader::step const step = reader_.take(bytes);
        bytes = bytes.subspan(step.taken);
        if (step.what == event::part || step.what == event::message)
            on_data(step.payload, step.what == event::message);
        else if (step.what == event::control)
            on_control();
        else if (step.what == event::bad)
            fault_ = "protocol: " + reader_.fault();
    }
}

void websocket_peer::on_data(std::span<std::byte const> part, bool is_last)
{
    heard_.messages += is_last ? 1U : 0U;
    if (load_.use != websocket_use::echo || closes_)
        return;
    progress_ = true;
    opcode const kind = load_.is_binary ? opcode::binary : opcode::text;
    char const* wrong = nullptr;
    if (!echo_)
        wrong = "message that is no echo";
    else if (reader_.kind() != kind)
        wrong = "echo of another type";
    else
        wrong = echo_->take(part);
    if (wrong == nullptr && is_last)
        wrong = message_.is_over() ? echo_->end() : "wrong echo";
    if (wrong != nullptr)
        fault_ = wrong;
    else if (is_last)
        echo_.reset();
}

// A pong that nobody asked for is allowed (RFC 6455, section 5.5.3).
void websocket_peer::on_control()
{
    if (reader_.kind() == opcode::close)
        return on_close();
    if (reader_.kind() != opcode::ping)
        return;
    ++heard_.pings;
    pong_.emplace(as_text(reader_.control()));
}

void websocket_peer::on_close()
{
    if (!is_valid_close(reader_.control())) {
        fault_ = "protocol: invalid Close frame";
        return;
    }
    is_closed_ = true;
    progress_ = true;
    if (closes_)
        return;
    unsigned const code = close_code(reader_.control());
    fault_ = close_in_words(code);
    message_ = {};
    close_ = code;
}

void websocket_peer::send_message()
{
    CLEAT_ASSERT(is_open_ && !echo_ && message_.is_over());
    auto const random = random_.bytes<12>();
    std::uint64_t number = 0;
    masking_key key{};
    std::memcpy(&number, random.data(), sizeof number);
    std::memcpy(key.data(), random.data() + sizeof number, key.size());
    message_ = {load_.is_binary ? opcode::binary : opcode::text, number, load_.message_size, key};
    echo_.emplace(number, load_.message_size);
}

void websocket_peer::close() noexcept
{
    closes_ = true;
    close_ = normal_closure;
}

} // namespace cleat::bench
