#include "chat/answer/marker_search.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace rkllm_mcp::chat;

namespace {

struct Look {
  std::size_t clear;
  std::string marker;  // empty: none

  bool operator==(const Look&) const = default;
};

Look look(const MarkerSearch& search, const std::string& text, bool at_end = false) {
  const auto found = search.look(text, at_end);
  return {found.clear, found.marker == nullptr ? "" : *found.marker};
}

const std::vector<std::string> kNested{"<a", "<a b>"};

}  // namespace

TEST_CASE("text without markers is clear, all of it") {
  const MarkerSearch search({"<end>"}, MarkerLength::kLongest);
  CHECK(look(search, "") == Look{0, ""});
  CHECK(look(search, "plain") == Look{5, ""});
  CHECK(look(search, "a < b") == Look{5, ""});
}

TEST_CASE("a marker is found where it begins, the first one of several") {
  const MarkerSearch search({"<end>", "[x]"}, MarkerLength::kLongest);
  CHECK(look(search, "ab<end>cd") == Look{2, "<end>"});
  CHECK(look(search, "[x]<end>") == Look{0, "[x]"});
}

TEST_CASE("what may yet become a marker is held back, unless nothing follows") {
  const MarkerSearch search({"<end>"}, MarkerLength::kLongest);
  CHECK(look(search, "ab<") == Look{2, ""});
  CHECK(look(search, "ab<end") == Look{2, ""});
  CHECK(look(search, "ab<end", true) == Look{6, ""});
  CHECK(look(search, "<<e") == Look{1, ""});
}

TEST_CASE("of two markers that begin at one place the longest waits for more text, and the shortest does not") {
  const MarkerSearch longest(kNested, MarkerLength::kLongest);
  CHECK(look(longest, "<a") == Look{0, ""});
  CHECK(look(longest, "<a", true) == Look{0, "<a"});
  CHECK(look(longest, "<a b>") == Look{0, "<a b>"});
  CHECK(look(longest, "<a c") == Look{0, "<a"});

  const MarkerSearch shortest(kNested, MarkerLength::kShortest);
  CHECK(look(shortest, "<a") == Look{0, "<a"});
  CHECK(look(shortest, "<a b>") == Look{0, "<a"});
  CHECK(look(shortest, "<") == Look{0, ""});
}

TEST_CASE("empty markers are left out, and without any all is clear") {
  const MarkerSearch search({"", ""}, MarkerLength::kShortest);
  CHECK(search.empty());
  CHECK(look(search, "text") == Look{4, ""});
  CHECK_FALSE(MarkerSearch({"", "x"}, MarkerLength::kShortest).empty());
}

TEST_CASE("markers may have any bytes") {
  const MarkerSearch search({"\xEF\xBD\x9C", std::string("\0x", 2)}, MarkerLength::kLongest);
  CHECK(look(search, "a\xEF\xBD") == Look{1, ""});
  CHECK(look(search, "a\xEF\xBD\x9C") == Look{1, "\xEF\xBD\x9C"});
  CHECK(look(search, std::string("b\0x", 3)) == Look{1, std::string("\0x", 2)});
}
