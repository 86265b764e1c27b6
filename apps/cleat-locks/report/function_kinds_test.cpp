#include "report/function_kinds.hpp"

#include <doctest/doctest.h>

namespace cleat::locks::function_kinds_test {

TEST_CASE("lock functions are known by name, in libc's spellings too")
{
    for (char const* const name :
         {"pthread_mutex_lock", "___pthread_rwlock_unlock", "__lll_lock_wait", "pthread_spin_lock",
          "CRYPTO_THREAD_write_lock", "std::mutex::lock()"})
        CHECK_MESSAGE(is_lock_function(name), name);
    for (char const* const name :
         {"main", "my_pthread_mutex_lock", "pthread_create", "pthread_cond_wait", "", "____"})
        CHECK_MESSAGE(!is_lock_function(name), name);
}

TEST_CASE("reference counts are known by name")
{
    for (char const* const name :
         {"EVP_PKEY_up_ref", "X509_free", "SSL_SESSION_up_ref", "CRYPTO_refcount_inc",
          "std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2>::_M_release()", "SSL_free(ssl_st*)",
          "boost::asio::intrusive_ptr_add_ref(x*)"})
        CHECK_MESSAGE(is_reference_count(name), name);
    for (char const* const name : {"free", "cfree", "EVP_DigestUpdate", "main", "buffer_free"})
        CHECK_MESSAGE(!is_reference_count(name), name);
}

TEST_CASE("the C++ library and libc only pass a call on to the lock")
{
    for (char const* const name :
         {"std::mutex::lock()", "__gthread_mutex_lock(pthread_mutex_t*)", "__pthread_mutex_lock",
          "std::lock_guard<std::mutex>::lock_guard(std::mutex&)", "mtx_lock",
          "__glibcxx_rwlock_rdlock", "void std::unique_lock<std::mutex>::lock()"})
        CHECK_MESSAGE(is_wrapper(name), name);
    for (char const* const name : {"main", "my::std::lock()", "CRYPTO_THREAD_up_ref", "stdlock"})
        CHECK_MESSAGE(!is_wrapper(name), name);
}

} // namespace cleat::locks::function_kinds_test
