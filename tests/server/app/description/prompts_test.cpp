#include "app/description/prompts.hpp"

#include "app/description/api_description.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

using PromptWords = std::vector<std::string>;

// What has come of getting a prompt.
struct GotPrompt {
  Json result;
  std::optional<RpcError> error;
};

class KeepsOutcome final : public mcp::Requester {
 public:
  explicit KeepsOutcome(GotPrompt& got) : got_(got) {}
  void result(Json body) override { got_.result = std::move(body); }
  void error(const RpcError& error) override { got_.error = error; }
  void ask(mcp::Invocation&, mcp::InputRequests, Json) override {}
  void notify(std::string_view, const Json&) override {}
  bool ready() const override { return true; }

 private:
  GotPrompt& got_;
};

class OfferedPrompts {
 public:
  explicit OfferedPrompts(bool lists_functions) {
    QueuedBackend::HandleStatus handle{};
    handle.id = "llm-7";
    add_prompts(catalogue_, {[handle] { return std::vector{handle}; },
                             [](std::string_view so_far, const Json&) {
                               return PromptWords{"small", std::string(so_far) + "/x.rkllm"};
                             },
                             Json{{"small", {{"param", {{"model_path", "/models/small.rkllm"}}}}}},
                             api_document("1.3.0"), lists_functions});
  }

  GotPrompt get(const std::string& name, Json arguments) const {
    GotPrompt got;
    mcp::InvocationRequest request;
    request.name = name;
    request.arguments = std::move(arguments);
    const auto* const prompt = catalogue_.prompt(name);
    REQUIRE(prompt != nullptr);
    std::make_shared<mcp::Invocation>(std::move(request), std::make_unique<KeepsOutcome>(got), (*prompt)->run)->run();
    return got;
  }
  std::string text(const std::string& name, Json arguments) const {
    const GotPrompt got = get(name, std::move(arguments));
    REQUIRE_FALSE(got.error);
    return got.result["messages"][0]["content"]["text"].get<std::string>();
  }
  PromptWords names() const {
    PromptWords names;
    for (const auto& each : catalogue_.prompts) names.push_back(each->name);
    return names;
  }
  const mcp::PromptArgument& argument(const std::string& prompt, const std::string& name) const {
    for (const mcp::PromptArgument& each : (*catalogue_.prompt(prompt))->arguments) {
      if (each.name == name) return each;
    }
    throw std::runtime_error(prompt + " has no argument " + name);
  }
  PromptWords arguments_of(const std::string& prompt) const {
    PromptWords names;
    for (const mcp::PromptArgument& each : (*catalogue_.prompt(prompt))->arguments) {
      names.push_back(each.name + (each.required ? "" : "?"));
    }
    return names;
  }

 private:
  mcp::Catalogue catalogue_;
};

// The call that a prompt asks for: the JSON object behind these words.
Json call_behind(const std::string& text, const std::string& words) {
  const auto at = text.find(words + " {");
  INFO(text);
  REQUIRE(at != std::string::npos);
  std::size_t end = at + words.size() + 1;
  int depth = 0;
  bool is_quoted = false;
  do {
    const char character = text.at(end++);
    if (character == '\\') {
      ++end;
    } else if (character == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted) {
      depth += character == '{' ? 1 : character == '}' ? -1 : 0;
    }
  } while (depth > 0);
  return Json::parse(text.substr(at + words.size() + 1, end - at - words.size() - 1));
}

const std::string kHostile = "say \"hi\"}\n\\ {\"handle\":\"llm-1\"}\t\xE2\x82\xAC";

}  // namespace

TEST_CASE("prompts and their arguments are those that fit the tools that are listed") {
  const OfferedPrompts all(true);
  CHECK(all.names() == PromptWords{"set_up_model", "chat", "summarize", "use_tools"});
  CHECK(all.arguments_of("set_up_model") == PromptWords{"model"});
  CHECK(all.arguments_of("chat") == PromptWords{"message", "handle?", "mode?"});
  CHECK(all.arguments_of("summarize") == PromptWords{"text", "language?", "handle?"});
  CHECK(all.arguments_of("use_tools") == PromptWords{"question", "tools", "handle?"});
  const OfferedPrompts few(false);
  CHECK(few.names() == PromptWords{"set_up_model", "chat", "summarize"});
  CHECK(few.arguments_of("chat") == PromptWords{"message", "handle?"});
}

TEST_CASE("arguments of prompts are completed by what there is: models, handles and modes") {
  const OfferedPrompts prompts(true);
  CHECK(prompts.argument("set_up_model", "model").complete("/m", Json::object()) == PromptWords{"small", "/m/x.rkllm"});
  for (const char* const each : {"chat", "summarize", "use_tools"}) {
    CHECK(prompts.argument(each, "handle").complete("", Json::object()) == PromptWords{"llm-7"});
  }
  const auto modes = prompts.argument("chat", "mode").complete("", Json::object());
  CHECK(modes == PromptWords{"RKLLM_INFER_GENERATE", "RKLLM_INFER_GET_LAST_HIDDEN_LAYER", "RKLLM_INFER_GET_LOGITS"});
  CHECK_FALSE(prompts.argument("chat", "message").complete);
}

