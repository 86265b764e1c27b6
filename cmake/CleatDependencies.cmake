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
endif()
if(CLEAT_BUILD_TESTS)
  find_package(doctest REQUIRED)
endif()
