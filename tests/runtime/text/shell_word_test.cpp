#include "text/shown.hpp"

#include "support/catch.hpp"

using namespace rkllm_mcp;

TEST_CASE("a word that a shell would take apart is quoted, others are left as they are") {
  for (const char* plain : {"model.rkllm", "/home/me/Qwen3_0.6B-rk3588.rkllm", "mô-hình", "a=b:c@d"}) {
    CHECK(shell_word(plain) == plain);
  }
  CHECK(shell_word("") == "''");
  CHECK(shell_word("em pty.rkllm") == "'em pty.rkllm'");
  CHECK(shell_word("$(reboot)") == "'$(reboot)'");
  CHECK(shell_word("it's") == R"('it'\''s')");
  CHECK(shell_word("~/x") == "'~/x'");
  CHECK(shell_word("a\nb") == "'a\nb'");
}
