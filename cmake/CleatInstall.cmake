# What `cmake --install` lays down: the programs with their manual pages and completions, the
# libraries with their public headers and examples, and the files by which find_package(cleat) and
# pkg-config find them.
#
# A TLS library that was built from source comes along in lib/cleat, so that an installed cleat is
# complete, and its headers in a folder of include/cleat, where they stand in nobody's way: programs
# that call it on an SSL of cleat's, or give cleat an SSL, need them.

include(CMakePackageConfigHelpers)
include(CleatPrograms)
include(CleatManuals)

set(_libraries cleat_core cleat_tls cleat_net)
foreach(_library IN LISTS _libraries)
  string(REGEX REPLACE "^cleat_" "" _name ${_library})
  set_target_properties(${_library} PROPERTIES EXPORT_NAME ${_name})
endforeach()
set_target_properties(cleat_tls_library PROPERTIES EXPORT_NAME tls_library)

install(TARGETS ${_libraries} cleat_tls_library EXPORT cleat-targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(CLEAT_PROGRAMS)
  install(TARGETS ${CLEAT_PROGRAMS} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
if(TARGET cleat_locks_recorder)
  install(TARGETS cleat_locks_recorder cleat_lines_recorder
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/cleat")
endif()

# The oldest OpenSSL that has the functions that the probes have found.
set(CLEAT_OPENSSL_OLDEST 3.0)
if(CLEAT_OPENSSL_COMPRESSED_CERTIFICATE)
  set(CLEAT_OPENSSL_OLDEST 3.2)
endif()
if(CLEAT_OPENSSL_SIGNATURE_NAME)
  set(CLEAT_OPENSSL_OLDEST 3.5)
endif()
set(_package "${CMAKE_INSTALL_LIBDIR}/cmake/cleat")
install(EXPORT cleat-targets NAMESPACE cleat:: DESTINATION "${_package}")
configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/cleat-config.cmake.in" "${PROJECT_BINARY_DIR}/cleat-config.cmake"
  INSTALL_DESTINATION "${_package}" PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
# Before 1.0 a minor version may break its users, and says so.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cleat-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cleat-config.cmake"
  "${PROJECT_BINARY_DIR}/cleat-config-version.cmake"
  DESTINATION "${_package}")

# pkg-config: our archives by name, and the TLS library by path or, if it is the system's, by its
# package.
set(CLEAT_PC_TLS "")
set(CLEAT_PC_TLS_HEADERS "")
set(CLEAT_PC_REQUIRES "")
if(CLEAT_TLS_FOLDER)
  install(FILES "${CLEAT_TLS_FOLDER}/lib/libssl.a" "${CLEAT_TLS_FOLDER}/lib/libcrypto.a"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/cleat")
  install(DIRECTORY "${CLEAT_TLS_FOLDER}/include/"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/cleat/${CLEAT_TLS}")
  set(CLEAT_PC_TLS_HEADERS "-I\${includedir}/cleat/${CLEAT_TLS} ")
  install(FILES "${CLEAT_TLS_FOLDER}/LICENSE"
    DESTINATION "${CMAKE_INSTALL_DOCDIR}" RENAME "LICENSE.${CLEAT_TLS}" COMPONENT licences)
  set(CLEAT_PC_TLS " -Wl,${CLEAT_TLS_HIDDEN}")
  string(APPEND CLEAT_PC_TLS " \${libdir}/cleat/libssl.a \${libdir}/cleat/libcrypto.a")
else()
  set(CLEAT_PC_REQUIRES ", openssl >= ${CLEAT_OPENSSL_OLDEST}")
endif()
if(CLEAT_TLS STREQUAL "openssl-4")
  string(APPEND CLEAT_PC_TLS " -ldl")
  foreach(_library IN LISTS CLEAT_TLS_COMPRESSION)
    string(APPEND CLEAT_PC_TLS " -l${_library}")
  endforeach()
endif()
# Relative to the .pc file itself, so that an installation can be moved.
file(RELATIVE_PATH CLEAT_PC_PREFIX "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
configure_file("${CMAKE_CURRENT_LIST_DIR}/cleat.pc.in" "${PROJECT_BINARY_DIR}/cleat.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/cleat.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  COMPONENT licences)

# The examples, with a project of their own.
file(GLOB _examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.[ch]pp")
install(FILES ${_examples} "${PROJECT_SOURCE_DIR}/examples/installed/CMakeLists.txt"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples")
