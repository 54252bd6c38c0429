#include "jsonrpc/bounded_json.hpp"

#include "jsonrpc/unread.hpp"
#include "support/catch.hpp"
#include "text/utf8.hpp"

#include <rkllm_mcp/errors.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

constexpr std::size_t kAmpleDepth = 64;

bool build_from(std::string_view text, JsonBuilder& builder) {
  return Json::sax_parse(text.begin(), text.end(), &builder);
}

// A text as one that is long: what has many values in it stays text.
struct LongReading {
  explicit LongReading(std::string_view text, std::size_t max_depth = kAmpleDepth)
      : position(text.data()),
        end(text.data() + text.size()),
        builder(max_depth, &position),
        is_built(Json::sax_parse(TellingIterator(&position), TellingIterator(&end), &builder)) {}

  const char* position;
  const char* end;
  JsonBuilder builder;
  bool is_built;
};

// `count` times the same, with commas between.
std::string comma_separated(std::string_view element, int count) {
  std::string text(element);
  for (int at = 1; at < count; ++at) text.append(",").append(element);
  return text;
}

std::string object_of_members(int members) {
  std::string text = "{";
  for (int at = 0; at < members; ++at)
    text.append(at == 0 ? "\"m" : ",\"m").append(std::to_string(at)).append("\":").append(std::to_string(at));
  return text + "}";
}

// At the depth of an argument's inside, with something before and behind.
std::string as_inner_part(const std::string& part) {
  return R"({"before":[1],"params":{"arguments":{"first":"x","part":)" + part + R"(,"last":{"y":[2]}}},"behind":3})";
}

// Compared here, since Catch2 takes minutes to print texts that are so long.
bool is_same(std::string_view one, std::string_view other) { return one == other; }

const Json& inner_part(const Json& whole) { return whole.at("params").at("arguments").at("part"); }

}  // namespace

TEST_CASE("a built value is what its text says, with the members in the order in which they are written") {
  // Each is written as dump() writes it, so that the text itself says what is expected.
  for (const std::string& text : std::vector<std::string>{
           "null", "true", "false", "0", "-7", "-9223372036854775808", "18446744073709551615", "0.5", "\"\"",
           "\"\xC3\xA9\\n\"", "[]", "{}", "[[],{},[[]]]", R"({"z":1,"a":{"y":[null,true,"t"],"b":-1},"":[{}]})",
           "[" + comma_separated("[1,{\"a\":2}]", 50) + "]", object_of_members(100),
           R"({"a":{"same":1},"b":{"same":1},"same":1})"}) {
    CAPTURE(text);
    JsonBuilder builder(kAmpleDepth);
    CHECK(build_from(text, builder));
    CHECK(builder.complaint().empty());
    CHECK(builder.take().dump() == text);
    LongReading as_long(text);
    CHECK(as_long.is_built);
    CHECK(as_long.builder.complaint().empty());
    CHECK(as_long.builder.take().dump() == text);
  }
}

TEST_CASE("a built number is of the kind that its text has") {
  JsonBuilder builder(kAmpleDepth);
  REQUIRE(build_from("[7,-7,7.0]", builder));
  const Json numbers = builder.take();
  CHECK(numbers.at(0).is_number_unsigned());
  CHECK(numbers.at(1).is_number_integer());
  CHECK_FALSE(numbers.at(1).is_number_unsigned());
  CHECK(numbers.at(2).is_number_float());
}

TEST_CASE("containers may be as deep as the builder allows, however many stand beside each other, and no deeper") {
  JsonBuilder deep_enough(2);
  CHECK(build_from(R"([[],{},[1],{"a":1},[]])", deep_enough));
  CHECK_FALSE(deep_enough.too_deep());

  for (const char* const text : {"[[[]]]", "[[1],[[]]]", R"({"a":{"b":{}}})", R"([{"a":[)"}) {
    CAPTURE(text);
    JsonBuilder builder(2);
    CHECK_FALSE(build_from(text, builder));
    CHECK(builder.too_deep());
    CHECK(builder.structure_complaint() == "nested deeper than 2 levels");
    CHECK(builder.complaint() == builder.structure_complaint());
    CHECK(builder.syntax_complaint().empty());
  }
}

