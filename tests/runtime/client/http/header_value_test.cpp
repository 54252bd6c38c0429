#include "client/http/param_headers.hpp"

#include "support/catch.hpp"

using rkllm_mcp::client::header_value;

TEST_CASE("what a header can carry stays as it is") {
  for (const char* plain : {"", "rkllm_run", "file:///a b/c?d=%20", "=?base64?x", "x?=", "~!@#$%^&*()"}) {
    CHECK(header_value(plain) == plain);
  }
}

TEST_CASE("what a header cannot carry, or would be read as something else, is encoded") {
  CHECK(header_value(" padded") == "=?base64?IHBhZGRlZA==?=");
  CHECK(header_value("padded ") == "=?base64?cGFkZGVkIA==?=");
  CHECK(header_value("a\tb") == "=?base64?YQli?=");
  CHECK(header_value("a\r\nb: c") == "=?base64?YQ0KYjogYw==?=");
  CHECK(header_value("gr\xC3\xBC\xC3\x9F") == "=?base64?Z3LDvMOf?=");
  CHECK(header_value("=?base64?eA==?=") == "=?base64?PT9iYXNlNjQ/ZUE9PT89?=");
}
