# Puts files into a program.
#
#   cleat_embed(TARGET NAME NAMESPACE WORD=FILE...)
#
# gives TARGET a source file and the header NAME.hpp, in which each WORD is a function of NAMESPACE
# that returns FILE's bytes as a std::string_view. The assembler copies them (.incbin), so a large
# file costs no compile time; g++ and clang take the same source. It is made while building, with
# the files' hashes in it: what changed is compiled again, and a compiler's cache sees it.

function(cleat_embed target name namespace)
  set(_folder "${CMAKE_CURRENT_BINARY_DIR}/embedded")
  set(_source "${_folder}/${name}.cpp")
  set(_script "${CMAKE_CURRENT_FUNCTION_LIST_FILE}")
  set(_functions "")
  set(_files "")
  set(_pairs "")
  foreach(_pair IN LISTS ARGN)
    if(NOT _pair MATCHES "^([a-z][a-z0-9_]*)=(.+)$")
      message(FATAL_ERROR "cleat_embed: '${_pair}' is not WORD=FILE")
    endif()
    set(_word "${CMAKE_MATCH_1}")
    get_filename_component(_file "${CMAKE_MATCH_2}" ABSOLUTE)
    string(APPEND _functions "[[nodiscard]] std::string_view ${_word}() noexcept;\n")
    list(APPEND _files "${_file}")
    list(APPEND _pairs "${_word}=${_file}")
  endforeach()
  file(CONFIGURE OUTPUT "${_folder}/${name}.hpp" @ONLY CONTENT
"// ${name}: files as they were when this was built. Written by CleatEmbed.cmake.

#pragma once

#include <string_view>

namespace ${namespace} {

${_functions}
} // namespace ${namespace}
")
  add_custom_command(OUTPUT "${_source}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${_source}" "-DNAME=${name}" "-DNAMESPACE=${namespace}"
      "-DPAIRS=${_pairs}" -P "${_script}"
    DEPENDS ${_files} "${_script}"
    COMMENT "Embedding ${name}"
    VERBATIM)
  target_sources(${target} PRIVATE "${_source}")
  target_include_directories(${target} PRIVATE "${_folder}")
endfunction()

# write_embedded() is the part that runs while building: `cmake -P`, with what is set above.
function(write_embedded)
  set(_text "// Written by CleatEmbed.cmake.\n\n#include \"${NAME}.hpp\"\n\n#include <cstddef>\n")
  set(_functions "")
  foreach(_pair IN LISTS PAIRS)
    string(REGEX MATCH "^([a-z0-9_]+)=(.+)$" _all "${_pair}")
    set(_symbol "cleat_embedded_${NAME}_${CMAKE_MATCH_1}")
    set(_word "${CMAKE_MATCH_1}")
    set(_file "${CMAKE_MATCH_2}")
    file(SHA256 "${_file}" _hash)
    file(SIZE "${_file}" _size)
    # Once for the assembler's string, and once for the compiler's around it.
    string(REGEX REPLACE "([\\\"])" "\\\\\\1" _file "${_file}")
    string(REGEX REPLACE "([\\\"])" "\\\\\\1" _file "${_file}")
    string(APPEND _text
      "\n// ${_hash}\n"
      "asm(\".pushsection .rodata\\n\"\n"
      "    \"${_symbol}: /* ${_hash} */\\n\"\n"
      "    \".incbin \\\"${_file}\\\"\\n\"\n"
      "    \".byte 0\\n\"\n"
      "    \".popsection\\n\");\n"
      "extern \"C\" __attribute__((visibility(\"hidden\"))) char const ${_symbol}[];\n")
    string(APPEND _functions
      "std::string_view ${_word}() noexcept\n{\n"
      "    return {${_symbol}, std::size_t{${_size}}};\n}\n")
  endforeach()
  file(WRITE "${OUTPUT}" "${_text}\nnamespace ${NAMESPACE} {\n\n${_functions}\n"
    "} // namespace ${NAMESPACE}\n")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  write_embedded()
endif()
