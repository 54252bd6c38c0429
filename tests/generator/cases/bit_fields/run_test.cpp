#include "expected.hpp"

#include "golden_caller.hpp"

namespace bindgen::test::bit_fields {

namespace {

rkllm_mcp::v1_bit_fields::Head seen_head;

}  // namespace

TEST_CASE("bit-fields go to the function and come back") {
  namespace made = rkllm_mcp::v1_bit_fields;
  GoldenCaller caller(made::kAbiSet, {{"put", symbol(+[](const made::Head* head) {
                                         seen_head = *head;
                                         return 0;
                                       })},
                                      {"take", symbol(+[](made::Head* head) {
                                         *head = seen_head;
                                         return 0;
                                       })}});
  const Json head{{"version", 7},           {"wants_answer", true}, {"urgency", "kHighest"}, {"shift", -8},
                  {"stamp", 1099511627775}, {"is_last", 1},         {"length", -5}};
  REQUIRE(caller.call("put", {{"head", head}}) == Json{{"status", 0}});
  CHECK(seen_head.version == 7);
  CHECK(seen_head.wants_answer);
  CHECK((seen_head.urgency == made::kHighest));  // Catch2 would take a reference to the bits
  CHECK(seen_head.shift == -8);
  CHECK(seen_head.stamp == 1099511627775);
  CHECK(caller.call("take").at("head") == head);
  REQUIRE(caller.call("put", {{"head", {{"version", 1}}}}) == Json{{"status", 0}});
  CHECK(seen_head.shift == -1);
}

TEST_CASE("what the bits of a field cannot hold is refused") {
  namespace made = rkllm_mcp::v1_bit_fields;
  GoldenCaller caller(made::kAbiSet, {{"put", symbol(+[](const made::Head*) { return 0; })},
                                      {"take", symbol(+[](made::Head*) { return 0; })}});
  const auto complaint = [&](const char* name, const Json& value) {
    Json head{{"version", 1}};
    head[name] = value;
    return caller.complaint("put", {{"head", head}});
  };
  CHECK_THAT(complaint("version", 8), has_text("params.head.version: expected integer from 1 to 7"));
  CHECK_THAT(complaint("shift", 8), has_text("params.head.shift: expected integer from -8 to 7"));
  CHECK_THAT(complaint("stamp", 1099511627776),
             has_text("params.head.stamp: expected integer from 0 to 1099511627775"));
  CHECK_THAT(complaint("is_last", 2), has_text("params.head.is_last"));
}

TEST_CASE("bits that lie elsewhere than the header has them are noticed when a library is bound") {
  using rkllm_mcp::v1_bit_fields::Head;
  const auto set_version = [](Head& value) { value.version = 7U; };
  CHECK_NOTHROW(rkllm_mcp::require_bits<Head>("Head.version", 0, 3, set_version));
  CHECK_THROWS_AS(rkllm_mcp::require_bits<Head>("Head.version", 1, 3, set_version), std::logic_error);
  CHECK_THROWS_AS(rkllm_mcp::require_bits<Head>("Head.version", 0, 4, set_version), std::logic_error);
}

}  // namespace bindgen::test::bit_fields
