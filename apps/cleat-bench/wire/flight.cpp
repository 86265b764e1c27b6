#include "wire/bytes.hpp"
#include "wire/client_hello.hpp"
#include "wire/flight.hpp"

#include <algorithm>

namespace cleat::bench::wire {
namespace {

constexpr std::size_t record_header_size = 5;
// A record may be longer by the expansion of its encryption (RFC 5246, section 6.2.3).
constexpr std::size_t record_max = fragment_max + 2048;
// A chain of certificates is the longest message.
constexpr std::size_t flight_message_max = std::size_t{1} << 18;

enum message_type : std::size_t
{
    hello_message = 2,
    certificate_message = 11,
    exchange_message = 12,
    request_message = 13,
    done_message = 14,
    status_message = 22
};

// SHA-256 of "HelloRetryRequest" (RFC 8446, section 4.1.3).
constexpr std::string_view retry_random{
    "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
    "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c",
    32};

std::uint16_t first_number(std::string_view bytes) noexcept
{
    return reader{bytes}.number_16();
}

} // namespace

void flight::add(std::string_view bytes)
{
    if (done_ || bytes.empty())
        return;
    any_ = true;
    records_.append(bytes);
    read_records();
}

void flight::fail() noexcept
{
    malformed_ = done_ = true;
}

void flight::read_records()
{
    while (!done_ && !records_.empty()) {
        auto const type = static_cast<std::uint8_t>(records_.front());
        if (type < static_cast<std::uint8_t>(record_type::change_cipher_spec) ||
            type > static_cast<std::uint8_t>(record_type::heartbeat) ||
            (records_.size() > 1 && records_[1] != 3))
            return fail();
        if (records_.size() < record_header_size)
            return;
        std::size_t const size = reader{std::string_view{records_}.substr(3)}.number(2);
        if (size > record_max)
            return fail();
        if (records_.size() < record_header_size + size)
            return;
        std::string const contents = records_.substr(record_header_size, size);
        records_.erase(0, record_header_size + size);
        if (type == static_cast<std::uint8_t>(record_type::alert)) {
            read_alert(contents);
        } else if (type == static_cast<std::uint8_t>(record_type::handshake)) {
            messages_ += contents;
            read_messages();
        } else {
            done_ = true; // After these everything is encrypted.
        }
    }
}

void flight::read_alert(std::string_view contents)
{
    constexpr std::size_t fatal = 2;
    reader bytes{contents};
    bool const ends = bytes.number(1) == fatal;
    auto const description = static_cast<int>(bytes.number(1));
    if (!bytes.ok())
        return fail();
    constexpr int close_notify = 0;
    alert_ = wire::alert{ends, description};
    done_ = ends || description == close_notify;
}

void flight::read_messages()
{
    constexpr std::size_t message_header = 4;
    while (!done_ && messages_.size() >= message_header) {
        reader bytes{messages_};
        std::size_t const type = bytes.number(1);
        std::size_t const size = bytes.number(3);
        if (size > flight_message_max)
            return fail();
        if (messages_.size() < message_header + size)
            return;
        std::string const body = messages_.substr(message_header, size);
        messages_.erase(0, message_header + size);
        read_message(type, body);
    }
}

void flight::read_message(std::size_t type, std::string_view body)
{
    if (!hello_ && type != hello_message)
        return fail();
    switch (type) {
    case hello_message:
        return hello_ ? fail() : read_hello(body);
    case certificate_message:
        return read_certificates(body);
    case exchange_message:
        return read_exchange(body);
    case status_message:
        has_staple_ = true;
        return;
    case request_message:
        wants_certificate_ = true;
        return;
    case done_message:
        complete_ = done_ = true;
        return;
    default:
        return; // A NewSessionTicket, or a message that is not known here.
    }
}

void flight::read_hello(std::string_view body)
{
    constexpr std::size_t random_size = 32;
    reader bytes{body};
    server_hello read;
    read.version = bytes.number_16();
    read.retry = bytes.bytes(random_size) == retry_random;
    read.session_id = bytes.sized(1);
    read.suite = bytes.number_16();
    read.compression = static_cast<unsigned>(bytes.number(1));
    if (!bytes.empty()) {
        reader extensions{bytes.sized(2)};
        while (!extensions.empty()) {
            std::uint16_t const type = extensions.number_16();
            read.extensions[type] = extensions.sized(2);
        }
        if (!extensions.ok())
            return fail();
    }
    if (!bytes.ok())
        return fail();
    auto const find = [&](extension_type type) -> std::string const* {
        auto const found = read.extensions.find(static_cast<std::uint16_t>(type));
        return found == read.extensions.end() || found->second.size() < 2 ? nullptr
                                                                          : &found->second;
    };
    if (std::string const* const chosen = find(extension_type::supported_versions))
        read.version = first_number(*chosen);
    if (std::string const* const share = find(extension_type::key_share))
        read.group = first_number(*share);
    done_ = read.version >= static_cast<std::uint16_t>(version::tls_1_3);
    hello_ = std::move(read);
}

void flight::read_certificates(std::string_view body)
{
    reader bytes{body};
    reader chain{bytes.sized(3)};
    std::vector<std::string> read;
    while (!chain.empty())
        read.emplace_back(chain.sized(3));
    if (!chain.ok() || !bytes.ok())
        return fail();
    certificates_ = std::move(read);
}

void flight::read_exchange(std::string_view body)
{
    constexpr std::size_t named_curve = 3;
    cipher_suite const* const suite = find_suite(hello_->suite);
    if (suite == nullptr)
        return;
    suite_traits const traits = traits_of(*suite);
    reader bytes{body};
    if (traits.psk)
        static_cast<void>(bytes.sized(2)); // RFC 4279, section 2: the hint of an identity.
    key_exchange read;
    if (traits.ecdhe) {
        if (bytes.number(1) != named_curve)
            return; // An explicit curve.
        read.group = bytes.number_16();
        read.public_key = bytes.sized(1);
    } else if (traits.dhe) {
        read.prime = bytes.sized(2);
        static_cast<void>(bytes.sized(2)); // The generator.
        read.public_key = bytes.sized(2);
        read.prime.erase(0, std::min(read.prime.find_first_not_of('\0'), read.prime.size()));
    } else {
        return;
    }
    if (!bytes.ok())
        return fail();
    exchange_ = std::move(read);
}

} // namespace cleat::bench::wire
