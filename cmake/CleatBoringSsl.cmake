# BoringSSL from the crate boring-sys, without the crate's patches: built once as static libraries,
# about two minutes on two cores. Generated files (assembly, the table of errors) come with the
# source, so neither Go nor Perl is needed.

# Its own CMake asks for debug information in every kind of build, and makes warnings errors, of
# which compilers newer than ours know more: -g0 comes later, and -w silences what cannot be undone.
set(_optimized "-O3 -DNDEBUG -g0 -w")
set(_flags -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON
  -DBUILD_TESTING=OFF "-DCMAKE_C_FLAGS_RELEASE=${_optimized}"
  "-DCMAKE_CXX_FLAGS_RELEASE=${_optimized}")
cleat_cache_folder(boringssl _folder ${_flags})

file(MAKE_DIRECTORY "${CLEAT_CACHE_DIR}")
file(LOCK "${CLEAT_CACHE_DIR}/boringssl.lock" GUARD FILE)
if(NOT EXISTS "${_folder}/complete")
  cleat_fetch_source(boringssl boring-sys deps/boringssl _source)
  message(STATUS "Building BoringSSL once into ${_folder}")

  set(_build "${_folder}.build")
  file(REMOVE_RECURSE "${_folder}" "${_build}")
  file(MAKE_DIRECTORY "${_build}")
  cleat_build_with_cmake(BoringSSL "${_source}" "${_build}" ${_flags})
  # Its own installation wants its command-line tool to have been built.
  file(MAKE_DIRECTORY "${_folder}/lib")
  file(COPY_FILE "${_build}/libssl.a" "${_folder}/lib/libssl.a")
  file(COPY_FILE "${_build}/libcrypto.a" "${_folder}/lib/libcrypto.a")
  file(COPY "${_source}/include" DESTINATION "${_folder}")
  file(COPY_FILE "${_source}/LICENSE" "${_folder}/LICENSE")
  file(REMOVE_RECURSE "${_build}")
  file(TOUCH "${_folder}/complete")
endif()
file(LOCK "${CLEAT_CACHE_DIR}/boringssl.lock" RELEASE)

# Its source has no version but its API's: that of the crate has to say which BoringSSL this is.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/sources/boringssl/Cargo.toml" _pinned REGEX "^boring-sys")
string(REGEX MATCH "[0-9]+[.][0-9]+[.][0-9]+" _pinned "${_pinned}")
set(CLEAT_BORINGSSL_SOURCE "boring-sys ${_pinned}")

cleat_use_tls_library("${_folder}" Threads::Threads)
