# Compiles several files of a target as one (a "unity build"): Asio's headers are parsed once for
# all of them. CMake's own (CMAKE_UNITY_BUILD) writes the absolute path of each file into the batch,
# so that the compiler cache of one clone knows no batch of another; here the path is a relative
# one.

set(CLEAT_BATCH_SIZE 1 CACHE STRING "C++ files of a target that are compiled as one; 1: none")

# cleat_set_batch_size(target size): for one target, in builds that compile in batches at all. 0:
# all of its files are one batch. 1: each is compiled alone.
function(cleat_set_batch_size target size)
  set_target_properties(${target} PROPERTIES
    CLEAT_BATCH_SIZE ${size} UNITY_BUILD_BATCH_SIZE ${size})
  if(size EQUAL 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  endif()
endfunction()

# cleat_compile_in_batches(): puts the files of all targets of cleat_compile into batches. Called
# once, when every target has its files.
function(cleat_compile_in_batches)
  if(CLEAT_BATCH_SIZE EQUAL 1)
    return()
  endif()
  get_property(_targets GLOBAL PROPERTY CLEAT_COMPILED)
  foreach(_target IN LISTS _targets)
    get_target_property(_size ${_target} CLEAT_BATCH_SIZE)
    if(_size STREQUAL "_size-NOTFOUND")
      set(_size ${CLEAT_BATCH_SIZE})
    endif()
    if(NOT _size EQUAL 1)
      cleat_batch_target(${_target} ${_size})
    endif()
  endforeach()
endfunction()

# cleat_batch_target(target size): replaces the target's C++ files with batches of them. A file with
# compile options of its own, one that a build makes, and one that an expression names stay alone.
function(cleat_batch_target target size)
  get_target_property(_sources ${target} SOURCES)
  get_target_property(_folder ${target} SOURCE_DIR)
  get_target_property(_out ${target} BINARY_DIR)
  set(_alone "")
  set(_batched "")
  foreach(_source IN LISTS _sources)
    set(_path "${_source}")
    cmake_path(ABSOLUTE_PATH _path BASE_DIRECTORY "${_folder}" NORMALIZE)
    cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${_path}" _is_ours)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${_path}" _is_made)
    get_source_file_property(_options "${_path}" TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
    get_source_file_property(_macros "${_path}" TARGET_DIRECTORY ${target} COMPILE_DEFINITIONS)
    if(_path MATCHES "^[^$]+[.]cpp$" AND _is_ours AND NOT _is_made AND NOT _options AND NOT _macros)
      cmake_path(RELATIVE_PATH _path BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
      list(APPEND _batched "${_path}")
    else()
      list(APPEND _alone "${_source}")
    endif()
  endforeach()

  list(LENGTH _batched _count)
  if(size EQUAL 0)
    set(size ${_count})
  endif()
  if(_count LESS 2)
    return()
  endif()
  math(EXPR _last "${_count} - 1")
  set(_number 0)
  foreach(_first RANGE 0 ${_last} ${size})
    list(SUBLIST _batched ${_first} ${size} _files)
    list(TRANSFORM _files REPLACE "(.+)" "#include \"\\1\"")
    list(JOIN _files "\n" _includes)
    set(_batch "${_out}/batches/${target}_${_number}.cpp")
    file(CONFIGURE OUTPUT "${_batch}" CONTENT "${_includes}\n" @ONLY)
    list(APPEND _alone "${_batch}")
    math(EXPR _number "${_number} + 1")
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES "${_alone}")
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-iquote ${PROJECT_SOURCE_DIR}>")
endfunction()
