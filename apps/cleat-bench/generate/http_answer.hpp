// http_answer: finds the end, the status and the length of an HTTP/1.1 answer, and a text in its
// body. A state machine over bytes, which keeps nothing of the body beyond text_search.

#pragma once

#include "text/text_search.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cleat::bench {

/// http_answer reads one answer (RFC 9112, section 6): a body of Content-Length, in chunks, or up
/// to the end of the connection. Interim answers (1xx) are skipped.
class http_answer
{
public:
    /// head_only: the request was HEAD, so no body follows (RFC 9112, section 6.3). `text` is what
    /// to look for in the body; it must outlive this.
    explicit http_answer(bool head_only = false, std::string_view text = {}) noexcept
        : search_{text}, head_only_{head_only}
    {
    }

    enum class state : std::uint8_t
    {
        more,  ///< It goes on.
        whole, ///< The last byte of it has come.
        bad,   ///< It is no HTTP/1 answer, or its head is beyond head_max.
    };

    static constexpr std::size_t head_max = 64 * 1024;

    /// take reads bytes up to the end of the answer and gives how many of them belong to it.
    std::size_t take(std::string_view bytes);

    /// end says that the connection ended cleanly, which is the end of a body without a length.
    void end() noexcept;

    [[nodiscard]] http_answer::state state() const noexcept { return state_; }
    [[nodiscard]] int status() const noexcept { return status_; }
    [[nodiscard]] std::uint64_t body() const noexcept { return body_; }
    /// has_text: the body has the text.
    [[nodiscard]] bool has_text() const noexcept { return search_.found(); }
    /// length is the head's Content-Length; unset before the head is there, or without one.
    [[nodiscard]] std::optional<std::uint64_t> length() const noexcept { return length_; }
    /// closes: the server will close the connection after this answer (RFC 9112, section 9.3).
    [[nodiscard]] bool closes() const noexcept { return closes_; }

private:
    enum class part : std::uint8_t
    {
        head,
        body_of_length,
        body_to_end,
        chunk_size,
        chunk,
        chunk_end,
        trailer,
    };

    std::size_t take_some(std::string_view bytes);
    std::size_t take_line(std::string_view bytes, bool& complete);
    void on_head();
    void on_header(std::string_view name, std::string_view value);
    void on_chunk_size();
    void fail() noexcept { state_ = state::bad; }

    text_search search_;
    std::string line_; // Of the head, or of a chunk's, as far as it has come.
    std::size_t head_size_ = 0;
    std::uint64_t left_ = 0; // Of the body or of the chunk.
    std::uint64_t body_ = 0;
    std::optional<std::uint64_t> length_;
    int status_ = 0;
    part part_ = part::head;
    enum state state_ = state::more;
    bool head_only_;
    bool has_length_ = false;
    bool chunked_ = false;
    bool closes_ = false;
    bool version_1_0_ = false;
};

} // namespace cleat::bench
