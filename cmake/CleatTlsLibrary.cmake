# Gives the target cleat_tls_library: the TLS library that cleat/tls uses; CLEAT_TLS_BACKEND, the
# folder of src/cleat/tls/backend that speaks its dialect; and <cleat/tls_library.h>, a header that
# is an error where the compiler finds the headers of another library.

add_library(cleat_tls_library INTERFACE)
add_library(cleat::tls_library ALIAS cleat_tls_library)

option(CLEAT_OPENSSL_REPORTS_CONTENTION
  "OpenSSL 4 writes lock-contention-log.TID.txt; for measuring alone" OFF)
if(CLEAT_OPENSSL_REPORTS_CONTENTION AND NOT CLEAT_TLS STREQUAL "openssl-4")
  message(FATAL_ERROR "CLEAT_OPENSSL_REPORTS_CONTENTION is OpenSSL 4's: give CLEAT_TLS=openssl-4, "
    "or leave it out")
endif()

if(CLEAT_SANITIZE STREQUAL "lines" AND NOT CLEAT_TLS STREQUAL "aws-lc")
  message(FATAL_ERROR "CLEAT_SANITIZE=lines also compiles the TLS library for the recorder, which "
    "it does for AWS-LC only: give CLEAT_TLS=aws-lc")
endif()

if(CLEAT_TLS STREQUAL "aws-lc")
  include(CleatSource)
  include(CleatAwsLc)
  set(CLEAT_TLS_BACKEND awslc)
  set(CLEAT_TLS_NAME "AWS-LC")
  set(CLEAT_TLS_CONDITION "defined OPENSSL_IS_AWSLC")
elseif(CLEAT_TLS STREQUAL "boringssl")
  include(CleatSource)
  include(CleatBoringSsl)
  set(CLEAT_TLS_BACKEND boringssl)
  set(CLEAT_TLS_NAME "BoringSSL")
  set(CLEAT_TLS_CONDITION "defined OPENSSL_IS_BORINGSSL")
elseif(CLEAT_TLS STREQUAL "openssl")
  find_package(OpenSSL 3.0 REQUIRED)
  target_link_libraries(cleat_tls_library INTERFACE OpenSSL::SSL OpenSSL::Crypto)
  set(CLEAT_TLS_BACKEND openssl)
elseif(CLEAT_TLS STREQUAL "openssl-4")
  include(CleatSource)
  include(CleatOpenSsl4)
  set(CLEAT_TLS_BACKEND openssl)
else()
  message(FATAL_ERROR
    "CLEAT_TLS is '${CLEAT_TLS}': give aws-lc, boringssl, openssl or openssl-4")
endif()
if(CLEAT_TLS_BACKEND STREQUAL "openssl")
  # One major version is one ABI.
  set(_major 4)
  if(CLEAT_TLS STREQUAL "openssl")
    string(REGEX MATCH "^[0-9]+" _major "${OPENSSL_VERSION}")
  endif()
  set(CLEAT_TLS_NAME "OpenSSL ${_major}")
  set(CLEAT_TLS_CONDITION "defined OPENSSL_VERSION_MAJOR && OPENSSL_VERSION_MAJOR == ${_major}")
endif()
set(CLEAT_GENERATED_HEADERS "${PROJECT_BINARY_DIR}/include")
configure_file("${CMAKE_CURRENT_LIST_DIR}/tls_library.h.in"
  "${CLEAT_GENERATED_HEADERS}/cleat/tls_library.h" @ONLY)
message(STATUS "TLS library: ${CLEAT_TLS}")
