# cleat_probe(variable file): whether cmake/probes/file compiles and links against the TLS library.
#
# A probe's answer chooses a source file. It never becomes a macro.
function(cleat_probe variable file)
  if(DEFINED ${variable})
    return()
  endif()
  get_target_property(_links cleat_tls_library INTERFACE_LINK_LIBRARIES)
  try_compile(_ok "${CMAKE_BINARY_DIR}/probes/${variable}"
    "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/probes/${file}" LINK_LIBRARIES ${_links})
  message(STATUS "Probe ${file}: ${_ok}")
  set(${variable} ${_ok} CACHE INTERNAL "cmake/probes/${file} compiles")
endfunction()
