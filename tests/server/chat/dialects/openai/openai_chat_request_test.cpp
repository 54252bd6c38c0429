#include "chat/dialects/openai/openai_chat_request.hpp"

#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

Json chat_request(const std::string& more) {
  Json request = Json::parse(R"({"model":"qwen","messages":[{"role":"user","content":"Hi"}]})");
  request.update(Json::parse(more));
  return request;
}

OpenAiChatRequest read_with(const std::string& more) { return read_openai_chat(chat_request(more)); }

}  // namespace

TEST_CASE("a short request is a turn with nothing but its message") {
  const OpenAiChatRequest request = read_with("{}");
  CHECK(request.turn.model == "qwen");
  CHECK(request.turn.messages == std::vector{text_message(Role::kUser, "Hi")});
  CHECK_FALSE(request.stream);
  CHECK(request.turn.max_tokens == std::nullopt);
  CHECK(request.turn.sampling == SamplingWish{});
  CHECK(request.turn.answers == 1);
  CHECK(request.turn.thinking == Thinking::kAsTheModelDoes);
}

TEST_CASE("messages of all roles are read, with parts, thinking, calls and results") {
  const auto messages = read_with(R"({"messages":[
      {"role":"developer","content":"Be brief."},
      {"role":"system","content":[{"type":"text","text":"And"},{"type":"text","text":"kind."}]},
      {"role":"user","content":[{"type":"text","text":"What?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}],"name":"An"},
      {"role":"assistant","content":null,"reasoning_content":"Hm.","tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"a\": 1}"}}]},
      {"role":"tool","tool_call_id":"c1","content":"seen"},
      {"role":"assistant","refusal":"No."},
      {"role":"assistant"}]})")
                            .turn.messages;
  REQUIRE(messages.size() == 7);
  CHECK(messages[0] == text_message(Role::kSystem, "Be brief."));
  CHECK(text_of(messages[1]) == "And\nkind.");
  CHECK(has_image(messages[2]));
  CHECK(messages[2].parts[1] == Part(ImagePart{"image/png", "AAAA"}));
  CHECK(messages[3].thinking == "Hm.");
  CHECK(messages[3].calls == std::vector<ToolCall>{{"c1", "look", R"({"a":1})"}});
  CHECK(messages[4].role == Role::kTool);
  CHECK(messages[4].tool_name == "look");
  CHECK(text_of(messages[5]) == "No.");
  CHECK(messages[6].parts.empty());
}

TEST_CASE("options are honoured") {
  const OpenAiChatRequest request = read_with(R"({"stream":true,"stream_options":{"include_usage":true},"max_tokens":5,
      "max_completion_tokens":7,"stop":["a","b"],"temperature":0,"top_p":0.5,"top_k":3,"frequency_penalty":-1,
      "presence_penalty":2,"repeat_penalty":1.2,"n":3,"parallel_tool_calls":false,"reasoning_effort":"none",
      "truncate":"oldest_turns","chat_id":"c","modalities":["text"],"tools":[{"type":"function","function":
      {"name":"f","description":"d","parameters":{"type":"object"},"strict":true}}],"tool_choice":"required"})");
  const Turn& turn = request.turn;
  CHECK(request.stream);
  CHECK(request.figures.usage_at_end);
  CHECK_FALSE(request.figures.timings_per_token);
  CHECK(turn.max_tokens == 7);
  CHECK(turn.stop == std::vector<std::string>{"a", "b"});
  CHECK(turn.sampling == SamplingWish{.top_k = 3,
                                      .top_p = 0.5,
                                      .temperature = 0.0,
                                      .repeat_penalty = 1.2,
                                      .frequency_penalty = -1.0,
                                      .presence_penalty = 2.0});
  CHECK(turn.answers == 3);
  CHECK_FALSE(turn.parallel_calls);
  CHECK(turn.thinking == Thinking::kOff);
  CHECK(turn.drop_oldest_turns);
  CHECK(turn.conversation == "c");
  CHECK(turn.tools == std::vector<FunctionTool>{{"f", "d", Json{{"type", "object"}}}});
  CHECK(turn.tool_choice == ToolChoice{ToolUse::kRequired, ""});
  CHECK(request.ignored == std::vector<std::string>{"tools[].function.strict"});
}

