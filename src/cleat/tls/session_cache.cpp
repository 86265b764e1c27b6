#include <cleat/core/assert.hpp>
#include <cleat/tls/records.hpp>
#include <cleat/tls/session_cache.hpp>

#include <cstdint>
#include <new>
#include <span>
#include <string_view>
#include <utility>

namespace cleat::tls {
namespace {

// The version is a part of it: a save of another one is refused as a whole.
constexpr std::string_view magic = "cleat sessions 1\n";

struct saved_session
{
    session_key key;
    session held;
};

saved_session read_one(record_reader& from)
{
    saved_session one;
    one.key.host = from.text();
    one.key.port = static_cast<std::uint16_t>(from.number<std::uint32_t>());
    one.key.alpn = from.text();
    one.key.scope = from.text();
    one.held = decode_session(std::as_bytes(std::span{from.text()}));
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
    record_writer out;
    // The oldest first: a load keeps them in this order.
    for (auto each = servers_.rbegin(); each != servers_.rend(); ++each)
        for (std::size_t age = each->sessions.size(); age-- != 0;) {
            std::vector<std::byte> const bytes = encode_session(each->sessions.by_age(age));
            if (bytes.empty())
                continue; // The library does not let it resume any more.
            out.text(each->key.host);
            out.number(std::uint32_t{each->key.port});
            out.text(each->key.alpn);
            out.text(each->key.scope);
            out.text({reinterpret_cast<char const*>(bytes.data()), bytes.size()});
        }
    std::vector<std::byte> saved;
    for (std::string_view const part : {magic, std::string_view{out.bytes()}}) {
        auto const bytes = std::as_bytes(std::span{part});
        saved.insert(saved.end(), bytes.begin(), bytes.end());
    }
    return saved;
}

error_code session_cache::load(std::span<std::byte const> saved)
{
    std::string_view const bytes{reinterpret_cast<char const*>(saved.data()), saved.size()};
    std::vector<saved_session> read;
    bool good = bytes.starts_with(magic);
    for (record_reader from{bytes, magic.size()}; good && from.place() < bytes.size();) {
        read.push_back(read_one(from));
        good = from.good() && read.back().held;
    }
    if (!good)
        return make_error_code(boost::system::errc::bad_message);
    for (saved_session& each : read)
        add(each.key, std::move(each.held));
    return {};
}

} // namespace cleat::tls
