# Libraries that come with the system's package manager; scripts/setup installs them.
#
# Boost is found by its own package files (CONFIG): CMake's own search for it is on its way out.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(Boost 1.81 CONFIG REQUIRED)
find_package(fmt REQUIRED)
if(CLEAT_BUILD_PROGRAMS)
  find_package(CLI11 REQUIRED)
  find_package(ZLIB REQUIRED)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(CLEAT_BROTLI REQUIRED IMPORTED_TARGET libbrotlienc libbrotlidec)
  pkg_check_modules(CLEAT_CARES REQUIRED IMPORTED_TARGET libcares)
  pkg_check_modules(CLEAT_NGHTTP2 REQUIRED IMPORTED_TARGET libnghttp2)
  pkg_check_modules(CLEAT_SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
endif()
if(CLEAT_BUILD_TESTS)
  find_package(doctest REQUIRED)
endif()
