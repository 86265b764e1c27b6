#include "report/function_kinds.hpp"
#include "report/quantities.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace cleat::locks {

bool is_lock_function(std::string_view name)
{
    // glibc's own names begin with underscores, and end with versions.
    name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
    constexpr std::array beginnings{
        "pthread_mutex_",
        "pthread_rwlock_",
        "pthread_spin_",
        "pthread_once",
        "lll_",
        "futex_",
        "CRYPTO_THREAD_read_lock",
        "CRYPTO_THREAD_write_lock",
        "CRYPTO_THREAD_unlock",
        "CRYPTO_MUTEX_lock",
        "CRYPTO_MUTEX_unlock",
        "CRYPTO_STATIC_MUTEX_lock",
        "CRYPTO_STATIC_MUTEX_unlock",
        "std::mutex::",
        "std::shared_mutex::"};
    return std::ranges::any_of(
        beginnings, [&](std::string_view begin) { return name.starts_with(begin); });
}

bool is_reference_count(std::string_view name)
{
    if (std::size_t const arguments = name.find('('); arguments != std::string_view::npos)
        name = name.substr(0, arguments);
    auto const ends = [&](std::string_view part) { return name.ends_with(part); };
    auto const begins = [&](std::string_view part) { return name.starts_with(part); };
    if (ends("_up_ref") || begins("CRYPTO_UP_REF") || begins("CRYPTO_DOWN_REF") ||
        begins("CRYPTO_refcount_") || begins("CRYPTO_atomic_"))
        return true;
    // The own time of such a free is the count; the freeing itself is in malloc's functions.
    constexpr std::array objects{"EVP_", "X509_", "SSL_", "ossl_", "OSSL_", "BIO_", "RSA_", "EC_"};
    if (ends("_free") && std::ranges::any_of(objects, begins))
        return true;
    constexpr std::array inside{"_Sp_counted_base",      "__shared_count",
                                "__exchange_and_add",    "__atomic_add",
                                "intrusive_ptr_add_ref", "intrusive_ptr_release"};
    return std::ranges::any_of(
        inside, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

bool is_wrapper(std::string_view name)
{
    if (is_lock_function(name))
        return true;
    std::string const itself = short_name(name);
    constexpr std::array beginnings{"std::",     "__gnu_cxx::", "__gthread",  "__glibcxx",
                                    "__pthread", "pthread_",    "___pthread", "mtx_",
                                    "cnd_",      "sem_",        "__new_sem"};
    return std::ranges::any_of(
        beginnings, [&](std::string_view begin) { return itself.starts_with(begin); });
}

} // namespace cleat::locks