TEST_CASE("a builder that allows no depth builds what is no container") {
  JsonBuilder of_number(0);
  CHECK(build_from("1", of_number));
  CHECK(of_number.take() == 1);
  JsonBuilder of_array(0);
  CHECK_FALSE(build_from("[]", of_array));
  CHECK(of_array.too_deep());
}

TEST_CASE("a name that occurs twice in one object is refused wherever the two stand and however they are written") {
  for (const char* const text : {R"({"a":1,"a":1})", R"({"a":1,"b":2,"c":3,"d":4,"e":5,"a":{}})",
                                 R"([{"x":{"b":1,"a":1,"a":2}}])", R"({"a":1,"\u0061":2})"}) {
    CAPTURE(text);
    JsonBuilder builder(kAmpleDepth);
    CHECK_FALSE(build_from(text, builder));
    CHECK(builder.structure_complaint() == R"(member "a" occurs twice in one object)");
    CHECK(builder.complaint() == builder.structure_complaint());
    CHECK(builder.syntax_complaint().empty());
    CHECK_FALSE(builder.too_deep());
  }
}

TEST_CASE("of a long name that occurs twice the complaint has the beginning") {
  const std::string name(10'000, 'n');
  JsonBuilder builder(kAmpleDepth);
  CHECK_FALSE(build_from("{\"" + name + "\":1,\"" + name + "\":2}", builder));
  CHECK_THAT(builder.complaint(), has_text("member \"nnnnn"));
  CHECK(builder.complaint().size() < kQuotedBytes + 60);
}

TEST_CASE("values are counted at any depth, containers with them and names not, and one too many is refused") {
  const std::string text = R"({"a":[1,{"b":null}],"c":"t"})";  // {} [] 1 {} null "t"
  JsonBuilder just_enough(kAmpleDepth);
  just_enough.refuse_above(6);
  CHECK(build_from(text, just_enough));
  CHECK(just_enough.take().dump() == text);

  JsonBuilder too_few(kAmpleDepth);
  too_few.refuse_above(5);
  CHECK_FALSE(build_from(text, too_few));
  CHECK(too_few.structure_complaint() == "more than 5 values");
  CHECK(too_few.syntax_complaint().empty());
  CHECK_FALSE(too_few.too_deep());

  for (const char* const single : {"1", "[]"}) {
    CAPTURE(single);
    JsonBuilder none(kAmpleDepth);
    none.refuse_above(0);
    CHECK_FALSE(build_from(single, none));
    CHECK(none.complaint() == "more than 0 values");
  }
}

TEST_CASE("what is not JSON is a complaint about the syntax, which says where and not which library says so") {
  struct Case {
    const char* text;
    const char* beginning;
  };
  for (const Case& each : {Case{"[1,}", "not valid JSON at byte 4: "}, Case{"", "not valid JSON at byte 1: "},
                           Case{R"({"a":1,)", "not valid JSON at byte 8: "}, Case{"[] 1", "not valid JSON at byte 4: "},
                           Case{"[1e400]", "not valid JSON at byte 6: number overflow"}}) {
    CAPTURE(each.text);
    JsonBuilder builder(kAmpleDepth);
    CHECK_FALSE(build_from(each.text, builder));
    CHECK_THAT(builder.syntax_complaint(), Catch::Matchers::StartsWith(each.beginning));
    CHECK_THAT(builder.syntax_complaint(), !has_text("json.exception"));
    CHECK(builder.complaint() == builder.syntax_complaint());
    CHECK(builder.structure_complaint().empty());
    CHECK_FALSE(builder.too_deep());
    const LongReading as_long(each.text);
    CHECK_FALSE(as_long.is_built);
    CHECK(as_long.builder.complaint() == builder.complaint());
  }
}

TEST_CASE("a complaint about the syntax quotes whole characters") {
  for (std::size_t before = 0; before < 3; ++before) {
    CAPTURE(before);
    std::string text = "[\"" + std::string(before, 'x');
    for (int at = 0; at < 100; ++at) text += "\xE2\x82\xAC";
    JsonBuilder builder(kAmpleDepth);
    CHECK_FALSE(build_from(text + "\n", builder));
    CHECK_THAT(builder.complaint(), has_text("last read: '...\xE2\x82\xAC\xE2\x82\xAC"));
    CHECK(is_valid_utf8(builder.complaint()));
  }
}

TEST_CASE("of a long text a part with many values stays exactly the text it was, and all around it is built") {
  for (const std::string& part : std::vector<std::string>{
           "[" + comma_separated("1", 20'000) + "]", "[" + comma_separated("[1,2,[]]", 20'000) + "]",
           "[" + comma_separated("[" + comma_separated("1", 900) + "]", 20) + "]", object_of_members(20'000),
           "[" + comma_separated(R"("]\"}[{")", 20'000) + "]",
           "[" + comma_separated(R"({"part":{"last":[]}})", 20'000) + ",7]"}) {
    const std::string text = as_inner_part(part);
    CAPTURE(part.substr(0, 30));
    LongReading reading(text);
    REQUIRE(reading.is_built);
    const Json built = reading.builder.take();
    CHECK(is_same(unread_text(inner_part(built)), part));
    CHECK(built.at("params").at("arguments").at("first") == "x");
    CHECK(built.at("params").at("arguments").at("last") == Json{{"y", {2}}});
    CHECK(built.at("behind") == 3);
    CHECK(is_same(to_text(built), text));
  }
}

TEST_CASE("every part with many values stays text, not only the first") {
  const std::string part = "[" + comma_separated("1", 2000) + "]";
  const std::string text = R"({"a":{"b":{"one":)" + part + R"(,"few":[1,2],"two":)" + part + "}}}";
  LongReading reading(text);
  REQUIRE(reading.is_built);
  const Json built = reading.builder.take();
  const Json& around = built.at("a").at("b");
  CHECK(is_same(unread_text(around.at("one")), part));
  CHECK(around.at("few") == Json{1, 2});
  CHECK(is_same(unread_text(around.at("two")), part));
  CHECK(is_same(to_text(built), text));
}

TEST_CASE("a part with few values is built, also in a long text, and without a position all is") {
  const std::string few = as_inner_part("[" + comma_separated("1", 100) + "]");
  LongReading reading(few);
  REQUIRE(reading.is_built);
  CHECK_FALSE(has_unread(reading.builder.take()));

  const std::string many = as_inner_part("[" + comma_separated("1", 100'000) + "]");
  JsonBuilder builder(kAmpleDepth);
  REQUIRE(build_from(many, builder));
  const Json built = builder.take();
  CHECK_FALSE(has_unread(built));
  CHECK(inner_part(built).size() == 100'000);
}

TEST_CASE("a text that is one part with very many values stays text as a whole") {
  const std::string text = "[" + comma_separated("[]", 100'000) + "]";
  LongReading reading(" " + text + " ");
  REQUIRE(reading.is_built);
  CHECK(is_same(unread_text(reading.builder.take()), text));
}

TEST_CASE("a part that stays text may be as deep as others, and no deeper") {
  const std::string text = as_inner_part("[" + comma_separated("1", 2000) + ",[[]],[[]]]");  // six levels
  const LongReading deep_enough(text, 6);
  CHECK(deep_enough.is_built);
  const LongReading too_deep(text, 5);
  CHECK_FALSE(too_deep.is_built);
  CHECK(too_deep.builder.too_deep());
  CHECK(too_deep.builder.complaint() == "nested deeper than 5 levels");
}

TEST_CASE("a telling iterator says where it is, and its copies walk with it") {
  const std::string_view text = "abc";
  const char* position = text.data();
  const char* end = text.data() + text.size();
  TellingIterator one(&position);
  const TellingIterator other = one;
  const TellingIterator last(&end);
  CHECK(*one == 'a');
  CHECK(*++one == 'b');
  CHECK(*other == 'b');
  CHECK(position == text.data() + 1);
  CHECK(one == other);
  CHECK(one != last);
  ++ ++one;
  CHECK(other == last);
}
