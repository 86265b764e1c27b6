# Gives the target cleat_tls_library: the TLS library that floor 1 talks to, and
# CLEAT_TLS_BACKEND, the folder of src/cleat/tls/backend that speaks its dialect.

add_library(cleat_tls_library INTERFACE)
add_library(cleat::tls_library ALIAS cleat_tls_library)

option(CLEAT_OPENSSL_REPORTS_CONTENTION
  "OpenSSL 4 writes lock-contention-log.TID.txt; for measuring alone" OFF)
if(CLEAT_OPENSSL_REPORTS_CONTENTION AND NOT CLEAT_TLS STREQUAL "openssl-4")
  message(FATAL_ERROR "CLEAT_OPENSSL_REPORTS_CONTENTION is OpenSSL 4's: give CLEAT_TLS=openssl-4, "
    "or leave it out")
endif()

if(CLEAT_TLS STREQUAL "aws-lc")
  include(CleatSource)
  include(CleatAwsLc)
  set(CLEAT_TLS_BACKEND awslc)
elseif(CLEAT_TLS STREQUAL "boringssl")
  include(CleatSource)
  include(CleatBoringSsl)
  set(CLEAT_TLS_BACKEND boringssl)
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
message(STATUS "TLS library: ${CLEAT_TLS}")
