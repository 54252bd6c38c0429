#include "chat/assistant/profile/profile.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::chat {
namespace {

using Words = std::vector<std::string>;

Json described(Json schema, const char* description) {
  schema["description"] = description;
  return schema;
}

Json string_schema(const char* description) { return described({{"type", "string"}}, description); }

Json name_schema(const char* description) { return described({{"type", "string"}, {"minLength", 1}}, description); }

Json whole_schema(std::int64_t least, std::int64_t most, std::int64_t built_in, const char* description) {
  return described({{"type", "integer"}, {"minimum", least}, {"maximum", most}, {"default", built_in}}, description);
}

// The first is what counts where the member is left out.
Json word_schema(const Words& words, const char* description) {
  return described({{"type", "string"}, {"enum", words}, {"default", words.front()}}, description);
}

Json object_schema(Json properties, const Words& required, const char* description) {
  return described({{"type", "object"},
                    {"properties", std::move(properties)},
                    {"required", required},
                    {"additionalProperties", false}},
                   description);
}

Json lines_schema(const char* description) {
  return described({{"anyOf",
                     {{{"type", "string"}, {"minLength", 1}},
                      {{"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", 1}}}}},
                   description);
}

Json wording_schema(const char* description) {
  return object_schema(
      {{"language", lines_schema("Asks the model which language {question} is in: vi or en.")},
       {"guardrail", lines_schema("Asks the model whether the assistant may answer {question}: yes or no.")},
       {"answer", lines_schema("What the model is told: {question}, {history}, {summary}, {search}. A paragraph whose "
                               "holes are all empty is left out.")},
       {"refusal", lines_schema("Said instead of an answer.")},
       {"summary", lines_schema("Asks for a summary of {history}.")},
       {"shorter_summary", lines_schema("Asks for a summary of {summary}.")},
       {"user", string_schema("What who asks is called where a conversation is told.")},
       {"assistant", string_schema("What who answers is called there.")}},
      {"answer"}, description);
}

// Where `member` does not fit `others`, the profile fits `then`. By anyOf, since not every checker knows if and then.
Json where(const char* member, Json others, Json then) {
  return {{"anyOf", {{{"properties", {{member, std::move(others)}}}}, std::move(then)}}};
}

// Every language has these texts.
Json with_texts(const Words& texts) {
  return {{"properties", {{"prompts", {{"additionalProperties", {{"required", texts}}}}}}}};
}

Json in_prompts(const char* language) {
  return {{"properties", {{"prompts", {{"required", Json::array({language})}}}}}};
}

Json rules() {
  const Json nothing = false;
  const Json elsewhere{{"required", {"provider", "url", "model"}},
                       {"properties",
                        {{"provider", {{"enum", {"ollama", "openai"}}}},
                         {"url", {{"minLength", 1}}},
                         {"model", {{"minLength", 1}}},
                         {"tools", nothing}}}};
  const Json here{
      {"properties", {{"provider", {{"enum", Json::array({"runtime"})}}}, {"url", nothing}, {"key_file", nothing}}}};
  return {{{"anyOf", {here, elsewhere}}},
          where("language", {{"enum", Json::array({"script"})}}, with_texts({"language"})),
          where("guardrail", nothing, with_texts({"guardrail", "refusal"})),
          where("summary", {{"enum", Json::array({"none"})}}, with_texts({"summary", "shorter_summary"})),
          where("default_language", {{"enum", Json::array({"en"})}}, in_prompts("vi")),
          where("default_language", {{"enum", Json::array({"vi"})}}, in_prompts("en"))};
}

Json properties() {
  constexpr std::int64_t kMost = 1'000'000;
  Json temperature =
      described({{"type", "number"}, {"minimum", 0}, {"maximum", 2}}, "Of answers, if the request does not say.");
  Json max_tokens =
      described({{"type", "integer"}, {"minimum", 1}, {"maximum", kMost}}, "Of answers, if the request does not say.");
  Json allow = described({{"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", 1}},
                         "Patterns (*, ?) of names, in the tool server and of the upstreams: board_*.");
  Json prompts{
      {"type", "object"},
      {"properties", {{"vi", wording_schema("Texts in Vietnamese.")}, {"en", wording_schema("Texts in English.")}}},
      {"minProperties", 1},
      {"additionalProperties", false}};
  return {
      {"$schema", string_schema("This schema.")},
      {"name", name_schema("As clients name it. Left out: the file's name without .json.")},
      {"description", string_schema("For people.")},
      {"provider", word_schema({"runtime", "ollama", "openai"},
                               "Who makes the texts: this server, another one by POST /api/generate, or any that is "
                               "compatible with OpenAI's.")},
      {"url", string_schema("Of the other server: http://127.0.0.1:11434, http://board:8080/v1.")},
      {"key_file", string_schema("File with the API key for it, closed to other users.")},
      {"model", string_schema("A name there, or here. Here it may be left out if there is only one model.")},
      {"max_tokens", std::move(max_tokens)},
      {"temperature", std::move(temperature)},
      {"language", word_schema({"script", "model"}, "What tells a question's language: its letters, or the model.")},
      {"default_language", described({{"type", "string"}, {"enum", {"vi", "en"}}},
                                     "Of questions without words, and where prompts are missing.")},
      {"guardrail",
       object_schema({{"model", string_schema("Another one than the profile's, so that its cache stays.")},
                      {"max_tokens", whole_schema(2, kMost, 8, "Of its yes or no.")},
                      {"fail", word_schema({"closed", "open"},
                                           "What becomes of a question if its answer is unclear, or it cannot be "
                                           "asked.")}},
                     {}, "Asks first whether a question may be answered. Left out: every question is answered.")},
      {"tasks", described({{"type", "boolean"}},
                          "Whether what a client asks for its own use (titles, tags) goes to the model as it is, past "
                          "the guardrail. Left out: only if there is no guardrail.")},
      {"search", object_schema({{"tool", string_schema("duckduckgo_search, say.")},
                                {"server", described({{"type", "string"}, {"default", "tool-server"}},
                                                     "That has the tool: tool-server, or upstreams.")},
                                {"max_results", whole_schema(1, 10, 5, "That are asked for.")},
                                {"max_bytes", whole_schema(100, kMost, 6000, "Of results that the model is told.")}},
                               {"tool"}, "Looks the question up before the answer. Left out: nothing is looked up.")},
      {"tools", object_schema({{"allow", std::move(allow)},
                               {"rounds", whole_schema(1, 20, 4, "Of calls and their results.")},
                               {"max_bytes", whole_schema(100, kMost, 4000, "Of one result that the model is told.")}},
                              {"allow"}, "Tools that the model may call by itself. Left out: none.")},
      {"summary", word_schema({"none", "each_response", "threshold"},
                              "When what was said is summarised: never, after each answer, or when "
                              "memory.summarize_threshold messages are old.")},
      {"prompts", described(std::move(prompts), "The texts, by language: as far as the profile uses them.")}};
}

}  // namespace

Json profile_schema() {
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "A profile of rkllm-mcp"},
          {"description", "An assistant under a model's name: docs/profiles.md."},
          {"type", "object"},
          {"properties", properties()},
          {"required", Json::array({"prompts"})},
          {"additionalProperties", false},
          {"allOf", rules()}};
}

}  // namespace rkllm_mcp::chat
