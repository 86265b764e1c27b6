#include "health/check_talk.hpp"

#include <cleat/core/limits.hpp>
#include <cleat/tls/alert.hpp>
#include <cleat/tls/certificates/verification.hpp>
#include <cleat/tls/wire.hpp>

#include <fmt/format.h>

#include <array>
#include <new>
#include <utility>

namespace cleat::app {
namespace {

std::string_view characters_of(std::span<std::byte const> bytes) noexcept
{
    return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

bool is_end(error_code why) noexcept
{
    return why == error::closed || why == error::truncated;
}

// The failure, by name.
std::string failure_text(error_code why, tls::failure_info const& failure)
{
    error_code const named = name_fault(why, failure);
    if (named == error::peer_alert)
        return fmt::format("the server sent the alert {}", tls::alert_name(failure.peer_alert));
    bool const is_vague = named == error::bad_certificate || named == error::library;
    return is_vague && !failure.reason.empty()
               ? fmt::format("{}: {}", named.message(), failure.reason)
               : named.message();
}

} // namespace

check_talk::check_talk(
    check_rule const& rule, tls::context const* context, std::string const& server_name)
    : rule_{rule}
{
    if (context == nullptr) {
        out_ = rule.header + rule.send;
        stage_ = rule.expect.empty() ? stage::passed : stage::waits;
        return;
    }
    if (!rule.tls->is_header_inside)
        out_ = rule.header;
    engine_.emplace(*context);
    if (!server_name.empty() && !tls::set_server_name(engine_->native_handle(), server_name))
        throw std::bad_alloc{};
    stage_ = stage::shakes_hands;
    receive({}, false);
}

void check_talk::receive(std::span<std::byte const> bytes, bool ended)
{
    if (stage_ == stage::passed || stage_ == stage::failed)
        return;
    if (!engine_) {
        look(characters_of(bytes));
        if (ended && stage_ == stage::waits)
            fail("the answer has ended without the expected text");
        return;
    }
    tls::wire w{bytes, {}, ended};
    if (stage_ == stage::shakes_hands)
        shake_hands(w);
    if (stage_ == stage::waits || stage_ == stage::ends)
        hear(w);
}

void check_talk::shake_hands(tls::wire& w)
{
    tls::step const last = run(w, [&] { return engine_->handshake(w); });
    if (last.error)
        fail(last);
    else if (last.next == tls::want::nothing)
        speak(w);
}

void check_talk::speak(tls::wire& w)
{
    std::string const text = (rule_.tls->is_header_inside ? rule_.header : "") + rule_.send;
    std::span<std::byte const> left = std::as_bytes(std::span{text});
    tls::step const last = run(w, [&] {
        std::span<std::byte const> const pieces[] = {left};
        tls::step const one = engine_->write(w, pieces);
        left = left.subspan(one.bytes);
        return one;
    });
    if (last.error)
        return fail(last);
    stage_ = stage::waits;
    if (!rule_.expect.empty())
        return;
    close(w);
    bool const is_accepted = engine_->info().version != "TLSv1.3";
    stage_ = is_accepted ? stage::passed : stage::ends;
}

void check_talk::hear(tls::wire& w)
{
    std::array<std::byte, limits::check_answer_max> block; // NOLINT: filled by read
    for (;;) {
        tls::step const last = run(w, [&] {
            tls::step const one = engine_->read(w, block);
            look(characters_of(std::span{block}.first(one.bytes)));
            return one;
        });
        if (stage_ == stage::passed)
            return close(w);
        if (stage_ == stage::failed)
            return;
        if (last.error)
            return hear_end(last);
        if (last.next == tls::want::input)
            return;
    }
}

void check_talk::hear_end(tls::step const& last)
{
    if (!is_end(last.error))
        return fail(last);
    if (stage_ == stage::ends)
        stage_ = stage::passed;
    else
        fail("the answer has ended without the expected text");
}

// A server that answers has accepted us.
void check_talk::look(std::string_view text)
{
    bool const is_due = stage_ == stage::waits || stage_ == stage::ends;
    if (text.empty() || !is_due)
        return;
    heard_ += text.substr(0, limits::check_answer_max - heard_.size());
    if (stage_ == stage::ends || heard_.find(rule_.expect) != heard_.npos)
        stage_ = stage::passed;
    else if (heard_.size() >= limits::check_answer_max)
        fail(fmt::format(
            "the first {} bytes of the answer lack the expected text", limits::check_answer_max));
}

// Best effort: the result is known.
void check_talk::close(tls::wire& w)
{
    static_cast<void>(run(w, [&] { return engine_->close(w); }));
}

void check_talk::fail(std::string reason)
{
    reason_ = std::move(reason);
    stage_ = stage::failed;
}

void check_talk::fail(tls::step const& last)
{
    fail(
        is_end(last.error) ? "the server has ended the connection within the TLS handshake"
                           : failure_text(last.error, engine_->failure()));
}

// The call as often as its output needs room.
template <class Call>
tls::step check_talk::run(tls::wire& w, Call call)
{
    std::array<std::byte, 2 * limits::record_max> room; // NOLINT: filled by the call
    for (;;) {
        w.out = room;
        tls::step const last = call();
        out_ += characters_of(std::span{room}.first(room.size() - w.out.size()));
        if (last.next != tls::want::output || last.error)
            return last;
    }
}

} // namespace cleat::app
