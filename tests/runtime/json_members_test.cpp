#include "json_members.hpp"

#include "support/catch.hpp"

#include <string>

using namespace rkllm_mcp;

TEST_CASE("nothing is taken for granted of a member") {
  const Json object{{"text", "a"}, {"number", 1}, {"nothing", nullptr}};
  CHECK(member_of(object, "nothing") != nullptr);
  CHECK(given_in(object, "nothing") == nullptr);
  CHECK(given_in(object, "number") == member_of(object, "number"));
  CHECK(text_view_in(object, "text").data() == object["text"].get_ref<const std::string&>().data());
  CHECK(text_in(object, "text") == "a");
  CHECK(text_in(object, "number").empty());
  for (const Json& none : {Json(5), Json(nullptr), Json("text"), Json::array({"text"}), Json::object()}) {
    CHECK(member_of(none, "text") == nullptr);
    CHECK(given_in(none, "text") == nullptr);
    CHECK(text_view_in(none, "text").empty());
    CHECK_THROWS_WITH(required_text_in(none, "text"), "params.text: missing");
  }
  CHECK(required_text_in(object, "text") == "a");
  CHECK_THROWS_WITH(required_text_in(object, "number"), "params.number: expected string");
  CHECK_THROWS_WITH(required_text_in(object, "nothing"), "params.nothing: expected string");
}

TEST_CASE("a number is taken for what it is, and nothing else for a number") {
  const Json object{{"whole", 3}, {"negative", -3}, {"broken", 2.5}, {"text", "3"}, {"flag", true}};
  CHECK(integer_in(object, "whole") == 3);
  CHECK(integer_in(object, "negative") == -3);
  CHECK(number_in(object, "whole") == 3.0);
  CHECK(number_in(object, "broken") == 2.5);
  CHECK_FALSE(integer_in(object, "broken"));
  CHECK(integer_in(Json::parse(R"({"n":9223372036854775807})"), "n") == 9223372036854775807);
  CHECK_FALSE(integer_in(Json::parse(R"({"n":9223372036854775808})"), "n"));
  for (const char* const name : {"text", "flag", "none"}) {
    CHECK_FALSE(integer_in(object, name));
    CHECK_FALSE(number_in(object, name));
  }
  CHECK_FALSE(integer_in(Json(5), "whole"));
  CHECK_FALSE(number_in(Json::array({5}), "whole"));
}

TEST_CASE("the members that are wanted stay in their order") {
  const Json object{{"b", 1}, {"a", 2}, {"c", nullptr}, {"aa", 3}};
  const auto begins_with_a = [](const std::string& name, const Json&) { return name.starts_with("a"); };
  const auto is_there = [](const std::string&, const Json& value) { return !value.is_null(); };
  CHECK(members_where(object, begins_with_a).dump() == R"({"a":2,"aa":3})");
  CHECK(members_where(object, is_there).dump() == R"({"b":1,"a":2,"aa":3})");
  CHECK(members_where(object, [](const std::string&, const Json&) { return false; }).dump() == "{}");
  CHECK(members_where(Json::object(), is_there).dump() == "{}");
}

TEST_CASE("what the members hold is handed on, not copied") {
  Json object;
  for (int each = 0; each < 100; ++each) object[std::to_string(each)] = std::string(100, 'x');
  const char* const text = object["77"].get_ref<const std::string&>().data();
  const Json wanted = members_where(std::move(object), [](const std::string&, const Json&) { return true; });
  CHECK(wanted.size() == 100);
  CHECK(wanted["77"].get_ref<const std::string&>().data() == text);
}
