#include "text/space.hpp"

#include "support/catch.hpp"
#include "text/shown.hpp"

using namespace rkllm_mcp;

TEST_CASE("a text without the space around it keeps the space inside") {
  CHECK(without_space_around(" \t\r\n a b\tc \n") == "a b\tc");
  CHECK(without_space_around("a") == "a");
  CHECK(without_space_around("").empty());
  CHECK(without_space_around(" \n\t\r ").empty());
  CHECK(without_space_around("\v a") == "\v a");  // space of other kinds is the text's own
}

TEST_CASE("bytes are shown in thousands, as disks and hubs count") {
  CHECK(shown_bytes(0) == "0 bytes");
  CHECK(shown_bytes(999'999) == "999999 bytes");
  CHECK(shown_bytes(1'000'000) == "1.0 MB");
  CHECK(shown_bytes(313'049'999) == "313.0 MB");
  CHECK(shown_bytes(1'000'000'000) == "1.0 GB");
  CHECK(shown_bytes(2'149'000'000) == "2.1 GB");
  CHECK(shown_bytes(1'500'000'000'000) == "1500.0 GB");
}
