# AWS-LC from the crate aws-lc-sys: built once as static libraries, about half a minute on two
# cores.

set(_flags -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON
  -DBUILD_TOOL=OFF -DBUILD_TESTING=OFF -DDISABLE_PERL=ON -DDISABLE_GO=ON)
if(CLEAT_SANITIZE STREQUAL "lines")
  # The library's accesses to memory are recorded, too; those of its assembly are not.
  list(APPEND _flags "-DCMAKE_C_FLAGS=-fsanitize=thread -g1"
    "-DCMAKE_CXX_FLAGS=-fsanitize=thread -g1")
endif()
cleat_cache_folder(aws-lc _folder ${_flags})

file(MAKE_DIRECTORY "${CLEAT_CACHE_DIR}")
file(LOCK "${CLEAT_CACHE_DIR}/aws-lc.lock" GUARD FILE)
if(NOT EXISTS "${_folder}/complete")
  cleat_fetch_source(aws-lc aws-lc-sys aws-lc _source)
  message(STATUS "Building AWS-LC once into ${_folder}")
  # The crate leaves the folder `tool` out, and AWS-LC's CMake wants one to be there.
  file(MAKE_DIRECTORY "${_source}/tool")
  file(TOUCH "${_source}/tool/CMakeLists.txt")

  set(_build "${_folder}.build")
  file(REMOVE_RECURSE "${_folder}" "${_build}")
  file(MAKE_DIRECTORY "${_build}")
  cleat_build_with_cmake(AWS-LC "${_source}" "${_build}" ${_flags}
    "-DCMAKE_INSTALL_PREFIX=${_folder}" -DCMAKE_INSTALL_LIBDIR=lib)
  cleat_build_step("Installing AWS-LC" "${_build}" quiet "${CMAKE_COMMAND}" --install "${_build}")
  file(COPY_FILE "${_source}/LICENSE" "${_folder}/LICENSE")
  file(REMOVE_RECURSE "${_build}")
  file(TOUCH "${_folder}/complete")
endif()
file(LOCK "${CLEAT_CACHE_DIR}/aws-lc.lock" RELEASE)

cleat_use_tls_library("${_folder}" Threads::Threads)
