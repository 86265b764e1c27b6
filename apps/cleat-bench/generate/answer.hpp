// answer: the answer to a request, and whether it is the right one.

#pragma once

#include "generate/answer_fault.hpp"
#include "generate/http_answer.hpp"
#include "generate/load_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cleat::bench {

/// answer takes bytes until it is over; then `fault` judges it. It keeps no bytes beyond those of
/// its search. The exchange must outlive it.
class answer
{
public:
    explicit answer(exchange const& wanted)
        : wanted_{wanted}, http_{wanted.head, wanted.body}, search_{wanted.body}
    {
    }

    void take(std::span<std::byte const> bytes)
    {
        std::string_view const text{reinterpret_cast<char const*>(bytes.data()), bytes.size()};
        if (wanted_.http) {
            surplus_ = http_.take(text) != text.size();
            return;
        }
        size_ += text.size();
        search_.take(text);
    }

    void end() noexcept
    {
        ended_ = true;
        http_.end();
    }

    [[nodiscard]] bool over() const noexcept
    {
        if (wanted_.http)
            return http_.state() != http_answer::state::more || ended_ || has_length();
        return ended_ || (wanted_.size && size_ >= *wanted_.size);
    }

    /// closes: the connection ends after this answer.
    [[nodiscard]] bool closes() const noexcept
    {
        return ended_ || (wanted_.http && http_.closes());
    }

    /// fault is why it is not the right answer; empty where it is.
    [[nodiscard]] std::string fault() const
    {
        if (wanted_.http) {
            if (http_.state() == http_answer::state::bad)
                return "no HTTP answer";
            if (http_.state() == http_answer::state::more && !has_length())
                return "answer cut off";
            if (std::string fault = status_fault(wanted_, http_.status()); !fault.empty())
                return fault;
            if (surplus_)
                return "more than the answer";
        }
        std::uint64_t const size = !wanted_.http  ? size_
                                   : has_length() ? *http_.length()
                                                  : http_.body();
        bool const has_text = wanted_.http ? http_.has_text() || has_length() : search_.found();
        return body_fault(wanted_, size, has_text);
    }

private:
    // The head has the length of a body that need not come.
    [[nodiscard]] bool has_length() const noexcept { return wanted_.until_head && http_.length(); }

    exchange const& wanted_;
    http_answer http_;
    text_search search_; // Of an answer that is plain bytes.
    std::uint64_t size_ = 0;
    bool ended_ = false;
    bool surplus_ = false;
};

} // namespace cleat::bench
