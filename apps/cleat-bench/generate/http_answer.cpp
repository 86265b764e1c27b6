#include "generate/http_answer.hpp"
#include "text/fields.hpp"
#include "text/lists.hpp"

#include <algorithm>
#include <charconv>

namespace cleat::bench {
std::size_t http_answer::take(std::string_view bytes)
{
    std::size_t taken = 0;
    while (state_ == state::more && taken != bytes.size())
        taken += take_some(bytes.substr(taken));
    return taken;
}

std::size_t http_answer::take_some(std::string_view bytes)
{
    bool complete = false;
    std::size_t taken = 0;
    switch (part_) {
    case part::body_to_end:
        body_ += bytes.size();
        search_.take(bytes);
        return bytes.size();
    case part::body_of_length:
    case part::chunk:
        taken = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
        left_ -= taken;
        body_ += taken;
        search_.take(bytes.substr(0, taken));
        if (left_ == 0 && part_ == part::chunk)
            part_ = part::chunk_end;
        else if (left_ == 0)
            state_ = state::whole;
        return taken;
    default:
        break;
    }

    taken = take_line(bytes, complete);
    if (!complete)
        return taken;
    std::string_view const line = trimmed(line_);
    if (part_ == part::head && status_ == 0) {
        // status-line = HTTP-version SP status-code SP [ reason-phrase ] (RFC 9112, section 4)
        bool const good =
            line.size() >= 12 && line.starts_with("HTTP/1.") &&
            std::from_chars(line.data() + 9, line.data() + 12, status_).ptr == line.data() + 12 &&
            status_ >= 100;
        version_1_0_ = closes_ = good && line[7] == '0';
        if (!good)
            fail();
    } else if (part_ == part::head && line.empty()) {
        on_head();
    } else if (part_ == part::head) {
        std::size_t const colon = line.find(':');
        if (colon == std::string_view::npos)
            fail();
        else
            on_header(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
    } else if (part_ == part::chunk_size) {
        on_chunk_size();
    } else if (part_ == part::chunk_end) {
        part_ = part::chunk_size;
        if (!line.empty())
            fail();
    } else if (line.empty()) { // The end of the trailer.
        state_ = state::whole;
    }
    line_.clear();
    return taken;
}

std::size_t http_answer::take_line(std::string_view bytes, bool& complete)
{
    std::size_t const end = bytes.find('\n');
    complete = end != std::string_view::npos;
    std::size_t const taken = complete ? end + 1 : bytes.size();
    head_size_ += taken;
    if (head_size_ > head_max) {
        complete = false;
        fail();
        return taken;
    }
    line_.append(bytes.substr(0, complete ? end : taken));
    return taken;
}

void http_answer::on_header(std::string_view name, std::string_view value)
{
    if (is_same_word(name, "content-length")) {
        std::uint64_t length = 0;
        auto const read = std::from_chars(value.data(), value.data() + value.size(), length);
        if (read.ec != std::errc{} || read.ptr != value.data() + value.size() ||
            (has_length_ && length != left_))
            return fail();
        has_length_ = true;
        left_ = length;
    } else if (is_same_word(name, "transfer-encoding")) {
        chunked_ = chunked_ || has_word(value, "chunked");
    } else if (is_same_word(name, "connection")) {
        if (has_word(value, "close"))
            closes_ = true;
        else if (has_word(value, "keep-alive"))
            closes_ = false;
    }
}

// Which body follows is in this order in RFC 9112, section 6.3.
void http_answer::on_head()
{
    head_size_ = 0;
    if (status_ < 200 && status_ != 101) {
        status_ = 0;
        has_length_ = chunked_ = false;
        return;
    }
    bool const none = head_only_ || status_ == 204 || status_ == 304 || status_ == 101;
    if (none || (!chunked_ && has_length_ && left_ == 0)) {
        state_ = state::whole;
    } else if (chunked_) {
        part_ = part::chunk_size;
    } else if (has_length_) {
        part_ = part::body_of_length;
        length_ = left_;
    } else {
        part_ = part::body_to_end;
        closes_ = true;
    }
}

void http_answer::on_chunk_size()
{
    head_size_ = 0; // Each chunk's line has the whole bound for itself.
    std::string_view const line = trimmed(line_);
    auto const read = std::from_chars(line.data(), line.data() + line.size(), left_, 16);
    std::string_view const rest = line.substr(static_cast<std::size_t>(read.ptr - line.data()));
    if (read.ec != std::errc{} || !(rest.empty() || rest.front() == ';' || rest.front() == ' '))
        return fail();
    part_ = left_ == 0 ? part::trailer : part::chunk;
}

void http_answer::end() noexcept
{
    if (state_ == state::more && part_ == part::body_to_end)
        state_ = state::whole;
}

} // namespace cleat::bench
