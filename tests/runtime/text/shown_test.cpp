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

TEST_CASE("bytes are shown in thousands, as disks and hubs count") {
  CHECK(shown_bytes(0) == "0 bytes");
  CHECK(shown_bytes(999'999) == "999999 bytes");
  CHECK(shown_bytes(1'000'000) == "1.0 MB");
  CHECK(shown_bytes(313'049'999) == "313.0 MB");
  CHECK(shown_bytes(999'949'999) == "999.9 MB");
  CHECK(shown_bytes(999'999'999) == "1.0 GB");
  CHECK(shown_bytes(1'000'000'000) == "1.0 GB");
  CHECK(shown_bytes(2'149'000'000) == "2.1 GB");
  CHECK(shown_bytes(1'500'000'000'000) == "1500.0 GB");
}

TEST_CASE("text of others stays in its line, and tells a terminal nothing") {
  CHECK(in_one_line("a\n[error] b\x1b[0m\x7f") == "a [error] b [0m ");
  CHECK(in_one_line("a\u009b31mb\u0085c") == "a 31mb c");  // CSI and NEL, of two bytes
  CHECK(in_one_line("\u00a0 \u00e9 \u6d4b") == "\u00a0 \u00e9 \u6d4b");
  CHECK(in_one_line("\xc2\xc2\x9b") == "\xc2 ");
  CHECK(in_one_line("\xc2") == "\xc2");
  CHECK(in_one_line("").empty());
}
