#include "chat/structured/structured_answer.hpp"

#include "support/catch.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

// The first byte behind which the text can no longer become valid; the text's size if it always can.
std::size_t given_up_at(const std::string& schema, const std::string& text) {
  const JsonSchema parsed(Json::parse(schema), "schema");
  StructuredAnswer answer(parsed);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!answer.feed(text.substr(i, 1))) return i;
  }
  return text.size();
}

// "" if the text is valid, else the complaint; the same in one piece and in single bytes.
std::string verdict(const std::string& schema, const std::string& text) {
  const JsonSchema parsed(Json::parse(schema), "schema");
  StructuredAnswer whole(parsed);
  whole.feed(text);
  StructuredAnswer cut(parsed);
  for (const char character : text) cut.feed(std::string(1, character));
  const auto complaint = whole.finish();
  CHECK(cut.finish() == complaint);
  if (!complaint) CHECK(cut.json() == whole.json());
  return complaint.value_or("");
}

const std::string kPerson =
    R"({"type":"object","properties":{"name":{"type":"string","maxLength":5},"age":{"type":"integer","minimum":0},)"
    R"("kind":{"enum":["cat","cow"]},"tags":{"type":"array","items":{"type":"string"},"maxItems":2},)"
    R"("near":{"anyOf":[{"type":"object","properties":{"x":{"type":"number"}},"required":["x"],"additionalProperties":false},{"type":"null"}]}},)"
    R"("required":["name"],"additionalProperties":false})";

}  // namespace

TEST_CASE("valid answers are let pass from their first byte to their last") {
  for (const auto* text :
       {R"({"name":"An"})", R"({ "name" : "H\u1ebf \n" , "age":0})", R"({"near":{"x":-1.5e+3},"name":""})",
        R"({"near":null,"tags":[],"name":"x"})", R"({"tags":["a","b"],"kind":"cow","name":"x","age":12})"}) {
    CAPTURE(text);
    CHECK(given_up_at(kPerson, text) == std::string(text).size());
    CHECK(verdict(kPerson, text).empty());
  }
}

TEST_CASE("an answer is given up at the first byte that makes it impossible") {
  const std::vector<std::pair<std::string, std::size_t>> cases = {
      {"Sure! Here", 0},     // no JSON at all
      {R"(["name"])", 0},    // an array
      {R"({"nam":1})", 5},   // an unknown property: at the end of its name
      {R"({"name":1,)", 9},  // no string: at the end of the number
      {R"({"name":"toolong"})", 14},
      {R"({"name":"x","name":"y"})", 17},  // twice
      {R"({"age":-1,"name":"x"})", 9},
      {R"({"age":1.5,"name":"x"})", 10},
      {R"({"age":01})", 8},
      {R"({"kind":"dog"})", 9},           // "d" begins no value of the enum
      {R"({"kind":"cat","age":1})", 21},  // name is missing
      {R"({"tags":["a","b","c"]})", 17},
      {R"({"near":{"y":1}})", 11},
      {R"({"near":{}})", 9},  // x is missing
      {R"({"near":[)", 8},
      {R"({"name":"x"]})", 11},
      {R"({"name" "x"})", 8},
      {R"({"name":"x\q"})", 11},
      {R"({,)", 1},
      {R"({"name":"x",})", 12},
      {R"({"name":nil})", 9},
  };
  for (const auto& [text, at] : cases) {
    CAPTURE(text);
    CHECK(given_up_at(kPerson, text) == at);
    CHECK_FALSE(verdict(kPerson, text).empty());
  }
}

TEST_CASE("no beginning of a valid answer is ever refused") {
  const std::string schema =
      R"({"$defs":{"n":{"type":"object","properties":{"v":{"oneOf":[{"type":"integer"},{"type":"string","enum":["a","\"q\""]}]},)"
      R"("next":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}},"required":["v","next"]}},"allOf":[{"$ref":"#/$defs/n"}],"minProperties":2})";
  const std::string text = R"( {"v":1,"next":{"v":"a","next":{"next":null,"v":"\"q\"","more":[[],{},1e2,true]}}} )";
  CHECK(given_up_at(schema, text) == text.size());
  CHECK(verdict(schema, text).empty());
}

TEST_CASE("what passes the early check is still checked at the end") {
  CHECK(verdict(R"({"oneOf":[{"type":"number"},{"type":"integer"}]})", "1") == "$: fits none, or several, of oneOf");
  CHECK(verdict(R"({"enum":[{"a":1}]})", R"({"a":2})") == "$: expected one of the values of enum or const");
  CHECK(verdict(R"({"type":"object"})", R"({"a":)") == "the answer ends within its JSON");
  CHECK(verdict(R"({"type":"string"})", R"("\ud800")") == "the answer is not the JSON that was asked for");
  CHECK(verdict("{}", "") == "the answer ends within its JSON");
}

