#include "commands/load_options.hpp"
#include "text/fields.hpp"
#include "text/lists.hpp"
#include "text/times.hpp"
#include "text/usage_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <variant>

namespace cleat::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t message_size_max = std::uint64_t{64} << 20U;

// So much time for each opening, of which they use the first half: all of them are to be over
// before the first message is due, and the user is to wait no longer than that.
constexpr std::chrono::milliseconds opening_each{5};
constexpr std::chrono::milliseconds openings_min{400};
constexpr std::chrono::milliseconds openings_max{10'000};

// The fields of the opening handshake that are not the user's.
constexpr std::array<std::string_view, 5> own_fields{
    "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version",
    "Sec-WebSocket-Extensions"};

void refuse_without_effect(std::string_view option, std::string_view why)
{
    refuse_usage(fmt::format("{}: has no effect here: {}", option, why));
}

} // namespace

void load_options::add_websocket(CLI::App& app)
{
    std::string const group = "WebSocket";
    app.add_flag(
           "--websocket", websocket,
           "each connection opens a WebSocket (RFC 6455) with the path; a transaction is an "
           "opening, or with --messages or --keep a message and its echo")
        ->group(group);
    app.add_option(
           "--messages", messages,
           "that a connection sends, each after the echo of the one before; with --keep instead it "
           "sends messages until the time is up")
        ->group(group)
        ->check(CLI::Range(1U, 1'000'000U));
    app.add_option("--message-size", message_size, "bytes of a message: 1K")
        ->group(group)
        ->capture_default_str();
    app.add_option("--message-type", message_type, "text or binary")
        ->group(group)
        ->check(CLI::IsMember({"text", "binary"}))
        ->capture_default_str();
    app.add_flag(
           "--hold", hold,
           "opened WebSockets stay open until the time is up and answer pings; one that the server "
           "closes is a failure")
        ->group(group);
}

// As check_effect, of what makes no sense with WebSockets, or without.
void load_options::check_websocket() const
{
    if (app_ == nullptr || app_->get_option_no_throw("--websocket") == nullptr)
        return; // Another subcommand, which may have --messages of its own.
    if (!websocket) {
        for (char const* const each : {"--messages", "--message-size", "--message-type", "--hold"})
            if (given(each))
                refuse_without_effect(each, "add --websocket, or leave it out");
        return;
    }
    for (char const* const each : {"--method", "--body-size", "--raw", "--raw-file"})
        if (given(each))
            refuse_without_effect(
                each, "a WebSocket is opened by GET, without a body; leave it out");
    for (char const* const each : {"--expect-status", "--expect-size", "--expect-body"})
        if (given(each))
            refuse_without_effect(
                each, "a WebSocket's opening and its echoes are checked anyway; leave it out");
    if (given("--requests"))
        refuse_without_effect("--requests", "give --messages");
    if (early_data)
        refuse_usage("--early-data: does not go with --websocket; leave one of them out");
    if (hold && (messages || keep))
        refuse_usage(fmt::format(
            "--hold: sends no messages, so {} has no effect; leave one of them out",
            messages ? "--messages" : "--keep"));
    if (messages && keep)
        refuse_without_effect(
            "--messages",
            "a kept connection sends messages until the time is up; leave one of them out");
    if (!messages && !keep)
        for (char const* const each : {"--message-size", "--message-type"})
            if (given(each))
                refuse_without_effect(each, "no message is sent; add --messages or --keep");
    for (std::string const& header : headers)
        for (std::string_view const each : own_fields)
            if (has_name(header, each))
                refuse_usage(fmt::format(
                    "--header '{}': cleat-bench itself writes this field of the opening; leave it "
                    "out",
                    header));
}

void load_options::set_websocket(load_request& request) const
{
    load_spec& spec = request.spec;
    websocket_load& use = spec.websocket.emplace();
    use.use = hold               ? websocket_use::hold
              : messages || keep ? websocket_use::echo
                                 : websocket_use::open;
    auto const bytes = parse_size(message_size);
    if (!bytes || *bytes > message_size_max)
        refuse_usage(fmt::format(
            "--message-size {}: write a number of bytes like 1024 or 16K, at most {}M",
            message_size, message_size_max >> 20U));
    use.message_size = *bytes;
    use.is_binary = message_type == "binary";
    for (std::string const& header : headers)
        if (has_name(header, "Sec-WebSocket-Protocol")) {
            use.subprotocols += use.subprotocols.empty() ? "" : ",";
            use.subprotocols += trimmed(std::string_view{header}.substr(header.find(':') + 1));
        }
    if (kept* const loop = std::get_if<kept>(&spec.loop)) {
        loop->open_ahead = std::clamp<std::chrono::nanoseconds>(
            opening_each * loop->connections, openings_min, openings_max);
        spec.warm_up += loop->open_ahead;
    }
    std::string const each =
        messages ? fmt::format(", {} on each connection", *messages) : std::string{};
    request.asked.emplace_back(
        "WebSocket",
        use.use == websocket_use::hold ? std::string{"opened and held"}
        : use.use == websocket_use::open
            ? std::string{"opened and closed"}
            : fmt::format("echo of {} messages of {} bytes{}", message_type, *bytes, each));
}

} // namespace cleat::bench
