# BoringSSL: what its family shares, and what it has beyond it.
set(CLEAT_TLS_BACKEND_SOURCES
  backend/bssl/certificate_compression.cpp backend/bssl/client_hello.cpp
  backend/bssl/client_schemes.cpp backend/bssl/derivation.cpp
  backend/bssl/early_data.cpp backend/bssl/errors.cpp
  backend/bssl/fatal_alert.cpp
  backend/bssl/library_state.cpp backend/bssl/session_facts.cpp backend/bssl/sha256.cpp
  backend/bssl/session_ids.cpp backend/bssl/ssl_writev_library.cpp backend/bssl/staple.cpp
  backend/bssl/ticket_callback.cpp
  backend/boringssl/derivation.cpp backend/boringssl/library.cpp)
set(CLEAT_TLS_BACKEND_TEST_SOURCES
  backend/bssl/early_server_for_tests.cpp backend/bssl/older_sessions_for_tests.cpp
  backend/bssl/stapling_client_for_tests.cpp
  backend/boringssl/ml_dsa_key_for_tests.cpp)
set_source_files_properties(backend/boringssl/library.cpp PROPERTIES
  COMPILE_DEFINITIONS "CLEAT_BORINGSSL_SOURCE=\"${CLEAT_BORINGSSL_SOURCE}\"")
