#include "chat/dialects/field_table.hpp"

#include "chat/dialects/anthropic/anthropic_request.hpp"
#include "chat/dialects/ollama/ollama_request.hpp"
#include "chat/dialects/openai/openai_chat_request.hpp"
#include "chat/dialects/openai/openai_completion.hpp"
#include "chat/dialects/openai/responses_request.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

// A surface: its table, a request that is right, and what is ignored of a request.
struct Surface {
  std::string name;
  std::span<const Field> fields;
  Json request;
  std::function<std::vector<std::string>(const Json&)> ignored;
};

std::vector<Surface> surfaces() {
  const Json messages = Json::parse(R"([{"role":"user","content":"Hi"}])");
  return {
      {"openai",
       openai_chat_fields(),
       {{"model", "m"}, {"messages", messages}},
       [](const Json& request) { return read_openai_chat(request).ignored; }},
      {"ollama chat",
       ollama_chat_fields(),
       {{"model", "m"}, {"messages", messages}},
       [](const Json& request) { return read_ollama_chat(request).ignored; }},
      {"ollama generate",
       ollama_generate_fields(),
       {{"model", "m"}, {"prompt", "Hi"}},
       [](const Json& request) { return read_ollama_generate(request).ignored; }},
      {"anthropic",
       anthropic_fields(),
       {{"model", "m"}, {"max_tokens", 5}, {"messages", messages}},
       [](const Json& request) { return read_anthropic(request).ignored; }},
      {"responses",
       responses_fields(),
       {{"model", "m"}, {"input", "Hi"}},
       [](const Json& request) { return read_responses(request).ignored; }},
  };
}

// A value of one of the kinds that asks for something; of none of them if `wrong`.
Json value_of(unsigned kinds, bool wrong) {
  const std::vector<std::pair<unsigned, Json>> values = {{kNumberField, 1},
                                                         {kBooleanField, true},
                                                         {kTextField, "x"},
                                                         {kObjectField, {{"x", 1}}},
                                                         {kArrayField, Json::array({"x"})}};
  for (const auto& [kind, value] : values) {
    if (((kinds & kind) != 0) != wrong) return value;
  }
  return nullptr;
}

bool is_inside(const Field& field) { return field.name.find_first_of(".[") != std::string_view::npos; }

// {"tools":[{"strict":value}]} of "tools[].strict".
Json with_value_at(std::string_view path, const Json& value) {
  if (path.starts_with('.')) path.remove_prefix(1);
  if (path.empty()) return value;
  if (path.starts_with("[]")) return Json::array({"of another kind", with_value_at(path.substr(2), value)});
  const std::size_t name = std::min(path.find_first_of(".["), path.size());
  return {{std::string(path.substr(0, name)), with_value_at(path.substr(name), value)}};
}

std::vector<std::string> ignored_by(std::span<const Field> fields, const Json& request) {
  return check_fields(fields, JsonReader(request, "request"));
}

}  // namespace

TEST_CASE("a field inside others is held against its table wherever it stands, and named once") {
  for (const Surface& surface : surfaces()) {
    for (const Field& field : surface.fields) {
      if (!is_inside(field)) continue;
      CAPTURE(surface.name, field.name);
      CHECK(ignored_by(surface.fields, with_value_at(field.name, nullptr)).empty());
      CHECK_THROWS_WITH(ignored_by(surface.fields, with_value_at(field.name, value_of(field.kinds, true))),
                        test::has_text(": expected "));
      const Json asking = with_value_at(field.name, value_of(field.kinds, false));
      if (field.treatment == Treatment::kIgnored) {
        CHECK(ignored_by(surface.fields, asking) == std::vector{std::string(field.name)});
      } else if (field.treatment == Treatment::kRefused) {
        CHECK_THROWS_WITH(ignored_by(surface.fields, asking), std::string(field.name) + ": " + std::string(field.note));
      }
    }
  }
  const Json twice = Json::parse(R"({"tools":[{"strict":true},{"strict":false},5,{"strict":true}]})");
  CHECK(ignored_by(responses_fields(), twice) == std::vector<std::string>{"tools[].strict"});
}

TEST_CASE("the name of who speaks is named as ignored, that of a tool is not") {
  const auto ignored = [](const char* messages) {
    return read_openai_chat({{"model", "m"}, {"messages", Json::parse(messages)}}).ignored;
  };
  CHECK(ignored(R"([{"role":"user","name":"ann","content":"Hi"},{"role":"user","name":"bob","content":"Hi"}])") ==
        std::vector<std::string>{"messages[].name"});
  CHECK(ignored(R"([{"role":"user","content":"Hi"},{"role":"tool","name":"f","content":"5"}])").empty());
}

TEST_CASE("every field of every table is honoured, named, or refused by its name") {
  for (const Surface& surface : surfaces()) {
    CHECK(surface.ignored(surface.request).empty());
    for (const Field& field : surface.fields) {
      if (is_inside(field)) continue;
      CAPTURE(surface.name, field.name);
      Json request = surface.request;
      request[std::string(field.name)] = nullptr;
      const bool is_needed =
          surface.request.contains(std::string(field.name)) && field.name != "model" && field.name != "prompt";
      if (!is_needed || surface.name.starts_with("ollama")) CHECK(surface.ignored(request).empty());

      request[std::string(field.name)] = value_of(field.kinds, true);
      CHECK_THROWS_WITH(surface.ignored(request), Catch::Matchers::StartsWith(std::string(field.name) + ": expected "));

      request[std::string(field.name)] = value_of(field.kinds, false);
      if (field.treatment == Treatment::kIgnored) {
        CHECK(surface.ignored(request) == std::vector{std::string(field.name)});
      } else if (field.treatment == Treatment::kRefused) {
        CHECK_THROWS_WITH(surface.ignored(request), std::string(field.name) + ": " + std::string(field.note));
        CHECK_FALSE(field.note.empty());
      }
    }
  }
}

TEST_CASE("fields that nobody has published are ignored without a word") {
  for (const Surface& surface : surfaces()) {
    Json request = surface.request;
    request["x_unheard_of"] = {{"a", 1}};
    CHECK(surface.ignored(request).empty());
  }
}

TEST_CASE("no field stands in a table twice") {
  for (const Surface& surface : surfaces()) {
    for (const Field& field : surface.fields) {
      CAPTURE(surface.name, field.name);
      CHECK(std::ranges::count(surface.fields, field.name, &Field::name) == 1);
    }
  }
}

TEST_CASE("a request that is no object is refused") {
  for (const Surface& surface : surfaces()) {
    for (const auto* text : {"5", "[]", "null", "\"x\""})
      CHECK_THROWS_AS(surface.ignored(Json::parse(text)), TurnError);
  }
}

TEST_CASE("the ignored fields become one header, and the table one of the documentation") {
  CHECK(ignored_header({}).empty());
  CHECK(ignored_header({"seed", "logprobs"}) == "seed, logprobs");
  const std::string bounded = ignored_header(std::vector<std::string>(5000, "tools[0]"));
  CHECK(bounded.size() < 1100);
  CHECK_THAT(bounded, test::has_text(", and 48"));
  CHECK_THAT(field_documentation(openai_chat_fields()), test::has_text("| `seed` | ignored | the runtime has none |"));
  CHECK_THAT(field_documentation(openai_chat_fields()), test::has_text("| `functions` | refused | use tools |"));
}
