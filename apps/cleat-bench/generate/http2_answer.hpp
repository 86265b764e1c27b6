// http2_answer: the status, the length and the body of an answer over HTTP/2, and whether it is the
// right one.

#pragma once

#include "generate/answer_fault.hpp"
#include "generate/load_spec.hpp"
#include "text/text_search.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cleat::bench {

/// http2_answer takes the fields and the body of one answer, whose end HTTP/2 tells. It keeps no
/// bytes beyond those of its search. The exchange must outlive it.
class http2_answer
{
public:
    explicit http2_answer(exchange const& wanted) : wanted_{&wanted}, search_{wanted.body} {}

    /// take_field takes a field of the head, or of an interim head (1xx), which the next replaces.
    void take_field(std::string_view name, std::string_view value) noexcept
    {
        char const* const end = value.data() + value.size();
        std::uint64_t length = 0;
        if (name == ":status")
            std::from_chars(value.data(), end, status_);
        else if (name == "content-length" && std::from_chars(value.data(), end, length).ptr == end)
            length_ = length;
    }

    void take_body(std::string_view bytes)
    {
        size_ += bytes.size();
        search_.take(bytes);
    }

    /// end says that its last byte has come.
    void end() noexcept { ended_ = true; }

    /// is_over: nothing more of it is wanted.
    [[nodiscard]] bool is_over() const noexcept { return ended_ || has_length(); }
    /// is_cut_off: it is shorter than its own Content-Length.
    [[nodiscard]] bool is_cut_off() const noexcept { return length_ && size_ < *length_; }

    /// fault is why it is not the right answer; empty where it is.
    [[nodiscard]] std::string fault() const
    {
        if (!is_over())
            return "answer cut off";
        if (std::string fault = status_fault(*wanted_, status_); !fault.empty())
            return fault;
        bool const by_head = has_length();
        return body_fault(*wanted_, by_head ? *length_ : size_, by_head || search_.found());
    }

private:
    // The head has the length of a body that need not come.
    [[nodiscard]] bool has_length() const noexcept
    {
        return wanted_->until_head && length_ && status_ >= 200;
    }

    exchange const* wanted_;
    text_search search_;
    std::optional<std::uint64_t> length_;
    std::uint64_t size_ = 0;
    int status_ = 0;
    bool ended_ = false;
};

} // namespace cleat::bench
