#include "support/catch.hpp"

#include <rkllm_mcp/json_reader.hpp>

#include <functional>

using namespace rkllm_mcp;

namespace {

std::string complaint(const std::function<void()>& action) {
  try {
    action();
  } catch (const InvalidParams& error) {
    return error.what();
  }
  return "no complaint";
}

}  // namespace

TEST_CASE("a complaint names the path through objects and arrays") {
  const Json json = Json::parse(R"({"a":{"b":[1,{"c":true}]}})");
  const JsonReader root(json, "params");
  const auto a = root.find("a");
  const auto b = a->find("b");
  const auto element = b->element(1);
  const auto c = element.find("c");
  CHECK(c->path() == "params.a.b[1].c");
  CHECK(complaint([&] { c->integer<int>(); }) == "params.a.b[1].c: expected integer, found boolean");
  CHECK_FALSE(root.find("d"));
}

TEST_CASE("integers are read exactly or not at all") {
  const auto read = [](const std::string& text) {
    const Json json = Json::parse(text);
    return complaint([&] {
      const std::int8_t value = JsonReader(json, "x").integer<std::int8_t>();
      CHECK(value == json.get<double>());
    });
  };
  for (const char* text : {"0", "127", "-128", "3.0", "-0.0", "1e2"}) CHECK(read(text) == "no complaint");
  for (const char* text : {"128", "-129", "18446744073709551615", "-9223372036854775808", "1e30", "-1e30"}) {
    INFO(text);
    CHECK(read(text).find("x: expected integer from -128 to 127, found ") == 0);
  }
  for (const char* text : {"1.5", "\"1\"", "null", "true", "[]", "{}"}) {
    INFO(text);
    CHECK(read(text).find("x: expected integer, found ") == 0);
  }
}

TEST_CASE("the ends of the 64-bit ranges are integers") {
  const Json most = Json::parse("18446744073709551615");
  CHECK(JsonReader(most, "x").integer<std::uint64_t>() == 18446744073709551615ULL);
  const Json least = Json::parse("-9223372036854775808");
  CHECK(JsonReader(least, "x").integer<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
  const Json beyond = Json::parse("18446744073709551616");  // parsed as a double
  CHECK_THROWS_AS(JsonReader(beyond, "x").integer<std::uint64_t>(), InvalidParams);
}

TEST_CASE("numbers are finite and in range") {
  const Json half = 0.5;
  CHECK(JsonReader(half, "x").number(0, 1) == 0.5);
  CHECK(complaint([&] { JsonReader(half, "x").number(1, 2); }) == "x: expected number from 1.0 to 2.0, found 0.5");
  const Json nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(JsonReader(nan, "x").number(0, 1), InvalidParams);
}

TEST_CASE("a string that holds U+0000 is refused") {
  const Json json = std::string("a\0b", 3);
  CHECK(complaint([&] { JsonReader(json, "x").text(); }) == "x: expected string without U+0000");
}
