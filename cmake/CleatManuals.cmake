# Manual pages and completions: each program prints its own when it has been built. Gives the target
# `manuals`, a part of `programs`.

set(_manuals "")

# cleat_printed_file(program file flag...): build/share/FILE is what the program prints.
function(cleat_printed_file program file)
  set(_path "${PROJECT_BINARY_DIR}/share/${file}")
  get_filename_component(_folder "${_path}" DIRECTORY)
  file(MAKE_DIRECTORY "${_folder}")
  add_custom_command(OUTPUT "${_path}"
    COMMAND ${program} ${ARGN} > "${_path}"
    DEPENDS ${program} VERBATIM)
  get_filename_component(_destination "${file}" DIRECTORY)
  install(FILES "${_path}" DESTINATION "${CMAKE_INSTALL_DATADIR}/${_destination}")
  set(_manuals "${_manuals}" "${_path}" PARENT_SCOPE)
endfunction()

foreach(_program cleat cleat-bench cleat-locks)
  if(TARGET ${_program})
    cleat_printed_file(${_program} man/man1/${_program}.1 --manual)
    cleat_printed_file(${_program} bash-completion/completions/${_program} --completion bash)
    cleat_printed_file(${_program} zsh/site-functions/_${_program} --completion zsh)
  endif()
endforeach()
if(TARGET cleat)
  cleat_printed_file(cleat man/man5/cleat.conf.5 --config-manual)
endif()
add_custom_target(manuals ALL DEPENDS ${_manuals})
add_dependencies(programs manuals)
