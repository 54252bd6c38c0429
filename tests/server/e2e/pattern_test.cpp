// A pattern that matches too much would make every transcript worthless.
#include "pattern.hpp"
#include "support/catch.hpp"

#include <stdexcept>

namespace rkllm_mcp::test {
namespace {

std::string complaint(const char* pattern, const char* value) {
  Variables variables;
  return unmatched(Json::parse(pattern), Json::parse(value), variables);
}

}  // namespace

TEST_CASE("a pattern matches what it says, and tells the path of anything else") {
  CHECK(complaint(R"({"a":[1,"$int"]})", R"({"a":[1,7]})").empty());
  CHECK(complaint(R"({"a":[1,"$int"]})", R"({"a":[1,7.5]})") == "message.a[1]: expected $int, found 7.5");
  CHECK(complaint(R"({"a":1})", R"({"a":2})") == "message.a: expected 1, found 2");
  CHECK(complaint(R"({"a":1})", R"({})") == "message.a: is missing");
  CHECK(complaint(R"([1])", R"([1,2])") == "message: expected [1], found [1,2]");
  CHECK(complaint(R"({"id":7})", R"({"id":"7"})") == R"(message.id: expected 7, found "7")");
}

TEST_CASE("members that a pattern does not name are refused unless it says $more") {
  CHECK(complaint(R"({"a":1})", R"({"a":1,"b":2})") == "message.b: not expected, but found 2");
  CHECK(complaint(R"({"a":1,"$more":true})", R"({"a":1,"b":2})").empty());
}

TEST_CASE("string patterns compare kind, beginning or part") {
  CHECK(complaint(R"("$^params.x: ")", R"("params.x: expected")").empty());
  CHECK_FALSE(complaint(R"("$^arams.x: ")", R"("params.x: expected")").empty());
  CHECK(complaint(R"("$~expected")", R"("params.x: expected")").empty());
  CHECK_FALSE(complaint(R"("$~missing")", R"("params.x: expected")").empty());
  CHECK(complaint(R"("$stream_id")", R"("abcdefgh12345678")").empty());
  CHECK_FALSE(complaint(R"("$stream_id")", R"("short")").empty());
  CHECK_THROWS_AS(complaint(R"("$unheard_of")", "1"), std::runtime_error);
}

TEST_CASE("a value that was found can be used later") {
  Variables variables;
  CHECK(unmatched("$string:name", "a\"b", variables).empty());
  CHECK(unmatched("$int:count", 5, variables).empty());
  CHECK(substitute(R"({"n":"${name}","c":${count}})", variables) == R"({"n":"a\"b","c":5})");
  CHECK_THROWS_AS(substitute("${nothing}", variables), std::runtime_error);
}

}  // namespace rkllm_mcp::test
