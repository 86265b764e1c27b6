# OpenSSL 3.0 to 4.0. Probes find where its versions differ.
include(CleatProbe)
cleat_probe(CLEAT_OPENSSL_USABLE openssl_usable.c)
if(NOT CLEAT_OPENSSL_USABLE)
  message(FATAL_ERROR "cmake/probes/openssl_usable.c does not compile against this OpenSSL: 3.0 or "
    "later is needed, with its headers (package libssl-dev). CMakeFiles/CMakeConfigureLog.yaml or "
    "CMakeError.log says more")
endif()
cleat_probe(CLEAT_OPENSSL_SIGNATURE_NAME openssl_signature_name.c)
if(CLEAT_OPENSSL_SIGNATURE_NAME)
  set(_signature_scheme backend/openssl/signature_scheme_by_name.cpp)
else()
  set(_signature_scheme backend/openssl/signature_scheme_by_nid.cpp)
endif()
cleat_probe(CLEAT_OPENSSL_COMPRESSED_CERTIFICATE openssl_compressed_certificate.c)
if(CLEAT_OPENSSL_COMPRESSED_CERTIFICATE)
  set(_compression backend/openssl/compression/since_3_2.cpp)
  set(CLEAT_TLS_BACKEND_TESTS backend/openssl/compression/since_3_2_test.cpp)
else()
  set(_compression backend/openssl/compression/before_3_2.cpp)
endif()
set(CLEAT_TLS_BACKEND_SOURCES
  ${_compression} backend/openssl/client_hello.cpp
  backend/openssl/client_schemes.cpp
  backend/openssl/early_data.cpp backend/openssl/errors.cpp
  backend/openssl/fatal_alert.cpp
  backend/openssl/library_state.cpp backend/openssl/session_facts.cpp backend/openssl/sha256.cpp
  backend/openssl/ssl_writev_library.cpp backend/openssl/staple.cpp
  backend/openssl/session_ids.cpp
  backend/openssl/ticket_callback.cpp backend/openssl/ticket_request.cpp
  ${_signature_scheme})
set(CLEAT_TLS_BACKEND_TEST_SOURCES
  backend/openssl/early_server_for_tests.cpp backend/openssl/older_sessions_for_tests.cpp
  backend/openssl/stapling_client_for_tests.cpp
  backend/openssl/ml_dsa_key_for_tests.cpp)