TEST_CASE("timings for each token are asked for by their name alone") {
  const OpenAiChatRequest request = read_with(R"({"stream":true,"timings_per_token":true})");
  CHECK(request.figures.timings_per_token);
  CHECK_FALSE(request.figures.usage_at_end);
  CHECK(request.ignored.empty());
}

TEST_CASE("the forms of one option") {
  CHECK(read_with(R"({"stop":"x"})").turn.stop == std::vector<std::string>{"x"});
  CHECK(read_with(R"({"stop":""})").turn.stop.empty());
  CHECK(read_with(R"({"reasoning_effort":"high"})").turn.thinking == Thinking::kOn);
  CHECK(read_with(R"({"chat_template_kwargs":{"enable_thinking":false}})").turn.thinking == Thinking::kOff);
  CHECK(read_with(R"({"response_format":{"type":"text"}})").turn.format == OutputFormat{});
  CHECK(read_with(R"({"response_format":{"type":"json_object"}})").turn.format.kind == OutputKind::kJsonObject);
  CHECK(read_with(R"({"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}}})")
            .turn.format == OutputFormat{OutputKind::kJsonSchema, Json{{"type", "object"}}});
  CHECK(read_with(R"({"response_format":{"type":"json_schema","json_schema":{"name":"n"}}})").turn.format ==
        OutputFormat{OutputKind::kJsonSchema, Json::object()});
  for (const std::string off : {"0", "-1"}) {
    CHECK(read_with(R"({"top_k":)" + off + "}").turn.sampling.top_k == 1'000'000);  // every token
  }
  CHECK(read_with(R"({"tool_choice":{"type":"function","function":{"name":"f"}}})").turn.tool_choice ==
        ToolChoice{ToolUse::kNamed, "f"});
  CHECK(read_with(R"({"tool_choice":"none"})").turn.tool_choice.use == ToolUse::kNone);
}

TEST_CASE("of allowed tools no others are offered") {
  const std::string tools =
      R"("tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}},)"
      R"({"type":"function","function":{"name":"h"}}])";
  const auto allowing = [&tools](const std::string& mode) {
    return read_with("{" + tools + R"(,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":")" + mode +
                     R"(","tools":[{"type":"function","function":{"name":"h"}},)"
                     R"({"type":"function","function":{"name":"f"}}]}}})")
        .turn;
  };
  CHECK(allowing("auto").tools == std::vector<FunctionTool>{{.name = "f"}, {.name = "h"}});
  CHECK(allowing("auto").tool_choice == ToolChoice{});
  CHECK(allowing("required").tool_choice.use == ToolUse::kRequired);
}

TEST_CASE("of very many tools very many can be allowed") {
  Json tools = Json::array();
  for (int i = 0; i < 6400; ++i) tools.push_back({{"type", "function"}, {"function", {{"name", std::to_string(i)}}}});
  Json allowed = tools;
  allowed.erase(0);
  const Json choice = {{"type", "allowed_tools"}, {"allowed_tools", {{"mode", "auto"}, {"tools", allowed}}}};
  const Turn turn = read_with(Json{{"tools", tools}, {"tool_choice", choice}}.dump()).turn;
  CHECK(turn.tools.size() == 6399);
  CHECK(turn.tools.front().name == "1");
}

