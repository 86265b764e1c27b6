#include "generate/http2_answer.hpp"
#include "generate/http2_peer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include <nghttp2/nghttp2.h>

namespace cleat::bench {
namespace {

using event_kind = http2_peer::event::kind;

// Acknowledgements that leave before the last GOAWAY, and not the bodies of requests.
constexpr std::size_t answers_max = 4096;

// The name of an error code (RFC 9113, section 7).
std::string name_of_http2_error(std::uint32_t code)
{
    std::string_view const name = nghttp2_http2_strerror(code);
    return name == "unknown" ? fmt::format("error {:#x}", code) : std::string{name};
}

struct session_deleter
{
    void operator()(nghttp2_session* session) const noexcept { nghttp2_session_del(session); }
};

struct callbacks_deleter
{
    void operator()(nghttp2_session_callbacks* all) const noexcept
    {
        nghttp2_session_callbacks_del(all);
    }
};

void require(int code)
{
    if (code != 0)
        throw std::bad_alloc{};
}

} // namespace

struct http2_peer::library
{
    // stream is one place of http2_load::streams, used by one stream after the other.
    struct stream
    {
        std::int32_t id = 0; // 0: free.
        std::optional<http2_answer> answer;
        std::size_t body_sent = 0;
        std::optional<std::uint32_t> reset; // By the server.
        bool is_over = false;               // It has its last event, or nobody waits for one.
        bool went = false;                  // There is an event of it already.
        bool came = false;
    };

    library(http2_load const& of_load, exchange const& of_wanted);

    [[nodiscard]] stream* find(std::int32_t id) noexcept
    {
        return static_cast<stream*>(nghttp2_session_get_stream_user_data(session.get(), id));
    }

    [[nodiscard]] unsigned number_of(stream const& one) const noexcept
    {
        return static_cast<unsigned>(&one - streams.data());
    }

    void tell(stream& one, event_kind what)
    {
        bool& has_event = what == event_kind::went ? one.went : one.came;
        if (!one.is_over && !std::exchange(has_event, true))
            events.push_back({number_of(one), what});
    }

    void tell_end(stream& one, std::string why, bool is_unprocessed = false)
    {
        if (!std::exchange(one.is_over, true))
            events.push_back({number_of(one), event_kind::ended, is_unprocessed, std::move(why)});
    }

    void free(stream& one) noexcept
    {
        one.id = 0;
        --open;
    }

    // reset_stream ends a stream of which nothing more is wanted.
    void reset_stream(stream const& one)
    {
        require(
            nghttp2_submit_rst_stream(session.get(), NGHTTP2_FLAG_NONE, one.id, NGHTTP2_CANCEL));
    }

    // fault_of a stream that is closed with this code, whose answer has not ended.
    [[nodiscard]] std::string fault_of(stream const& one, std::uint32_t code) const
    {
        if (one.reset)
            return fmt::format("RST_STREAM {}", name_of_http2_error(*one.reset));
        if (code != NGHTTP2_PROTOCOL_ERROR)
            return fmt::format("protocol: {}", name_of_http2_error(code));
        return one.answer->is_cut_off() ? "answer cut off" : "protocol: malformed answer";
    }

    // nghttp2 calls these. None throws: memory that is short ends the session.

    static library& of(void* user) noexcept { return *static_cast<library*>(user); }

    template <typename Work>
    static int guarded(Work&& work) noexcept
    {
        try {
            work();
            return 0;
        } catch (std::bad_alloc const&) {
            return NGHTTP2_ERR_CALLBACK_FAILURE;
        }
    }

    static int on_begin_headers(nghttp2_session*, nghttp2_frame const* frame, void* user) noexcept
    {
        library& self = of(user);
        stream* const one = self.find(frame->hd.stream_id);
        return one == nullptr ? 0 : guarded([&] { self.tell(*one, event_kind::came); });
    }

