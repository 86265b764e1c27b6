// doctest's code, which certificates_for_tests uses to report a failure.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
