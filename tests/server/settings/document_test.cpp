#include "settings/document.hpp"

#include "settings/refused.hpp"
#include "support/catch.hpp"

using rkllm_mcp::Document;
using rkllm_mcp::SettingsRefused;

namespace {

std::string refusal(std::string_view text) {
  try {
    const Document document("s.json", text);
  } catch (const SettingsRefused& refused) {
    return refused.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a document knows the line of each key") {
  const Document document("s.json", "{\n  \"http\":\n  {\n    \"port\": 1\n,   \"enabled\": true},\n \"tcp\": {}}\n");
  CHECK(document.place_of("http") == "s.json:2");
  CHECK(document.place_of("http.port") == "s.json:4");
  CHECK(document.place_of("http.enabled") == "s.json:5");
  CHECK(document.place_of("tcp") == "s.json:6");
  CHECK(document.value()["http"]["port"] == 1);
}

TEST_CASE("what a document does not hold is placed where its parent is") {
  const Document document("s.json", "{\n\"http\": {}}");
  CHECK(document.place_of("http.port") == "s.json:2");
  CHECK(document.place_of("tcp.port") == "s.json");
}

TEST_CASE("text that is not JSON is refused with line and column") {
  CHECK_THAT(refusal("{\n  \"http\": {\n    \"port\": 80 80\n  }\n}\n"),
             Catch::Matchers::StartsWith("s.json:3:17: not JSON: "));
  CHECK_THAT(refusal("{\n  \"a\": 1,\n}"), Catch::Matchers::StartsWith("s.json:3:1: not JSON: "));
  CHECK_THAT(refusal(""), Catch::Matchers::StartsWith("s.json:1:1: not JSON: "));
  CHECK_THAT(refusal("{\"a\": 1"), Catch::Matchers::StartsWith("s.json:1:8: not JSON: "));
  CHECK_THAT(refusal("{} x"), Catch::Matchers::StartsWith("s.json:1:4: not JSON: "));
  CHECK_THAT(refusal("{\"a\": \"\xFF\"}"), Catch::Matchers::StartsWith("s.json:1:8: not JSON: "));
  CHECK_THAT(refusal("{\"a\": 1e999}"), Catch::Matchers::StartsWith("s.json:1:"));
  CHECK_THAT(refusal("// no\n{}"), Catch::Matchers::StartsWith("s.json:1:1: not JSON: "));
}

TEST_CASE("text that is no object is refused") { CHECK(refusal("[]") == "s.json:1: expected an object, found array"); }

TEST_CASE("a key that occurs twice is refused at its second place") {
  CHECK(refusal("{\"http\": {\n\"port\": 1,\n\"port\": 2}}") == "s.json:3: http.port: the key occurs twice");
  CHECK(refusal("{\"a\": {\"x\": 1}, \"b\": {\"x\": 1}}").empty());
}

TEST_CASE("what is nested deeper than 64 levels is refused at its line, however deep it is") {
  const auto nested = [](std::size_t levels) {
    return "{\n\"upstreams\": {\n\"u\": " + std::string(levels - 2, '[') + std::string(levels - 2, ']') + "}}";
  };
  CHECK(refusal(nested(64)).empty());
  CHECK(refusal(nested(65)) == "s.json:3: upstreams.u: nested deeper than 64 levels");
  CHECK(refusal(nested(100'000)) == "s.json:3: upstreams.u: nested deeper than 64 levels");
  CHECK(refusal("\n" + std::string(65, '[')) == "s.json:2: nested deeper than 64 levels");
}

TEST_CASE("a document of very many keys knows the line of each") {
  constexpr int kKeys = 50'000;
  std::string text = "{\"http\": {";
  for (int key = 1; key <= kKeys; ++key) text += (key == 1 ? "\n\"k" : ",\n\"k") + std::to_string(key) + "\": 1";
  const Document document("s.json", text + "}}");
  for (const int key : {1, 2, 777, kKeys}) {
    CHECK(document.place_of("http.k" + std::to_string(key)) == "s.json:" + std::to_string(key + 1));
  }
  CHECK(document.value()["http"].size() == kKeys);
}
