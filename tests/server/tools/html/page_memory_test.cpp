#include "tools/html/page_reading.hpp"

#include "support/catch.hpp"
#include "support/paths.hpp"

#include <chrono>
#include <string>

using namespace rkllm_mcp;

// Written out, this page is empty: what takes memory are the addresses of its links, of which none ends before the next
// one begins (80,000 of 8 kB).
TEST_CASE("a page that takes too much memory while it is read is refused, also where little would come of it") {
  std::string page;
  for (int i = 0; i < 80'000; ++i) page += "<a href=x><marquee>";
  const PageReading reading(test::kProgram, std::chrono::minutes(1));
  StopSignal nobody;
  CHECK_THROWS_WITH(
      reading.read(PageForm::kReadable, "https://example.org/" + std::string(7900, 'a') + "/", page, nobody),
      test::has_text("too much memory"));
}