    static int on_header(
        nghttp2_session*, nghttp2_frame const* frame, std::uint8_t const* name,
        std::size_t name_size, std::uint8_t const* value, std::size_t value_size, std::uint8_t,
        void* user) noexcept
    {
        if (stream* const one = of(user).find(frame->hd.stream_id); one != nullptr)
            one->answer->take_field(
                {reinterpret_cast<char const*>(name), name_size},
                {reinterpret_cast<char const*>(value), value_size});
        return 0;
    }

    static int on_data(
        nghttp2_session*, std::uint8_t, std::int32_t id, std::uint8_t const* bytes,
        std::size_t size, void* user) noexcept
    {
        library& self = of(user);
        stream* const one = self.find(id);
        if (one == nullptr)
            return 0;
        return guarded([&] {
            self.tell(*one, event_kind::came);
            one->answer->take_body({reinterpret_cast<char const*>(bytes), size});
        });
    }

    static int on_frame(nghttp2_session* session, nghttp2_frame const* frame, void* user) noexcept
    {
        library& self = of(user);
        return guarded([&] {
            switch (frame->hd.type) {
            case NGHTTP2_SETTINGS:
                self.has_settings = self.has_settings || (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0;
                break;
            case NGHTTP2_GOAWAY:
                self.left = leave{
                    .reason = name_of_http2_error(frame->goaway.error_code),
                    .is_graceful = frame->goaway.error_code == NGHTTP2_NO_ERROR,
                    .has_served = frame->goaway.last_stream_id > 0};
                break;
            case NGHTTP2_RST_STREAM:
                if (stream* const one = self.find(frame->hd.stream_id); one != nullptr)
                    one->reset = frame->rst_stream.error_code;
                break;
            case NGHTTP2_HEADERS:
            case NGHTTP2_DATA:
                if (stream* const one = self.find(frame->hd.stream_id); one != nullptr)
                    self.on_part(session, *one, (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0);
                break;
            default:
                break;
            }
        });
    }

    // A head or a part of the body has come. A server may answer before it has the whole request:
    // the rest of it is not sent then (RFC 9113, section 8.1).
    void on_part(nghttp2_session* of_session, stream& one, bool is_last)
    {
        if (is_last)
            one.answer->end();
        bool const sends = nghttp2_session_get_stream_local_close(of_session, one.id) == 0;
        if (one.answer->is_over() && !one.is_over && (!is_last || sends))
            reset_stream(one);
    }

    // A GOAWAY of our own that is no end as it should be: nghttp2 has found the server's mistake,
    // and says in the GOAWAY which.
    static int on_sent(nghttp2_session*, nghttp2_frame const* frame, void* user) noexcept
    {
        if (frame->hd.type != NGHTTP2_GOAWAY || frame->goaway.error_code == NGHTTP2_NO_ERROR)
            return 0;
        return guarded([&] {
            nghttp2_goaway const& own = frame->goaway;
            std::string_view const reason{
                reinterpret_cast<char const*>(own.opaque_data), own.opaque_data_len};
            of(user).fault = fmt::format(
                "protocol: {}",
                reason.empty() ? name_of_http2_error(own.error_code) : std::string{reason});
        });
    }

    // A request that cannot be sent: a GOAWAY came before it left.
    static int on_not_sent(
        nghttp2_session*, nghttp2_frame const* frame, int code, void* user) noexcept
    {
        library& self = of(user);
        auto const found = std::ranges::find(self.streams, frame->hd.stream_id, &stream::id);
        if (frame->hd.type != NGHTTP2_HEADERS || found == self.streams.end())
            return 0;
        return guarded([&] {
            bool const has_left = self.left.has_value();
            self.tell_end(
                *found,
                has_left ? self.unprocessed() : fmt::format("not sent: {}", nghttp2_strerror(code)),
                has_left);
            // nghttp2 has opened the stream, and closes it, or has never heard of it.
            if (self.find(found->id) == nullptr)
                self.free(*found);
        });
    }

    static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) noexcept
    {
        library& self = of(user);
        stream* const one = self.find(id);
        if (one == nullptr || one->id != id)
            return 0;
        return guarded([&] {
            bool const is_left_out =
                code == NGHTTP2_REFUSED_STREAM && !one->reset && self.left.has_value();
            if (one->answer->is_over())
                self.tell_end(*one, one->answer->fault());
            else if (is_left_out)
                self.tell_end(*one, self.unprocessed(), true);
            else
                self.tell_end(*one, self.fault_of(*one, code));
            self.free(*one);
        });
    }

    static ssize_t on_read_body(
        nghttp2_session*, std::int32_t, std::uint8_t* block, std::size_t size, std::uint32_t* flags,
        nghttp2_data_source* source, void* user) noexcept
    {
        library& self = of(user);
        stream& one = *static_cast<stream*>(source->ptr);
        std::size_t const part = std::min(size, self.load.body.size() - one.body_sent);
        std::memcpy(block, self.load.body.data() + one.body_sent, part);
        one.body_sent += part;
        if (one.body_sent == self.load.body.size())
            *flags |= NGHTTP2_DATA_FLAG_EOF;
        int const ec = guarded([&] { self.tell(one, event_kind::went); });
        return ec != 0 ? ec : static_cast<ssize_t>(part);
    }

    [[nodiscard]] std::string unprocessed() const
    {
        return fmt::format("unprocessed, GOAWAY {}", left->reason);
    }

    http2_load const& load;
    exchange const& wanted;
    std::vector<stream> streams; // Never moves: nghttp2 has pointers into it.
    unsigned open = 0;
    std::unique_ptr<nghttp2_session, session_deleter> session;
    std::vector<nghttp2_nv> head; // Of the request that begins.
    std::string rest;             // Of a frame that the last block had no room for.
    std::vector<event> events;
    std::string fault;
    std::optional<leave> left;
    bool has_settings = false;
};

http2_peer::library::library(http2_load const& of_load, exchange const& of_wanted)
    : load{of_load}, wanted{of_wanted}, streams(of_load.streams)
{
    nghttp2_session_callbacks* made = nullptr;
    require(nghttp2_session_callbacks_new(&made));
    std::unique_ptr<nghttp2_session_callbacks, callbacks_deleter> const callbacks{made};
    nghttp2_session_callbacks_set_on_begin_headers_callback(made, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(made, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(made, on_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(made, on_sent);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(made, on_not_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(made, on_close);
    nghttp2_session* begun = nullptr;
    require(nghttp2_session_client_new(&begun, made, this));
    session.reset(begun);
    nghttp2_settings_entry const settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0}, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window}};
    require(nghttp2_submit_settings(begun, NGHTTP2_FLAG_NONE, settings, std::size(settings)));
    require(nghttp2_session_set_local_window_size(begun, NGHTTP2_FLAG_NONE, 0, window));
}

http2_peer::http2_peer(http2_load const& load, exchange const& wanted)
    : library_{std::make_unique<library>(load, wanted)}
{
}

http2_peer::~http2_peer() = default;

bool http2_peer::has_to_send() const noexcept
{
    return !library_->rest.empty() || nghttp2_session_want_write(library_->session.get()) != 0;
}

std::size_t http2_peer::make(std::span<std::byte> block)
{
    std::size_t made = 0;
    auto const put = [&](char const* bytes, std::size_t size) {
        std::size_t const part = std::min(size, block.size() - made);
        std::memcpy(block.data() + made, bytes, part);
        made += part;
        return part;
    };
    library_->rest.erase(0, put(library_->rest.data(), library_->rest.size()));
    while (made != block.size() && library_->rest.empty()) {
        std::uint8_t const* bytes = nullptr;
        ssize_t const size = nghttp2_session_mem_send(library_->session.get(), &bytes);
        if (size < 0)
            library_->fault = fmt::format("protocol: {}", nghttp2_strerror(static_cast<int>(size)));
        if (size <= 0)
            break;
        auto const* const text = reinterpret_cast<char const*>(bytes);
        std::size_t const part = put(text, static_cast<std::size_t>(size));
        library_->rest.assign(text + part, static_cast<std::size_t>(size) - part);
    }
    return made;
}

void http2_peer::take(std::span<std::byte const> bytes)
{
    if (bytes.empty() || !library_->fault.empty())
        return;
    ssize_t const taken = nghttp2_session_mem_recv(
        library_->session.get(), reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size());
    if (taken < 0)
        library_->fault = fmt::format("protocol: {}", nghttp2_strerror(static_cast<int>(taken)));
}

// The frames that nghttp2 still has to send say whether the server was at fault.
void http2_peer::end()
{
    std::uint8_t const* bytes = nullptr;
    while (library_->fault.empty() && nghttp2_session_mem_send(library_->session.get(), &bytes) > 0)
        continue;
}

unsigned http2_peer::room() const noexcept
{
    if (!library_->fault.empty() || is_used_up())
        return 0;
    std::uint32_t const limit = std::min(allowed().value_or(1), library_->load.streams);
    return limit > library_->open ? limit - library_->open : 0;
}

unsigned http2_peer::open() const noexcept
{
    return library_->open;
}

unsigned http2_peer::begin(std::size_t path)
{
    library& own = *library_;
    auto const found = std::ranges::find(own.streams, 0, &library::stream::id);
    unsigned const number = own.number_of(*found);
    *found = {};
    found->answer.emplace(own.wanted);
    own.head.clear();
    auto const bytes = [](std::string const& text) {
        // nghttp2 does not write there.
        return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    };
    for (auto const& [name, value] : own.load.requests[path].fields)
        own.head.push_back(
            {bytes(name), bytes(value), name.size(), value.size(),
             NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE});
    nghttp2_data_provider body{};
    body.source.ptr = &*found;
    body.read_callback = library::on_read_body;
    std::int32_t const id = nghttp2_submit_request(
        own.session.get(), nullptr, own.head.data(), own.head.size(),
        own.load.body.empty() ? nullptr : &body, &*found);
    if (id < 0) // is_used_up() was false, so that this is memory.
        throw std::bad_alloc{};
    found->id = id;
    ++own.open;
    return number;
}

void http2_peer::cancel(unsigned stream)
{
    library::stream& one = library_->streams[stream];
    one.is_over = true;
    if (one.id != 0)
        library_->reset_stream(one);
}

// nghttp2 sends no PING and no acknowledgement once it closes: those that wait leave before.
void http2_peer::close()
{
    std::uint8_t const* bytes = nullptr;
    while (library_->rest.size() < answers_max) {
        ssize_t const size = nghttp2_session_mem_send(library_->session.get(), &bytes);
        if (size <= 0)
            break;
        library_->rest.append(reinterpret_cast<char const*>(bytes), static_cast<std::size_t>(size));
    }
    require(nghttp2_session_terminate_session(library_->session.get(), NGHTTP2_NO_ERROR));
}

std::span<http2_peer::event> http2_peer::events() noexcept
{
    return library_->events;
}

void http2_peer::clear_events() noexcept
{
    for (event const& each : library_->events)
        library_->streams[each.stream].went = library_->streams[each.stream].came = false;
    library_->events.clear();
}

std::string const& http2_peer::fault() const noexcept
{
    return library_->fault;
}

std::optional<http2_peer::leave> const& http2_peer::left() const noexcept
{
    return library_->left;
}

bool http2_peer::is_used_up() const noexcept
{
    return library_->left || nghttp2_session_check_request_allowed(library_->session.get()) == 0 ||
           nghttp2_session_get_next_stream_id(library_->session.get()) > INT32_MAX;
}

std::optional<std::uint32_t> http2_peer::allowed() const noexcept
{
    if (!library_->has_settings)
        return std::nullopt;
    return nghttp2_session_get_remote_settings(
        library_->session.get(), NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

} // namespace cleat::bench
