#include <cleat/core/limits.hpp>
#include <cleat/tls/certificates/compressed_certificates.hpp>

#include <algorithm>
#include <utility>

namespace cleat::tls {

std::span<std::byte const> compressed_certificates::find(
    std::uint16_t algorithm, std::string_view message)
{
    std::string name{static_cast<char>(algorithm >> 8U), static_cast<char>(algorithm)};
    name += message;
    if (auto const found = places_.find(name); found != places_.end()) {
        by_use_.splice(by_use_.begin(), by_use_, found->second);
        return by_use_.front().compressed;
    }
    std::list<kept> front; // Throws before anything has changed.
    front.push_back({std::move(name), compress(algorithm, message)});
    if (front.front().compressed.empty())
        return {};
    places_.emplace(front.front().name, front.begin());
    by_use_.splice(by_use_.begin(), front);
    if (by_use_.size() > limits::compressed_certificates_max) {
        places_.erase(by_use_.back().name);
        by_use_.pop_back();
    }
    return by_use_.front().compressed;
}

std::vector<std::byte> compressed_certificates::compress(
    std::uint16_t algorithm, std::string_view message) const
{
    auto const found =
        std::ranges::find(compressors_, algorithm, &certificate_compressor::algorithm);
    std::vector<std::byte> compressed;
    if (found == compressors_.end() ||
        !found->compress(std::as_bytes(std::span{message}), compressed))
        compressed.clear();
    return compressed;
}

} // namespace cleat::tls
