// Records are sealed into the thread's scratch block and copied to out_, because the next layer
// needs them at a fixed address while it writes. A wait for `writable` ends when all are written.

#include <cleat/net/any_layer.hpp>
#include <cleat/net/scratch.hpp>
#include <cleat/tls/context.hpp>

namespace cleat::net {
any_layer::any_layer(tls::context const& context)
    : engine_{context}, wants_input_{context.role() == tls::role::server}
{
}

std::span<std::byte const> any_layer::input() const noexcept
{
    return in_.empty() ? arrived_ : in_.front();
}

// Keeps the input that a call left on its wire, and the output that it made: the wire's room for
// output began as the whole scratch block.
error_code any_layer::keep(tls::step const& s, tls::wire const& w) noexcept
{
    bool kept = true;
    if (in_.empty())
        kept = w.in.empty() || in_.append(w.in, limits::unsent_max);
    else
        in_.consume(in_.size() - w.in.size());
    arrived_ = {};
    std::span<std::byte> const block = scratch::of_this_thread().sealed();
    std::span<std::byte> const sealed = block.first(block.size() - w.out.size());
    if (!sealed.empty()) {
        kept = out_.append(sealed, limits::unsent_max) && kept;
        alert_ = alert_ || (s.error && s.error != error::closed);
    }
    return kept ? error_code{} : make_error_code(boost::system::errc::no_buffer_space);
}

progress any_layer::handshake() noexcept
{
    for (;;) {
        if (wants_input_ && input().empty() && !in_ended_)
            return {.next = unsent() ? wait::writable : wait::readable};
        tls::wire w{input(), scratch::of_this_thread().sealed(), in_ended_};
        tls::step const s = engine_.handshake(w);
        wants_input_ = s.next == tls::want::input;
        if (error_code const ec = keep(s, w))
            return {.error = ec};
        if (s.error)
            return {.error = s.error};
        if (s.next != tls::want::nothing)
            continue;
        // If the client's request is here already, tickets wait for the answer and share its
        // packet.
        bool const has_request = !input().empty();
        if (error_code const ec = has_request ? error_code{} : send_tickets())
            return {.error = ec};
        bool const may_end =
            !unsent() || (engine_.ends_with_tickets() && has_request && sending_.empty());
        return {.next = may_end ? wait::none : wait::writable};
    }
}

error_code any_layer::send_tickets() noexcept
{
    tls::wire w{input(), scratch::of_this_thread().sealed(), false};
    return keep(engine_.send_tickets(w), w);
}

progress any_layer::read(std::span<std::byte> plaintext) noexcept
{
    if (!engine_.has_plaintext() && input().empty() && !in_ended_)
        return {.next = wait::readable};
    tls::wire w{input(), scratch::of_this_thread().sealed(), in_ended_};
    tls::step const s = engine_.read(w, plaintext);
    progress p{.bytes = s.bytes, .error = s.error};
    // An answer to a KeyUpdate leaves with the next write (RFC 8446, section 4.6.3).
    if (error_code const ec = keep(s, w); ec && !p.error)
        p.error = ec;
    if (s.next == tls::want::input && p.bytes == 0 && !p.error)
        p.next = wait::readable;
    return p;
}

progress any_layer::write(std::span<channel::piece const> pieces) noexcept
{
    if (unsent() && out_.size() + sending_.size() > limits::joined_max)
        return {.next = wait::writable};
    tls::wire w{input(), scratch::of_this_thread().sealed(), false};
    tls::step const s = engine_.write(w, pieces);
    error_code const ec = keep(s, w);
    return {
        .next = unsent() ? wait::writable : wait::none,
        .bytes = s.bytes,
        .error = s.error ? s.error : ec};
}

progress any_layer::flush() noexcept
{
    return {.next = unsent() ? wait::writable : wait::none};
}

progress any_layer::close() noexcept
{
    if (!close_sealed_) {
        close_sealed_ = true;
        tls::wire w{input(), scratch::of_this_thread().sealed(), false};
        tls::step const s = engine_.close(w);
        error_code const ec = keep(s, w);
        if (s.error || ec)
            return {.error = s.error ? s.error : ec};
    }
    return flush();
}

boost::asio::mutable_buffer any_layer::block_of(waiting& w)
{
    if (!w.block)
        w.block = std::make_unique_for_overwrite<std::byte[]>(limits::record_max);
    return {w.block.get(), limits::record_max};
}

boost::asio::const_buffer any_layer::to_send() noexcept
{
    if (sending_.empty())
        std::swap(sending_, out_);
    std::span<std::byte const> const all = sending_.front();
    return {all.data(), all.size()};
}

error_code any_layer::end_wait(
    wait event, waiting& w, error_code ec, std::size_t bytes, bool stops) noexcept
{
    if (event == wait::writable) {
        sending_.consume(bytes);
        return ec;
    }
    if (ec == boost::asio::error::eof) {
        in_ended_ = true;
        ec = {};
    }
    arrived_ = {w.block.get(), bytes};
    if (!in_.empty() || ec || stops) {
        if (!arrived_.empty() && !in_.append(arrived_, limits::unsent_max))
            ec = make_error_code(boost::system::errc::no_buffer_space);
        arrived_ = {};
    }
    return ec;
}

} // namespace cleat::net