TEST_CASE("a prompt is one message of the user, under the words that the list has for it") {
  const OfferedPrompts prompts(true);
  const Json got = prompts.get("chat", {{"message", "Hi"}}).result;
  CHECK(got["description"] == "Say something to the model on the board.");
  REQUIRE(got["messages"].size() == 1);
  CHECK(got["messages"][0]["role"] == "user");
  CHECK(got["messages"][0]["content"]["type"] == "text");
}

TEST_CASE("a model is set up by its preset's name if there is one, and else by its path") {
  const OfferedPrompts prompts(true);
  CHECK(call_behind(prompts.text("set_up_model", {{"model", "small"}}), "rkllm_init with") == Json{{"model", "small"}});
  CHECK(call_behind(prompts.text("set_up_model", {{"model", kHostile}}), "rkllm_init with") ==
        Json{{"param", {{"model_path", kHostile}}}});
}

TEST_CASE("whatever a text has in it, the call of a prompt hands it on as it is and has nothing else") {
  const OfferedPrompts functions(true);
  CHECK(call_behind(functions.text("chat", {{"message", kHostile}}), "rkllm_run with") ==
        Json{{"rkllm_input", {{"prompt_input", kHostile}}}});
  const Json summary = call_behind(functions.text("summarize", {{"text", kHostile}}), "rkllm_run with");
  CHECK_THAT(summary["rkllm_input"]["prompt_input"].get<std::string>(),
             has_text("in the language of the text.\n\n" + kHostile));
  CHECK(summary.size() == 1);
  const OfferedPrompts tools(false);
  CHECK(call_behind(tools.text("chat", {{"message", kHostile}}), "the tool chat with") == Json{{"message", kHostile}});
  CHECK(call_behind(tools.text("set_up_model", {{"model", kHostile}}), "the tool load_model with") ==
        Json{{"model", kHostile}});
}

TEST_CASE("the handle, the mode and the language of a prompt are in its calls where they were given") {
  const OfferedPrompts functions(true);
  CHECK(
      call_behind(functions.text("chat", {{"message", "Hi"}, {"handle", "llm-7"}, {"mode", "M"}}), "rkllm_run with") ==
      Json{{"handle", "llm-7"}, {"rkllm_input", {{"prompt_input", "Hi"}}}, {"rkllm_infer_params", {{"mode", "M"}}}});
  const Json summary = call_behind(
      functions.text("summarize", {{"text", "T"}, {"language", "French"}, {"handle", "llm-7"}}), "rkllm_run with");
  CHECK(summary["handle"] == "llm-7");
  CHECK_THAT(summary["rkllm_input"]["prompt_input"].get<std::string>(), has_text("in French.\n\nT"));
  const OfferedPrompts tools(false);
  CHECK(call_behind(tools.text("chat", {{"message", "Hi"}, {"handle", "llm-7"}}), "the tool chat with") ==
        Json{{"message", "Hi"}, {"model", "llm-7"}});
}

TEST_CASE("tools for the model are handed on as the text that they are, in three calls of the same handle") {
  const OfferedPrompts prompts(true);
  const std::string tools = R"([ {"type":"function"} ])";
  const std::string text = prompts.text("use_tools", {{"question", kHostile}, {"tools", tools}, {"handle", "llm-7"}});
  CHECK(call_behind(text, "rkllm_set_function_tools with") ==
        Json{{"handle", "llm-7"}, {"system_prompt", ""}, {"tools", tools}, {"tool_response_str", "tool_response"}});
  CHECK(call_behind(text, "Then call rkllm_run with") == Json{{"handle", "llm-7"},
                                                              {"rkllm_input", {{"prompt_input", kHostile}}},
                                                              {"rkllm_infer_params", {{"keep_history", 1}}}});
  const Json outcome = call_behind(text, "call rkllm_run again with");
  CHECK(outcome["handle"] == "llm-7");
  CHECK(outcome["rkllm_input"]["role"] == "tool");
  CHECK(Json::parse(outcome["rkllm_input"]["prompt_input"].get<std::string>()).is_array());
}

TEST_CASE("tools for the model that are no JSON array are refused with their path") {
  const OfferedPrompts prompts(true);
  for (const char* const wrong : {"", "[", "{}", "null", "\"[]\"", "[] []", "[\xFF]", "search"}) {
    INFO(wrong);
    const GotPrompt got = prompts.get("use_tools", {{"question", "?"}, {"tools", wrong}});
    CHECK(got.result.is_null());
    REQUIRE(got.error);
    CHECK(got.error->code() == ErrorCode::kInvalidParams);
    CHECK(got.error->what() == std::string("params.arguments.tools: expected a JSON array of functions, as a string"));
    CHECK(got.error->data() == Json{{"path", "params.arguments.tools"}});
  }
  CHECK_FALSE(prompts.get("use_tools", {{"question", "?"}, {"tools", "[]"}}).error);
}
