# TLS libraries from source: fetched by cargo against a committed lock file, built once, kept in a
# cache.
#
# The cache (CLEAT_CACHE_DIR) is outside the tree, so that a clean clone and a second preset find
# it. Two configurations may run at once: whoever comes second waits for the lock and finds the work
# done.

set(_cache "$ENV{CLEAT_CACHE_DIR}")
if(NOT _cache AND DEFINED ENV{XDG_CACHE_HOME})
  set(_cache "$ENV{XDG_CACHE_HOME}/cleat")
elseif(NOT _cache AND DEFINED ENV{HOME})
  set(_cache "$ENV{HOME}/.cache/cleat")
elseif(NOT _cache)
  set(_cache "${CMAKE_BINARY_DIR}/cache")
endif()
set(CLEAT_CACHE_DIR "${_cache}" CACHE PATH "Where TLS libraries built from source are kept")

# cleat_fetch_source(name crate subfolder out): unpacks the source that a crate carries.
#
# name is a folder of cmake/sources with a Cargo.toml and a Cargo.lock; cargo verifies the
# checksums. Sets out to the folder of the source. Fails the configuration when cargo is missing or
# offline.
function(cleat_fetch_source name crate subfolder out)
  set(_manifest "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/sources/${name}")
  file(SHA256 "${_manifest}/Cargo.lock" _lock)
  string(SUBSTRING "${_lock}" 0 12 _lock)
  set(_dir "${CLEAT_CACHE_DIR}/source/${name}-${_lock}")
  set(_source "${_dir}/crates/${crate}/${subfolder}")
  set(${out} "${_source}" PARENT_SCOPE)
  if(EXISTS "${_dir}/complete")
    return()
  endif()

  find_program(CLEAT_CARGO cargo HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin")
  if(NOT CLEAT_CARGO)
    message(FATAL_ERROR "cargo is needed to fetch the source of ${name}: run scripts/setup, or "
      "install the package cargo-web (Debian 12) or cargo (Debian 13, Ubuntu)")
  endif()
  message(STATUS "Fetching the source of ${name} with cargo")
  file(REMOVE_RECURSE "${_dir}")
  file(MAKE_DIRECTORY "${_dir}")
  execute_process(
    COMMAND "${CLEAT_CARGO}" vendor --locked --quiet
      --manifest-path "${_manifest}/Cargo.toml" "${_dir}/crates"
    WORKING_DIRECTORY "${_dir}"
    OUTPUT_QUIET RESULT_VARIABLE _failed)
  if(_failed OR NOT IS_DIRECTORY "${_source}")
    message(FATAL_ERROR "cargo could not fetch ${crate}: the message above says why. It needs the "
      "crate registry once; after that ${CLEAT_CACHE_DIR} serves every build")
  endif()
  file(TOUCH "${_dir}/complete")
endfunction()

# cleat_cache_folder(name out part...): where a build of name lives, given all that goes into it.
#
# The folder's name holds a digest of the lock file, the compiler, the processor and every part, so
# that a change of any of them is a new build, and an old build is never mistaken for a new one.
function(cleat_cache_folder name out)
  file(SHA256 "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/sources/${name}/Cargo.lock" _lock)
  set(_parts "${_lock}" ${ARGN} "${CMAKE_C_COMPILER_ID}" "${CMAKE_C_COMPILER_VERSION}"
    "${CMAKE_SYSTEM_PROCESSOR}")
  string(SHA256 _key "${_parts}")
  string(SUBSTRING "${_key}" 0 12 _key)
  set(${out} "${CLEAT_CACHE_DIR}/${name}-${_key}" PARENT_SCOPE)
endfunction()

# cleat_build_step(what folder [quiet] command...): runs one step of a library's build in folder.
#
# Its output is shown as it comes, or with quiet only when the step fails. Failure ends the
# configuration.
function(cleat_build_step what folder)
  set(_command ${ARGN})
  list(GET _command 0 _first)
  set(_output "")
  if(_first STREQUAL "quiet")
    list(POP_FRONT _command)
    execute_process(COMMAND ${_command} WORKING_DIRECTORY "${folder}"
      OUTPUT_VARIABLE _output ERROR_VARIABLE _output RESULT_VARIABLE _failed)
  else()
    execute_process(COMMAND ${_command} WORKING_DIRECTORY "${folder}" RESULT_VARIABLE _failed)
  endif()
  if(_failed)
    message("${_output}")
    message(FATAL_ERROR "${what} failed; the output above says why")
  endif()
endfunction()

# cleat_build_with_cmake(what source folder flag...): makes the targets ssl and crypto of a library
# that is itself built by CMake, in folder, with our compiler and generator.
function(cleat_build_with_cmake what source folder)
  set(_tools -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER})
  if(CMAKE_C_COMPILER_LAUNCHER)
    list(APPEND _tools -DCMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER}
      -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER})
  endif()
  cmake_host_system_information(RESULT _cores QUERY NUMBER_OF_LOGICAL_CORES)
  cleat_build_step("Configuring ${what}" "${folder}" quiet
    "${CMAKE_COMMAND}" -S "${source}" -B "${folder}" -G "${CMAKE_GENERATOR}" ${_tools} ${ARGN}
    -Wno-dev)
  cleat_build_step("Building ${what}" "${folder}"
    "${CMAKE_COMMAND}" --build "${folder}" --parallel ${_cores} --target ssl crypto)
endfunction()

# cleat_use_tls_library(folder library...): makes cleat_tls_library mean libssl and libcrypto in
# folder.
#
# library... is what these two need from the system. CLEAT_TLS_FOLDER remembers the folder for the
# installation, which carries both archives along: an installed cleat is complete.
#
# A program that links them exports none of their symbols: a shared library in it that uses the
# system's OpenSSL (libcurl, libpq, ...) would call some of these functions, and end in a crash.
set(CLEAT_TLS_HIDDEN "--exclude-libs,libssl.a:libcrypto.a")
macro(cleat_use_tls_library folder)
  set(CLEAT_TLS_FOLDER "${folder}")
  add_library(cleat::tls_crypto STATIC IMPORTED GLOBAL)
  set_target_properties(cleat::tls_crypto PROPERTIES
    IMPORTED_LOCATION "${folder}/lib/libcrypto.a"
    INTERFACE_INCLUDE_DIRECTORIES "${folder}/include"
    INTERFACE_LINK_OPTIONS "LINKER:${CLEAT_TLS_HIDDEN}"
    INTERFACE_LINK_LIBRARIES "${ARGN}")
  add_library(cleat::tls_ssl STATIC IMPORTED GLOBAL)
  set_target_properties(cleat::tls_ssl PROPERTIES
    IMPORTED_LOCATION "${folder}/lib/libssl.a"
    INTERFACE_LINK_LIBRARIES cleat::tls_crypto)
  target_link_libraries(cleat_tls_library INTERFACE cleat::tls_ssl cleat::tls_crypto)
endmacro()
