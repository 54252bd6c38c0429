// What a header still needs, as entries that can be pasted into the overlay.
#include "support/catch.hpp"
#include "temporary.hpp"

#include "read_header.hpp"
#include "understand.hpp"

using namespace bindgen;

namespace {

constexpr const char* kText = R"(
typedef struct { float* values; int n_values; const char* name; int plain; } Series;
typedef struct thing* thing_t;
int add(thing_t thing, Series* series);
const char* name_of(thing_t thing);
)";

std::string suggestions(const std::string& header, const Overlay& overlay) {
  const auto folder = test::scratch("suggest");
  return suggest_entries(needs_of(read_header(test::file(folder, "x.h", header)), overlay).unanswered);
}

}  // namespace

TEST_CASE("every declaration that nothing answers gets an entry, in the order of the header") {
  CHECK(suggestions(kText, {}) ==
        R"({"for":"Series.values","quote":"float* values","array":{"counted_by":"n_values"}},
{"for":"Series.name","quote":"const char* name","text":{}},
{"for":"add.thing","quote":"thing_t thing","object":{}},
{"for":"add.series","quote":"Series* series","object":{}},
{"for":"name_of.thing","quote":"thing_t thing","object":{}},
{"for":"name_of.return","quote":"const char*","text":{}}
)");
}

TEST_CASE("what the overlay answers is not asked again") {
  const auto folder = test::scratch("suggest_overlay");
  const Overlay overlay = read_overlay(
      test::file(folder, "o.json", test::overlay(R"({"for":"Series.name","quote":"const char* name","text":{}},
                       {"for":"Series.values","quote":"float* values","array":{"counted_by":"n_values"}})")));
  const std::string text = suggestions(kText, overlay);
  CHECK(text.find("Series.") == std::string::npos);
  CHECK(text.find("add.series") != std::string::npos);
}

TEST_CASE("the entries that are suggested are JSON that the overlay's schema accepts") {
  const auto folder = test::scratch("suggest_accepted");
  std::string entries = suggestions(kText, {});
  CHECK_NOTHROW(read_overlay(test::file(folder, "o.json", test::overlay(entries))));
}

TEST_CASE("the overlay of the newest version leaves nothing of it open") {
  const Needs needs = needs_of(read_header(test::kHeader), at_version(read_overlay(test::kOverlay), ""));
  CHECK(needs.unanswered.empty());
  CHECK(needs.in_the_way.empty());
}

TEST_CASE("C that has no wire form is told with its line, whatever the overlay says") {
  const auto folder = test::scratch("suggest_impossible");
  const Needs needs = needs_of(
      read_header(test::file(folder, "x.h", "typedef struct {\n  unsigned a : 3;\n} S;\nint print(int n, ...);\n")),
      {});
  REQUIRE(needs.in_the_way.size() == 2);
  CHECK(needs.in_the_way[0].at.line == 2);
  CHECK(needs.in_the_way[0].message == "S.a is a bit-field, which has no wire form yet");
  CHECK(needs.in_the_way[1].at.line == 4);
  CHECK(needs.in_the_way[1].message == "print takes variable arguments, which have no wire form");
}