TEST_CASE("a call that broke off stays in the history as it is") {
  const auto arguments = [](const std::string& text) {
    const Json call = {{"function", {{"name", "f"}, {"arguments", text}}}};
    return read_with(Json{{"messages", {{{"role", "assistant"}, {"tool_calls", {call}}}}}}.dump())
        .turn.messages.at(0)
        .calls.at(0)
        .arguments;
  };
  CHECK(arguments(R"({"a": 1})") == R"({"a":1})");
  CHECK(arguments(R"({"a": "Hu)") == R"({"a": "Hu)");
  CHECK(arguments("5") == "5");
  CHECK(arguments("") == "{}");
}

TEST_CASE("the order of a schema's members is the client's") {
  const Turn turn =
      read_with(R"({"tools":[{"type":"function","function":{"name":"f","parameters":{"z":1,"a":2}}}]})").turn;
  CHECK(turn.tools[0].parameters.dump() == R"({"z":1,"a":2})");
}

TEST_CASE("ignored fields are named, if they ask for anything") {
  CHECK(read_with(R"({"seed":1,"logprobs":true,"user":"u"})").ignored ==
        std::vector<std::string>{"seed", "logprobs", "user"});
  CHECK(read_with(R"({"seed":null,"logprobs":false,"user":"","metadata":{}})").ignored.empty());
}

TEST_CASE("what is wrong is refused with its field") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"messages":null})", "messages: missing"},
      {R"({"messages":[]})", "messages: expected at least one message"},
      {R"({"messages":[5]})", "messages[0]: expected object, found 5"},
      {R"({"messages":[{"content":"x"}]})", "messages[0].role: missing"},
      {R"({"messages":[{"role":"robot"}]})",
       "messages[0].role: expected system, developer, user, assistant or tool, found \"robot\""},
      {R"({"messages":[{"role":"user","content":5}]})",
       "messages[0].content: expected string or array of parts, found 5"},
      {R"({"messages":[{"role":"user","content":[{"type":"input_audio"}]}]})",
       "messages[0].content[0].type: expected text or image_url; other parts are not supported"},
      {R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x/y.png"}}]}]})",
       "messages[0].content[0].image_url.url: expected a data: address; this server fetches no pictures"},
      {R"({"temperature":3})", "temperature: expected number from 0.0 to 2.0, found 3"},
      {R"({"temperature":"warm"})", "temperature: expected number, found string"},
      {R"({"max_tokens":0})", "max_tokens: expected integer from 1 to 2147483647, found 0"},
      {R"({"max_tokens":1.5})", "max_tokens: expected integer, found 1.5"},
      {R"({"top_k":-2})", "top_k: expected integer from -1 to 1000000, found -2"},
      {R"({"n":0})", "n: expected integer from 1 to 8, found 0"},
      {R"({"stop":["a",""]})", "stop[1]: expected a string that is not empty"},
      {R"({"response_format":{"type":"xml"}})",
       "response_format.type: expected text, json_object or json_schema, found \"xml\""},
      {R"({"response_format":{"type":"json_schema"}})", "response_format.json_schema: missing"},
      {R"({"tools":[{"type":"web_search"}]})", "tools[0].type: only tools of type function can be offered"},
      {R"({"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}]})",
       "tools: two tools have the same name"},
      {R"({"tool_choice":"maybe"})",
       "tool_choice: expected none, auto, required, a function or allowed_tools, found \"maybe\""},
      {R"({"tool_choice":{"type":"custom","custom":{"name":"f"}}})",
       "tool_choice.type: expected function or allowed_tools, which are supported here, found \"custom\""},
      {R"({"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"some","tools":[]}}})",
       "tool_choice.allowed_tools.mode: expected auto or required, found \"some\""},
      {R"({"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"g"}}]}}})",
       "tool_choice.allowed_tools.tools[0].function.name: there is no tool with this name"},
      {R"({"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"custom"}]}}})",
       "tool_choice.allowed_tools.tools[0].type: only functions can be allowed here"},
      {R"({"reasoning_effort":"huge"})",
       "reasoning_effort: expected none, minimal, low, medium, high or xhigh, found \"huge\""},
      {R"({"modalities":["text","audio"]})", "modalities: only text can be made here"},
      {R"({"truncate":"all"})", "truncate: expected oldest_turns, found \"all\""},
      {R"({"functions":[{"name":"f"}]})", "functions: use tools"},
      {R"({"web_search_options":{}})", "web_search_options: offer a search tool, or use a profile that searches"},
      {R"({"stream_options":{"include_usage":1}})", "stream_options.include_usage: expected boolean, found 1"},
  };
  for (const auto& [more, complaint] : cases) {
    CAPTURE(more);
    CHECK_THROWS_WITH(read_with(more), complaint);
  }
  Json many = Json::array();
  for (int i = 0; i < 17; ++i) many.push_back("x");
  CHECK_THROWS_WITH(read_with(Json{{"stop", many}}.dump()), "stop: expected at most 16 strings");
}
