// How a family's file is read. The families that are built in are in families_test.cpp.
#include "chat/templates/family.hpp"

#include "support/catch.hpp"

#include <rkllm_mcp/json.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

// The least that a family's file says.
Json least_family(const std::string& name = "small") {
  return {{"name", name},           {"system", "S:${content}"},
          {"user", "U:${content}"}, {"assistant", "A:${content}"},
          {"answer", "A:"},         {"tools", {{"definitions", "T:${tools}"}}}};
}

std::vector<Family> families_from(const std::vector<std::pair<std::string, Json>>& files) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& [name, document] : files) texts.emplace_back(name, document.dump());
  return read_families({texts.begin(), texts.end()});
}

Family family_with(const Json& more) {
  Json file = least_family();
  file.merge_patch(more);
  return families_from({{"small", file}}).at(0);
}

std::string complaint_about_family(const Json& more) {
  try {
    family_with(more);
    return "none";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a family that says the least is whole, and has no more than it says") {
  const Family family = family_with(Json::object());
  CHECK(family.name == "small");
  CHECK(family.user == "U:${content}");
  CHECK(family.tools.definitions == "T:${tools}");
  CHECK(family.tools.position == ToolPosition::kInSystem);
  CHECK(family.tools.syntax == CallSyntax::kTagged);
  CHECK(family.thinking.open.empty());
  CHECK(family.thinking.on_by_itself);
  CHECK(family.trim_system);
  CHECK_FALSE(family.trim_content);
}

TEST_CASE("what a family says is read") {
  const Family family = family_with(Json::parse(
      R"({"source":"somewhere","title":"Small","model_names":["small*"],"special_tokens":["<s>"],
          "special_brackets":[["<|","|>"]],"tokens_in_answers":["</s>"],"calls_are_special":true,"trim_content":true,
          "trim_system":false,"default_system":"Be kind.","no_answer_after_results":true,
          "thinking":{"open":"<t>","close":"</t>","history":"${thinking}","on":"+","off":"-","on_by_itself":false},
          "tools":{"place":"own_turn","syntax":"named","indent":4,"bare_functions":true,"separator":"|",
                   "call":"${name}${plain_name}${arguments}","result":"${content}${content_json}${name}",
                   "forced_named":"${name}${plain_name}"}})"));
  CHECK(family.title == "Small");
  CHECK(family.model_names == std::vector<std::string>{"small*"});
  CHECK(family.special_tokens == std::vector<std::string>{"<s>"});
  CHECK(family.special_brackets == std::vector<std::pair<std::string, std::string>>{{"<|", "|>"}});
  CHECK(family.tokens_in_answers == std::vector<std::string>{"</s>"});
  CHECK(family.calls_are_special);
  CHECK(family.trim_content);
  CHECK_FALSE(family.trim_system);
  CHECK(family.default_system == "Be kind.");
  CHECK(family.no_answer_after_results);
  CHECK(family.thinking.open == "<t>");
  CHECK(family.thinking.close == "</t>");
  CHECK(family.thinking.history == "${thinking}");
  CHECK(family.thinking.on == "+");
  CHECK(family.thinking.off == "-");
  CHECK_FALSE(family.thinking.on_by_itself);
  CHECK(family.tools.position == ToolPosition::kOwnTurn);
  CHECK(family.tools.syntax == CallSyntax::kNamed);
  CHECK(family.tools.indent == 4);
  CHECK(family.tools.bare_functions);
  CHECK(family.tools.separator == "|");
}

TEST_CASE("a family has all that the one says that it is like, but model names are its own") {
  Json base = least_family("base");
  base["title"] = "Base";
  base["model_names"] = {"base"};
  base["thinking"] = {{"open", "<t>"}, {"close", "</t>"}};
  const auto families = families_from({{"first", {{"name", "first"}, {"like", "second"}, {"answer", "B:"}}},
                                       {"second", {{"name", "second"}, {"like", "base"}, {"thinking", {{"on", "+"}}}}},
                                       {"base", base}});
  REQUIRE(families.size() == 3);
  CHECK(families[0].name == "base");
  CHECK(families[0].model_names == std::vector<std::string>{"base"});
  const Family& first = families[1];
  CHECK(first.name == "first");
  CHECK(first.title == "Base");
  CHECK(first.answer == "B:");
  CHECK(first.user == "U:${content}");
  CHECK(first.thinking.open == "<t>");
  CHECK(first.thinking.on == "+");
  CHECK(first.model_names.empty());
  CHECK(families[2].answer == "A:");
}

TEST_CASE("a family that is like itself, or like none that there is, is refused") {
  CHECK_THROWS_WITH(families_from({{"a", {{"like", "b"}}}, {"b", {{"like", "a"}}}}),
                    rkllm_mcp::test::has_text("is like itself"));
  CHECK_THROWS_WITH(families_from({{"a", {{"like", "a"}}}}), "family 'a' is like itself");
  CHECK_THROWS_WITH(families_from({{"a", {{"like", "absent"}}}}), "there is no family 'absent'");
}

TEST_CASE("a misspelt member is refused with its place, wherever it stands") {
  CHECK(complaint_about_family({{"usr", ""}}) == "small: unknown member 'usr'");
  CHECK(complaint_about_family({{"thinking", {{"opens", ""}}}}) == "small.thinking: unknown member 'opens'");
  CHECK(complaint_about_family({{"tools", {{"indents", 1}}}}) == "small.tools: unknown member 'indents'");
}

TEST_CASE("a hole that nothing fills, or that does not end, is refused") {
  CHECK(complaint_about_family({{"user", "${contents}"}}) == "small.user: no such hole as 'contents'");
  CHECK(complaint_about_family({{"user", "${content}${"}}) == "small.user: a hole does not end");
  CHECK(complaint_about_family({{"answer", "${content}"}}) == "small.answer: no such hole as 'content'");
  CHECK(complaint_about_family({{"tools", {{"calls", "${tools}"}}}}) == "small.tools.calls: no such hole as 'tools'");
  CHECK(complaint_about_family({{"thinking", {{"open", "${}"}}}}) == "small.thinking.open: no such hole as ''");
  CHECK(complaint_about_family({{"user", "$ {content} $content }"}}) == "none");
}

TEST_CASE("a value of a wrong kind is refused with its place") {
  CHECK_THAT(complaint_about_family({{"user", 5}}), rkllm_mcp::test::has_text("small.user: "));
  CHECK_THAT(complaint_about_family({{"trim_content", "yes"}}), rkllm_mcp::test::has_text("small.trim_content: "));
  CHECK_THAT(complaint_about_family({{"model_names", {"a", 1}}}), rkllm_mcp::test::has_text("small.model_names[1]: "));
  CHECK_THAT(complaint_about_family({{"special_brackets", {{"<"}}}}),
             rkllm_mcp::test::has_text("small.special_brackets[0]: expected an opening and a closing text"));
  CHECK_THAT(complaint_about_family({{"tools", {{"indent", 9}}}}), rkllm_mcp::test::has_text("small.tools.indent: "));
  CHECK_THAT(complaint_about_family({{"tools", {{"place", "user"}}}}),
             rkllm_mcp::test::has_text("small.tools.place: expected one of the known words"));
  CHECK_THAT(complaint_about_family({{"tools", {{"syntax", "xml"}}}}),
             rkllm_mcp::test::has_text("small.tools.syntax: "));
}

TEST_CASE("what every family needs has to be there, and a system text in one of two ways") {
  CHECK(complaint_about_family({{"name", ""}}) == "small: has no name");
  for (const std::string member : {"user", "assistant", "answer"}) {
    CAPTURE(member);
    CHECK(complaint_about_family({{member, ""}}) == "small: needs user, assistant, answer and tools.definitions");
  }
  CHECK(complaint_about_family({{"tools", nullptr}}) == "small: needs user, assistant, answer and tools.definitions");
  const std::string either = "small: needs either system or system_before_user";
  CHECK(complaint_about_family({{"system", ""}}) == either);
  CHECK(complaint_about_family({{"system_before_user", "${content}"}}) == either);
  CHECK(complaint_about_family({{"system", ""}, {"system_before_user", "${content}"}}) == "none");
}

TEST_CASE("a file that is no JSON object is refused with its name") {
  for (const std::string_view text : {"", "{", "[]", "5", "{\"name\":\"\xFF\"}"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(read_families({{"broken", text}}), "broken: not a JSON object");
  }
  CHECK(read_families({}).empty());
}

TEST_CASE("holes are filled by name, and what fills them is not looked at again") {
  CHECK(filled("a${x}b${y}c${x}", {{"x", "1"}, {"y", "2"}}) == "a1b2c1");
  CHECK(filled("${x}${y}", {{"x", "${y}"}, {"y", "${x}"}}) == "${y}${x}");
  CHECK(filled("", {{"x", "1"}}).empty());
  CHECK(filled("${x}", {{"x", ""}}).empty());
  CHECK(filled("Huế ${x}", {{"x", "là"}}) == "Huế là");
}

TEST_CASE("what is no hole, or has no value, stays as it is") {
  for (const std::string text : {"${z}", "${", "a${x", "$x {x} $", "${}"}) {
    CAPTURE(text);
    CHECK(filled(text, {{"x", "1"}}) == text);
  }
  CHECK(filled("${z}${x}", {{"x", "1"}}) == "${z}1");
  CHECK(filled("${${x}}", {{"x", "1"}}) == "${1}");
}