TEST_CASE("space and a code fence around the JSON are left out, and nothing behind it counts") {
  const JsonSchema schema = JsonSchema::any_object();
  StructuredAnswer answer(schema);
  CHECK(answer.feed("\n``"));
  CHECK(answer.feed("`json\n{\"a\": [1"));
  CHECK_FALSE(answer.is_complete());
  CHECK(answer.feed("]}\n```\nThat is it."));
  CHECK(answer.is_complete());
  CHECK(answer.finish() == std::nullopt);
  CHECK(answer.json() == R"({"a": [1]})");
}

TEST_CASE("a number at the outermost level is whole at the end only") {
  const JsonSchema schema(Json::parse(R"({"type":"integer","minimum":10})"), "schema");
  StructuredAnswer answer(schema);
  CHECK(answer.feed("1"));
  CHECK_FALSE(answer.is_complete());
  CHECK(answer.feed("2"));
  CHECK(answer.finish() == std::nullopt);
  CHECK(answer.json() == "12");
}

TEST_CASE("an answer that never comes to its end is given up: space, depth, digits") {
  CHECK(given_up_at("{}", std::string(2000, ' ')) < 1000);
  CHECK(given_up_at("{}", "[" + std::string(2000, '\n')) < 1000);
  CHECK(given_up_at("{}", std::string(2000, '[')) < 100);
  CHECK(given_up_at("{}", std::string(2000, '1')) < 500);
}

TEST_CASE("a schema of many alternatives does not stop the early check, and never makes it wrong") {
  const std::string doubling =
      R"({"anyOf":[{"type":"array","items":{"$ref":"#"}},{"type":"array","items":{"$ref":"#"}},{"const":1}]})";
  std::string text(40, '[');
  text += "1" + std::string(40, ']');
  CHECK(given_up_at(doubling, text) == text.size());
}

TEST_CASE("what is required is missed only where it has not come, in however many alternatives") {
  CHECK(verdict(R"({"required":["a","b","a"]})", R"({"b":1,"c":2,"a":3})").empty());
  CHECK(given_up_at(R"({"required":["a","b","a"]})", R"({"a":1,"c":2})") == 12);
  Json schema = {{"anyOf", Json::array()}, {"e", {{"required", Json::array()}}}};
  for (int i = 0; i < 5000; ++i) schema["e"]["required"].push_back(std::to_string(i));
  for (int i = 0; i < 900; ++i) schema["anyOf"].push_back({{"$ref", "#/e"}});
  CHECK(given_up_at(schema.dump(), "{}") == 1);
}

TEST_CASE("an early check that would compare too much leaves it to the final one") {
  Json schema = {{"anyOf", Json::array()}, {"e", {{"enum", Json::array()}}}};
  const std::string begin(200, 'a');
  for (int i = 0; i < 1000; ++i) schema["e"]["enum"].push_back(begin + std::to_string(i));
  const std::string alone = schema["e"].dump();
  for (int i = 0; i < 900; ++i) schema["anyOf"].push_back({{"$ref", "#/e"}});
  const std::string wrong = '"' + begin + "b\"";
  CHECK(given_up_at(alone, wrong) == 201);
  CHECK(given_up_at(schema.dump(), wrong) == wrong.size());
  CHECK(verdict(schema.dump(), wrong) == "$: expected one of the values of enum or const");
  CHECK(verdict(schema.dump(), '"' + begin + "999\"").empty());
}

TEST_CASE("an early check that would look too deep leaves it to the final one") {
  std::string text;
  for (int i = 0; i < 60; ++i) text += R"({"a":)";
  text += "1" + std::string(60, '}');
  for (const int length : {60, 1900}) {
    CAPTURE(length);
    const bool only_names = length > 60;
    Json schema = {{"$ref", "#/0"}};
    for (int i = 0; i < length; ++i) {
      schema[std::to_string(i)] = {{"$ref", "#/" + std::to_string(i + 1)}};
      if (!only_names) schema[std::to_string(i)]["minProperties"] = 0;
    }
    schema[std::to_string(length)] = {{"properties", {{"a", {{"$ref", "#/0"}}}}}};
    CHECK(given_up_at(schema.dump(), text) == text.size());
    CHECK(verdict(schema.dump(), text).empty() == only_names);
  }
}

TEST_CASE("the prompt says what is wanted, and what was wrong before") {
  const OutputFormat format{OutputKind::kJsonSchema, Json{{"type", "object"}}};
  CHECK_THAT(structured_instruction(format, ""), test::has_text(R"({"type":"object"})"));
  CHECK_THAT(structured_instruction(format, "$.a: missing"), test::has_text("$.a: missing"));
  CHECK_THAT(structured_instruction({OutputKind::kJsonObject, nullptr}, ""), test::has_text("JSON object"));
  CHECK(schema_of({OutputKind::kJsonObject, nullptr}, "format").complaint(Json::array()).has_value());
}
