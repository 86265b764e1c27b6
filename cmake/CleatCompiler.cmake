# How everything is compiled: C++20, all warnings, hardened, one build type, sanitizers on demand.

include(CheckPIESupported)
check_pie_supported(LANGUAGES C CXX)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(CLEAT_CCACHE ccache)
if(PROJECT_IS_TOP_LEVEL AND CLEAT_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${CLEAT_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CLEAT_CCACHE}")
endif()

# UBSan's tables are a million pointers, which a program that may be loaded anywhere relocates at
# each start. The tests start hundreds.
if(CLEAT_SANITIZE STREQUAL "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(CMAKE_CXX_LINK_OPTIONS_PIE -no-pie)
endif()

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
endif()

if(CLEAT_SANITIZE AND NOT CLEAT_SANITIZE MATCHES "^(address|fuzzer|lines|thread)$")
  message(FATAL_ERROR
    "CLEAT_SANITIZE is '${CLEAT_SANITIZE}': give address, fuzzer, lines, thread or nothing")
endif()

# cleat_compile(target): the house's compile settings for one of our targets.
function(cleat_compile target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  set_property(GLOBAL APPEND PROPERTY CLEAT_COMPILED ${target})
  set(_in_batches "${CMAKE_UNITY_BUILD}")
  if(NOT CLEAT_BATCH_SIZE EQUAL 1)
    set(_in_batches ON)
  endif()
  # Private: it would break a program's own code that uses what Asio has deprecated.
  target_compile_definitions(${target} PRIVATE BOOST_ASIO_NO_DEPRECATED)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
      -Wnon-virtual-dtor -Woverloaded-virtual>
    # g++ sees null pointers in inlined Asio coroutines that are not there; clang does not.
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wnull-dereference>
    # g++ 12 sees uninitialized and overlapping strings in aggregates that are neither; later ones
    # do not.
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:
      -Wno-maybe-uninitialized -Wno-restrict>
    # In a batch g++ takes each of its files for a header.
    $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${_in_batches}>>:-Wno-subobject-linkage>
    -fno-omit-frame-pointer
    # __FILE__ is a path below here: the compiler cache of one clone serves the others.
    -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
  cleat_harden(${target})
  cleat_sanitize(${target})
endfunction()

# cleat_command_line(target file...): makes a library of the files that declare a program's options.
# They run once, at the start. CLI11 is large and all of it inline: it is compiled once for all of
# them, without optimization, in a third of the time.
function(cleat_command_line target)
  add_library(${target} STATIC ${ARGN})
  cleat_compile(${target})
  cleat_do_not_optimize(${target})
  cleat_set_batch_size(${target} 0)
  target_link_libraries(${target} PRIVATE CLI11::CLI11 fmt::fmt)
endfunction()

# cleat_do_not_optimize(target): compiles its C++ files in the shortest time.
function(cleat_do_not_optimize target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O0 -U_FORTIFY_SOURCE>)
endfunction()

# cleat_unit_tests_main(): makes the target that has main() and doctest's implementation.
function(cleat_unit_tests_main)
  add_library(cleat_unit_tests_main OBJECT tests/unit_tests_main.cpp)
  cleat_compile(cleat_unit_tests_main)
  target_link_libraries(cleat_unit_tests_main PUBLIC doctest::doctest)
endfunction()

# cleat_unit_tests(target): the compile settings of a program of unit tests, and its main().
function(cleat_unit_tests target)
  cleat_compile_tests(${target})
  target_link_libraries(${target} PRIVATE cleat_unit_tests_main)
  set_property(GLOBAL APPEND PROPERTY CLEAT_UNIT_TESTS ${target})
endfunction()

# cleat_compile_tests(target): cleat_compile for the code of unit tests. It is not optimized, though
# what it tests is: that takes half the time to compile.
function(cleat_compile_tests target)
  cleat_compile(${target})
  cleat_do_not_optimize(${target})
  if(CLEAT_SANITIZE STREQUAL "address")
    # A check at each use of a pointer takes a third of the time to compile, and a wrong pointer
    # shows without.
    target_compile_options(${target} PRIVATE -fno-sanitize=null,alignment)
  endif()
endfunction()

# cleat_harden(target): what a program that faces the network is compiled with.
function(cleat_harden target)
  target_compile_options(${target} PRIVATE -fstack-protector-strong)
  target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
  target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now)
  if(NOT CLEAT_SANITIZE)
    # Fortified functions hide their bounds from the sanitizers, and want an optimizing compiler.
    target_compile_options(${target} PRIVATE
      $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
  endif()
endfunction()

# cleat_sanitize(target): adds what CLEAT_SANITIZE asks for; nothing by default.
function(cleat_sanitize target)
  if(CLEAT_SANITIZE MATCHES "^(address|fuzzer)$")
    target_compile_options(${target} PUBLIC -fsanitize=address,undefined -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
    if(CLEAT_SANITIZE STREQUAL "fuzzer")
      # libFuzzer's marks of which code an input has reached; fuzz/ links its main().
      target_compile_options(${target} PUBLIC -fsanitize=fuzzer-no-link)
    endif()
  elseif(CLEAT_SANITIZE MATCHES "^(lines|thread)$")
    target_compile_options(${target} PUBLIC -fsanitize=thread)
    if(CLEAT_SANITIZE STREQUAL "lines")
      # The recorder of cache lines takes the calls that are ThreadSanitizer's otherwise.
      target_link_libraries(${target} PUBLIC $<BUILD_INTERFACE:cleat_lines_recorder>)
    else()
      target_link_options(${target} PUBLIC -fsanitize=thread)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Boost's fences: each is paired with an atomic that TSan sees.
      target_compile_options(${target} PRIVATE -Wno-tsan)
    endif()
  endif()
endfunction()
