#include "chat/turn/cache_record.hpp"

#include "support/catch.hpp"

using namespace rkllm_mcp::chat;

TEST_CASE("the template is cleared once, and again after somebody else's change or a failed run") {
  CacheRecord record;
  CHECK(record.must_clear_template(0));
  record.template_cleared(0);
  CHECK_FALSE(record.must_clear_template(0));
  record.run_ended(RunEnd::kFinished, "one");
  CHECK_FALSE(record.must_clear_template(0));
  CHECK(record.must_clear_template(1));
  record.template_cleared(1);
  record.run_ended(RunEnd::kAborted, "one");
  CHECK_FALSE(record.must_clear_template(1));
  record.run_ended(RunEnd::kFailed, "one");
  CHECK(record.must_clear_template(1));
}

TEST_CASE("what two prompts have in common at their beginnings is reused, and nothing after a reset") {
  CacheRecord record;
  record.template_cleared(0);
  CHECK(record.reusable_bytes("abc") == 0);
  record.run_ended(RunEnd::kFinished, "abcd");
  CHECK(record.reusable_bytes("abxd") == 2);
  CHECK(record.reusable_bytes("abcdef") == 4);
  CHECK(record.reusable_bytes("") == 0);
  record.cache_loaded("xyz");
  CHECK(record.reusable_bytes("xya") == 2);
  record.template_cleared(0);
  CHECK(record.reusable_bytes("xyz") == 0);
  record.run_ended(RunEnd::kFinished, "abc");
  record.run_ended(RunEnd::kFailed, "abc");
  CHECK(record.reusable_bytes("abc") == 0);
}
