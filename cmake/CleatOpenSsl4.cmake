# OpenSSL 4 from the crate openssl-src: built once as static libraries with its own Configure.
#
# It needs perl and make, and some minutes. Parts that a TLS server never calls are left out; the
# folder for configuration and trust is the system's, as with the system's own OpenSSL.
#
# With CLEAT_OPENSSL_REPORTS_CONTENTION its locks write down what waited for them, which is what
# perf/lock_contention.py holds against cleat-locks. Not for service: a file a thread, no end.

# zlib and brotli are the system's. Without them OpenSSL sends no compressed certificate, whoever
# has compressed it.
set(_flags no-shared no-module no-tests no-docs no-apps no-legacy no-quic no-dtls zlib enable-brotli
  --libdir=lib --openssldir=/etc/ssl)
if(CLEAT_OPENSSL_REPORTS_CONTENTION)
  list(APPEND _flags -DREPORT_RWLOCK_CONTENTION)
endif()
cleat_cache_folder(openssl _folder ${_flags})

file(MAKE_DIRECTORY "${CLEAT_CACHE_DIR}")
file(LOCK "${CLEAT_CACHE_DIR}/openssl.lock" GUARD FILE)
if(NOT EXISTS "${_folder}/complete")
  find_package(Perl REQUIRED)
  find_program(CLEAT_MAKE NAMES gmake make REQUIRED)
  cleat_fetch_source(openssl openssl-src openssl _source)
  message(STATUS "Building OpenSSL 4 once into ${_folder}: this takes some minutes")

  set(_build "${_folder}.build")
  file(REMOVE_RECURSE "${_folder}" "${_build}")
  file(MAKE_DIRECTORY "${_build}")
  set(_compiler ${CMAKE_C_COMPILER_LAUNCHER} ${CMAKE_C_COMPILER})
  list(JOIN _compiler " " _compiler)
  cmake_host_system_information(RESULT _cores QUERY NUMBER_OF_LOGICAL_CORES)
  cleat_build_step("Configuring OpenSSL" "${_build}" quiet
    "${CMAKE_COMMAND}" -E env "CC=${_compiler}"
    "${PERL_EXECUTABLE}" "${_source}/Configure" ${_flags} "--prefix=${_folder}")
  cleat_build_step("Building OpenSSL" "${_build}" quiet "${CLEAT_MAKE}" -s -j${_cores})
  cleat_build_step("Installing OpenSSL" "${_build}" quiet "${CLEAT_MAKE}" -s install_dev)
  file(COPY_FILE "${_source}/LICENSE.txt" "${_folder}/LICENSE")
  file(REMOVE_RECURSE "${_build}")
  file(TOUCH "${_folder}/complete")
endif()
file(LOCK "${CLEAT_CACHE_DIR}/openssl.lock" RELEASE)

set(CLEAT_TLS_COMPRESSION z brotlienc brotlidec brotlicommon)
cleat_use_tls_library("${_folder}" Threads::Threads ${CMAKE_DL_LIBS} ${CLEAT_TLS_COMPRESSION})
