#include <cleat/core/assert.hpp>
#include <cleat/tls/session_cache.hpp>

#include <algorithm>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

namespace cleat::tls {
namespace {

// The version is a part of it: a save of another one is refused as a whole.
constexpr std::string_view magic = "cleat sessions 1\n";

class saved_writer
{
public:
    void add(std::span<std::byte const> bytes)
    {
        out_.insert(out_.end(), bytes.begin(), bytes.end());
    }
    void add(std::string_view text) { add(std::as_bytes(std::span{text})); }
    void add(std::uint32_t number)
    {
        for (unsigned shift = 0; shift != 32; shift += 8)
            out_.push_back(static_cast<std::byte>(number >> shift));
    }
    void add_sized(std::span<std::byte const> bytes)
    {
        add(static_cast<std::uint32_t>(bytes.size()));
        add(bytes);
    }
    void add_sized(std::string_view text) { add_sized(std::as_bytes(std::span{text})); }
    [[nodiscard]] std::vector<std::byte> finish() && { return std::move(out_); }

private:
    std::vector<std::byte> out_;
};

// After a read beyond the end, each read is empty, and failed() is true.
class saved_reader
{
public:
    explicit saved_reader(std::span<std::byte const> bytes) : left_{bytes} {}

    std::span<std::byte const> take(std::size_t size) noexcept
    {
        failed_ = failed_ || size > left_.size();
        if (failed_)
            return {};
        std::span<std::byte const> const taken = left_.first(size);
        left_ = left_.subspan(size);
        return taken;
    }
    std::uint32_t number() noexcept
    {
        std::uint32_t value = 0;
        unsigned shift = 0;
        for (std::byte const each : take(4)) {
            value |= std::to_integer<std::uint32_t>(each) << shift;
            shift += 8;
        }
        return value;
    }
    std::span<std::byte const> sized() noexcept { return take(number()); }
    std::string text()
    {
        std::span<std::byte const> const bytes = sized();
        return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
    }
    void fail() noexcept { failed_ = true; }
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    [[nodiscard]] bool at_end() const noexcept { return left_.empty(); }

private:
    std::span<std::byte const> left_;
    bool failed_ = false;
};

struct saved_session
{
    session_key key;
    session held;
};

saved_session read_one(saved_reader& from)
{
    saved_session one;
    one.key.host = from.text();
    one.key.port = static_cast<std::uint16_t>(from.number());
    one.key.alpn = from.text();
    one.key.scope = from.text();
    one.held = decode_session(from.sized());
    if (!one.held)
        from.fail();
    return one;
}

} // namespace

session_cache::session_cache(std::size_t servers_max) : servers_max_{servers_max}
{
    CLEAT_ASSERT(servers_max != 0);
}

session_cache::server* session_cache::find(session_key const& key) noexcept
{
    auto const found = by_key_.find(key);
    if (found == by_key_.end())
        return nullptr;
    servers_.splice(servers_.begin(), servers_, found->second);
    return &servers_.front();
}

void session_cache::add(session_key const& key, session issued)
{
    if (server* const known = find(key))
        return known->sessions.keep(std::move(issued));
    servers_.push_front({key, {}});
    try {
        by_key_.emplace(key, servers_.begin());
    } catch (...) {
        servers_.pop_front();
        throw;
    }
    servers_.front().sessions.keep(std::move(issued));
    if (servers_.size() > servers_max_) {
        by_key_.erase(servers_.back().key);
        servers_.pop_back();
    }
}

void session_cache::keep(session_key const& key, session issued) noexcept
{
    try {
        add(key, std::move(issued));
    } catch (std::bad_alloc const&) { // The next connection is a full handshake.
    }
}

session session_cache::take(session_key const& key) noexcept
{
    server* const known = find(key);
    return known == nullptr ? session{} : known->sessions.take();
}

void session_cache::drop(session_key const& key, session const& failed) noexcept
{
    if (server* const known = find(key))
        known->sessions.drop(failed);
}

void session_cache::clear() noexcept
{
    by_key_.clear();
    servers_.clear();
}

std::size_t session_cache::size() const noexcept
{
    std::size_t count = 0;
    for (server const& each : servers_)
        count += each.sessions.size();
    return count;
}

std::vector<std::byte> session_cache::save() const
{
    saved_writer out;
    out.add(magic);
    // The oldest first: a load keeps them in this order.
    for (auto each = servers_.rbegin(); each != servers_.rend(); ++each)
        for (std::size_t age = each->sessions.size(); age-- != 0;) {
            std::vector<std::byte> const bytes = encode_session(each->sessions.by_age(age));
            if (bytes.empty())
                continue; // The library does not let it resume any more.
            out.add_sized(each->key.host);
            out.add(std::uint32_t{each->key.port});
            out.add_sized(each->key.alpn);
            out.add_sized(each->key.scope);
            out.add_sized(bytes);
        }
    return std::move(out).finish();
}

error_code session_cache::load(std::span<std::byte const> saved)
{
    saved_reader from{saved};
    std::span<std::byte const> const begin = from.take(magic.size());
    bool const is_save = std::ranges::equal(begin, std::as_bytes(std::span{magic}));
    std::vector<saved_session> read;
    while (is_save && !from.failed() && !from.at_end())
        read.push_back(read_one(from));
    if (!is_save || from.failed())
        return make_error_code(boost::system::errc::bad_message);
    for (saved_session& each : read)
        add(each.key, std::move(each.held));
    return {};
}

} // namespace cleat::tls
