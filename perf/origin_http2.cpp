#include "origin_http2.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <unordered_map>

#include <nghttp2/nghttp2.h>

namespace perf {
namespace {

constexpr std::string_view preface = "PRI * HTTP/2.0";
// A client need not wait for a window, nor for a stream.
constexpr std::int32_t window = 1 << 30;
constexpr std::uint32_t streams_max = 10'000;

void need(int code)
{
    if (code != 0)
        throw std::bad_alloc{};
}

} // namespace

struct http2_end::library
{
    // stream is a request and its answer: so many bytes, or the number of those that came.
    struct stream
    {
        bool is_post = false;
        std::uint64_t to_send = 0;
        std::uint64_t came = 0;
        std::string count;
    };

    library();
    library(library const&) = delete;
    ~library() { nghttp2_session_del(session); }

    stream* find(std::int32_t id)
    {
        auto const found = streams.find(id);
        return found == streams.end() ? nullptr : &found->second;
    }

    static library& of(void* user) { return *static_cast<library*>(user); }

    static int on_begin(nghttp2_session*, nghttp2_frame const* frame, void* user)
    {
        if (frame->hd.type == NGHTTP2_HEADERS)
            of(user).streams.try_emplace(frame->hd.stream_id);
        return 0;
    }

    static int on_header(
        nghttp2_session*, nghttp2_frame const* frame, std::uint8_t const* name,
        std::size_t name_size, std::uint8_t const* value, std::size_t value_size, std::uint8_t,
        void* user)
    {
        stream* const one = of(user).find(frame->hd.stream_id);
        std::string_view const field{reinterpret_cast<char const*>(name), name_size};
        std::string_view const text{reinterpret_cast<char const*>(value), value_size};
        if (one != nullptr && field == ":method")
            one->is_post = text == "POST";
        if (one != nullptr && field == ":path" && !text.empty())
            std::from_chars(text.data() + 1, text.data() + text.size(), one->to_send);
        return 0;
    }

    static int on_data(
        nghttp2_session*, std::uint8_t, std::int32_t id, std::uint8_t const*, std::size_t size,
        void* user)
    {
        if (stream* const one = of(user).find(id); one != nullptr)
            one->came += size;
        return 0;
    }

    static int on_frame(nghttp2_session*, nghttp2_frame const* frame, void* user)
    {
        bool const is_request = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
        if (is_request && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
            of(user).answer(frame->hd.stream_id);
        return 0;
    }

    static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t, void* user)
    {
        of(user).streams.erase(id);
        return 0;
    }

    static ssize_t on_read(
        nghttp2_session*, std::int32_t, std::uint8_t* block, std::size_t size, std::uint32_t* flags,
        nghttp2_data_source* source, void*)
    {
        stream& one = *static_cast<stream*>(source->ptr);
        std::size_t const part = std::min<std::uint64_t>(size, one.to_send);
        if (one.is_post)
            std::memcpy(block, one.count.data() + one.count.size() - one.to_send, part);
        else
            std::memset(block, 'x', part);
        one.to_send -= part;
        if (one.to_send == 0)
            *flags |= NGHTTP2_DATA_FLAG_EOF;
        return static_cast<ssize_t>(part);
    }

    void answer(std::int32_t id)
    {
        stream* const one = find(id);
        if (one == nullptr)
            return;
        if (one->is_post) {
            one->count = std::to_string(one->came);
            one->to_send = one->count.size();
        }
        std::string const size = std::to_string(one->to_send);
        auto const field = [](std::string_view name, std::string_view value) {
            auto const bytes = [](std::string_view text) { // nghttp2 does not write there.
                return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
            };
            return nghttp2_nv{
                bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
        };
        nghttp2_nv const head[] = {field(":status", "200"), field("content-length", size)};
        nghttp2_data_provider body{};
        body.source.ptr = one;
        body.read_callback = on_read;
        need(nghttp2_submit_response(
            session, id, head, std::size(head), one->to_send == 0 ? nullptr : &body));
    }

    nghttp2_session* session = nullptr;
    std::unordered_map<std::int32_t, stream> streams; // Its elements stay where they are.
    std::string rest;                                 // Of a frame that had no room.
};

http2_end::library::library()
{
    nghttp2_session_callbacks* made = nullptr;
    need(nghttp2_session_callbacks_new(&made));
    nghttp2_session_callbacks_set_on_begin_headers_callback(made, on_begin);
    nghttp2_session_callbacks_set_on_header_callback(made, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(made, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(made, on_close);
    int const code = nghttp2_session_server_new(&session, made, this);
    nghttp2_session_callbacks_del(made);
    need(code);
    nghttp2_settings_entry const settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams_max},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window}};
    need(nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, std::size(settings)));
    need(nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, window));
}

bool http2_end::begins_so(std::string_view bytes)
{
    return bytes.starts_with(preface);
}

http2_end::http2_end() : library_{std::make_unique<library>()} {}

http2_end::~http2_end() = default;

bool http2_end::take(std::string_view bytes)
{
    return nghttp2_session_mem_recv(
               library_->session, reinterpret_cast<std::uint8_t const*>(bytes.data()),
               bytes.size()) >= 0;
}

std::size_t http2_end::make(std::span<char> block)
{
    std::string& rest = library_->rest;
    std::size_t made = std::min(rest.size(), block.size());
    std::memcpy(block.data(), rest.data(), made);
    rest.erase(0, made);
    while (made != block.size() && rest.empty()) {
        std::uint8_t const* bytes = nullptr;
        ssize_t const size = nghttp2_session_mem_send(library_->session, &bytes);
        if (size <= 0)
            break;
        std::size_t const part = std::min(static_cast<std::size_t>(size), block.size() - made);
        std::memcpy(block.data() + made, bytes, part);
        made += part;
        rest.assign(
            reinterpret_cast<char const*>(bytes) + part, static_cast<std::size_t>(size) - part);
    }
    return made;
}

bool http2_end::has_ended() const
{
    return library_->rest.empty() && nghttp2_session_want_read(library_->session) == 0 &&
           nghttp2_session_want_write(library_->session) == 0;
}

} // namespace perf
