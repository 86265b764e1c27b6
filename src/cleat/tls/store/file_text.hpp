// file_text: a file's text, read whole and wiped when it is dropped. Not a public header.

#pragma once

#include <cleat/core/error.hpp>

#include <string>
#include <string_view>

namespace cleat::tls {

/// secret_text is a text that may have a private key in it. Its destructor wipes it.
class secret_text
{
public:
    secret_text() = default;
    explicit secret_text(std::string text) noexcept : text_{std::move(text)} {}
    secret_text(secret_text&& other) noexcept;
    secret_text& operator=(secret_text&& other) noexcept;
    ~secret_text() { wipe(); }

    [[nodiscard]] std::string_view view() const noexcept { return text_; }

private:
    void wipe() noexcept;

    std::string text_;
};

/// file_fault is why a file is not read. error: a system call's error, in `reason`.
enum class file_fault
{
    none,
    error,
    is_directory,
    not_a_regular_file, ///< A FIFO, a socket or a device: reading it could last forever.
    too_large,
};

struct file_text
{
    secret_text text;
    file_fault fault = file_fault::none;
    error_code reason{};
};

/// read_file reads a file of at most limits::pem_file_max bytes. It does not wait for a FIFO's
/// writer. Throws std::bad_alloc.
[[nodiscard]] file_text read_file(std::string const& path);

/// description says what is wrong with the file that read_file could not read: "cannot read a.pem:
/// Permission denied".
[[nodiscard]] std::string description(file_text const& failed, std::string_view path);

/// cure is a sentence for the operator.
[[nodiscard]] std::string_view cure(file_text const& failed) noexcept;

/// may_pass: the cause is a lack of resources, and the file is not to blame.
[[nodiscard]] bool may_pass(file_text const& failed) noexcept;

} // namespace cleat::tls
