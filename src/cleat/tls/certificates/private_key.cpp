#include <cleat/tls/certificates/pem.hpp>
#include <cleat/tls/certificates/private_key.hpp>
#include <cleat/tls/handles.hpp>
#include <cleat/tls/openssl_error.hpp>

#include <openssl/crypto.h>
#include <openssl/pem.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

namespace cleat::tls {
namespace {

std::optional<pem_block> first_key(std::string_view pem)
{
    std::vector<pem_block> const blocks = pem_blocks(pem);
    auto const found = std::ranges::find_if(blocks, &pem_block::is_private_key);
    return found == blocks.end() ? std::nullopt : std::optional{*found};
}

// A passphrase that does not fit is refused, not cut: its beginning is another passphrase.
int give_passphrase(char* buffer, int size, int, void* argument) noexcept
{
    auto const& passphrase = *static_cast<std::string_view const*>(argument);
    if (passphrase.size() > static_cast<std::size_t>(size))
        return -1;
    std::memcpy(buffer, passphrase.data(), passphrase.size());
    return static_cast<int>(passphrase.size());
}

secret_text wiped_text_of(BIO* memory)
{
    char* text = nullptr;
    long const size = BIO_get_mem_data(memory, &text);
    secret_text copy{std::string_view{text, static_cast<std::size_t>(size)}};
    OPENSSL_cleanse(text, static_cast<std::size_t>(size));
    return copy;
}

} // namespace

bool has_encrypted_key(std::string_view pem)
{
    std::optional<pem_block> const key = first_key(pem);
    return key && key->is_encrypted();
}

std::optional<secret_text> decrypt_private_key(std::string_view pem, std::string_view passphrase)
{
    std::optional<pem_block> const block = first_key(pem);
    if (!block || !block->complete || block->text.size() > std::numeric_limits<int>::max())
        return std::nullopt;
    clear_errors();
    bio_ptr const input{BIO_new_mem_buf(block->text.data(), static_cast<int>(block->text.size()))};
    bio_ptr const output{BIO_new(BIO_s_mem())};
    if (input == nullptr || output == nullptr)
        throw std::bad_alloc{};
    evp_pkey_ptr const key{
        PEM_read_bio_PrivateKey(input.get(), nullptr, give_passphrase, &passphrase)};
    bool const done =
        key != nullptr && PEM_write_bio_PrivateKey(
                              output.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1;
    clear_errors();
    return done ? std::optional{wiped_text_of(output.get())} : std::nullopt;
}

} // namespace cleat::tls
