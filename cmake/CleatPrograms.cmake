# Gives the target `programs`: every program that a user runs, without the tests. `make build`
# builds it.

# cleat_executables(folder out): the executables that folder defines, its tests left out.
function(cleat_executables folder out)
  set(_found "")
  get_property(_targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(_target IN LISTS _targets)
    get_target_property(_type ${_target} TYPE)
    if(_type STREQUAL "EXECUTABLE" AND NOT _target MATCHES "_tests?$")
      list(APPEND _found ${_target})
    endif()
  endforeach()
  set(${out} "${_found}" PARENT_SCOPE)
endfunction()

set(CLEAT_PROGRAMS "")
set(CLEAT_EXAMPLES "")
if(CLEAT_BUILD_PROGRAMS)
  foreach(_program cleat cleat-bench cleat-locks)
    cleat_executables("${PROJECT_SOURCE_DIR}/apps/${_program}" _executables)
    list(APPEND CLEAT_PROGRAMS ${_executables})
  endforeach()
endif()
if(CLEAT_BUILD_EXAMPLES)
  cleat_executables("${PROJECT_SOURCE_DIR}/examples" CLEAT_EXAMPLES)
endif()
# `cleat-bench compare` and `serve` put their servers in front of it.
if(TARGET perf-origin AND CLEAT_BUILD_PROGRAMS)
  set(_origin perf-origin)
endif()
add_custom_target(programs
  DEPENDS cleat_core cleat_tls cleat_net ${CLEAT_PROGRAMS} ${CLEAT_EXAMPLES} ${_origin})
