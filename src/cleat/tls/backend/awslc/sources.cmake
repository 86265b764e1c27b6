# AWS-LC: what the BoringSSL family shares, and what AWS-LC has beyond it.
set(CLEAT_TLS_BACKEND_SOURCES
  backend/bssl/certificate_compression.cpp backend/bssl/client_hello.cpp
  backend/bssl/client_schemes.cpp backend/bssl/derivation.cpp
  backend/bssl/early_data.cpp backend/bssl/errors.cpp
  backend/bssl/fatal_alert.cpp
  backend/bssl/library_state.cpp backend/bssl/session_facts.cpp backend/bssl/sha256.cpp
  backend/bssl/session_ids.cpp backend/bssl/ssl_writev_library.cpp backend/bssl/staple.cpp
  backend/bssl/ticket_callback.cpp
  backend/awslc/derivation.cpp backend/awslc/library.cpp backend/awslc/signing.cpp
  backend/awslc/uniqueness.cpp)
set(CLEAT_TLS_BACKEND_TEST_SOURCES
  backend/bssl/early_server_for_tests.cpp backend/bssl/older_sessions_for_tests.cpp
  backend/bssl/stapling_client_for_tests.cpp
  backend/awslc/ml_dsa_key_for_tests.cpp)
