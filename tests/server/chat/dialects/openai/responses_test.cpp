#include "chat/dialects/openai/responses_reply.hpp"
#include "chat/dialects/openai/responses_request.hpp"

#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

ResponsesRequest responses_with(const std::string& more) {
  Json request = Json::parse(R"({"model":"m","input":"Hi"})");
  request.update(Json::parse(more));
  return read_responses(request);
}

const ReplyFacts kResponseFacts{.id = "resp_1", .model = "m", .created_s = 1700000000};

std::vector<Json> response_events(const std::string& stream) {
  std::vector<Json> events;
  for (std::size_t at = 0; at < stream.size();) {
    const auto line = stream.find('\n', at);
    const auto end = stream.find("\n\n", at);
    REQUIRE(stream.compare(at, 7, "event: ") == 0);
    events.push_back(Json::parse(stream.substr(line + 7, end - line - 7)));
    CHECK(events.back()["type"] == stream.substr(at + 7, line - at - 7));
    at = end + 2;
  }
  return events;
}

AnswerEnd response_end(Finish finish) {
  return {.finish = finish, .usage = {.prompt = 10, .cached = 4, .generated = 5, .reasoning = 2}};
}

}  // namespace

TEST_CASE("a short response request is a turn that nobody stores") {
  const ResponsesRequest request = responses_with(R"({"instructions":"Be brief."})");
  CHECK(request.turn.messages == std::vector{text_message(Role::kUser, "Hi")});
  CHECK(request.instructions == "Be brief.");
  CHECK_FALSE(request.store);
  CHECK(request.settings["store"] == false);
  CHECK(request.settings["instructions"] == "Be brief.");
  CHECK(request.settings["text"] == Json::parse(R"({"format":{"type":"text"}})"));
  CHECK(request.settings["temperature"].is_null());
}

TEST_CASE("the items of an assistant's turn are one message") {
  const ResponsesRequest request = responses_with(R"({"input":[
      {"role":"developer","content":"D"},
      {"type":"message","role":"user","content":[{"type":"input_text","text":"Q"},{"type":"input_image","image_url":"data:image/png;base64,AA"}]},
      {"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"Hm"}]},
      {"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},
      {"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":1}"},
      {"type":"function_call_output","call_id":"c1","output":"r"},
      {"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"s"}]}]})");
  const auto& messages = request.turn.messages;
  REQUIRE(messages.size() == 5);
  CHECK(messages[0] == text_message(Role::kSystem, "D"));
  CHECK(has_image(messages[1]));
  CHECK(messages[2].thinking == "Hm");
  CHECK(text_of(messages[2]) == "I look.");
  CHECK(messages[2].calls == std::vector<ToolCall>{{"c1", "f", R"({"a":1})"}});
  CHECK(messages[3].tool_name == "f");
  CHECK(text_of(messages[4]) == "s");
}

TEST_CASE("options of a response are honoured, its hosted tools named") {
  const ResponsesRequest request = responses_with(R"({"stream":true,"store":true,"previous_response_id":"resp_0",
      "max_output_tokens":7,"temperature":1,"truncation":"auto","reasoning":{"effort":"minimal"},
      "text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}},"verbosity":"low"},
      "tools":[{"type":"function","name":"f","parameters":{"type":"object"}},{"type":"web_search"}],
      "tool_choice":{"type":"function","name":"f"},"parallel_tool_calls":false,"metadata":{"k":"v"},"include":["x"]})");
  CHECK(request.stream);
  CHECK(request.store);
  CHECK(request.previous_response == "resp_0");
  CHECK(request.turn.max_tokens == 7);
  CHECK(request.turn.drop_oldest_turns);
  CHECK(request.turn.thinking == Thinking::kOff);
  CHECK(request.turn.format == OutputFormat{OutputKind::kJsonSchema, Json{{"type", "object"}}});
  CHECK(request.turn.tools.size() == 1);
  CHECK(request.turn.tool_choice == ToolChoice{ToolUse::kNamed, "f"});
  CHECK_FALSE(request.turn.parallel_calls);
  CHECK(request.ignored == std::vector<std::string>{"text.verbosity", "include", "tools[1]"});
  CHECK(request.settings["metadata"] == Json{{"k", "v"}});
  CHECK(request.settings["previous_response_id"] == "resp_0");
  CHECK(request.settings["store"] == true);
}

TEST_CASE("of the tools of a response those that are allowed are offered") {
  const ResponsesRequest request =
      responses_with(R"({"tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}],
      "tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"g"}]}})");
  CHECK(request.turn.tools == std::vector<FunctionTool>{{.name = "g"}});
  CHECK(request.turn.tool_choice.use == ToolUse::kRequired);
  CHECK(request.settings["tools"].size() == 2);
}

TEST_CASE("the conversation of a response is its id, or an object that has it, and is repeated as one") {
  for (const char* const form : {R"({"conversation":"c"})", R"({"conversation":{"id":"c"}})"}) {
    const ResponsesRequest request = responses_with(form);
    CHECK(request.turn.conversation == "c");
    CHECK(request.turn.needs_conversation);
    CHECK(request.settings["conversation"] == Json{{"id", "c"}});
  }
  CHECK_FALSE(responses_with("{}").turn.needs_conversation);
  CHECK(responses_with("{}").settings["conversation"].is_null());
}

TEST_CASE("what is wrong in a response request is refused with its place") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"input":null})", "input: missing"},
      {R"({"input":[]})", "input: expected at least one item"},
      {R"({"conversation":""})", "conversation: must not be empty"},
      {R"({"conversation":{}})", "conversation.id: missing"},
      {R"({"conversation":"c","previous_response_id":"resp_0"})",
       "conversation: cannot be sent together with previous_response_id"},
      {R"({"input":[{"type":"item_reference","id":"x"}]})", "input[0].type: items of this type are not supported here"},
      {R"({"input":[{"role":"user"}]})", "input[0].content: missing"},
      {R"({"input":[{"type":"function_call","name":"f"}]})", "input[0].call_id: missing"},
      {R"({"tool_choice":{"type":"web_search"}})",
       "tool_choice.type: expected function or allowed_tools, which are supported here, found \"web_search\""},
      {R"({"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]}})",
       "tool_choice.tools[0].name: there is no tool with this name"},
      {R"({"input":[{"type":"function_call_output","call_id":"c","output":{}}]})",
       "input[0].output: expected string or array of parts, found object"},
      {R"({"truncation":"some"})", "truncation: expected auto or disabled, found \"some\""},
      {R"({"background":true})", "background: an answer is made while its client waits"},
      {R"({"text":{"format":{"type":"json_schema"}}})", "text.format.schema: missing"},
  };
  for (const auto& [more, complaint] : cases) {
    CAPTURE(more);
    CHECK_THROWS_WITH(responses_with(more), complaint);
  }
  CHECK(responses_with(R"({"background":false})").ignored.empty());
}

TEST_CASE("a whole response repeats the request's settings") {
  const Json settings = responses_with(R"({"temperature":0.5})").settings;
  const Answer answer{
      .thinking = "Hm", .text = "Hi", .calls = {{"c1", "f", "{}"}}, .end = response_end(Finish::kToolCalls)};
  const Json response = Json::parse(responses_reply(kResponseFacts, settings, answer));
  CHECK(response["id"] == "resp_1");
  CHECK(response["status"] == "completed");
  CHECK(response["temperature"] == 0.5);
  CHECK(response["output"] ==
        Json::parse(R"([{"id":"rs_0_resp_1","type":"reasoning","summary":[{"type":"summary_text","text":"Hm"}]},
      {"id":"msg_1_resp_1","type":"message","status":"completed","role":"assistant",
       "content":[{"type":"output_text","text":"Hi","annotations":[],"logprobs":[]}]},
      {"id":"fc_2_resp_1","type":"function_call","status":"completed","call_id":"c1","name":"f","arguments":"{}"}])"));
  CHECK(response["usage"] ==
        Json::parse(R"({"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":5,
      "output_tokens_details":{"reasoning_tokens":2},"total_tokens":15})"));
  const Json cut = response_object(kResponseFacts, settings, {.text = "H", .end = response_end(Finish::kLength)});
  CHECK(cut["status"] == "incomplete");
  CHECK(cut["incomplete_details"] == Json{{"reason", "max_output_tokens"}});
}

TEST_CASE("a response's events are numbered, and its end is the same as the whole response") {
  const Json settings = responses_with("{}").settings;
  ResponsesStream stream(kResponseFacts, settings);
  const std::vector<AnswerEvent> pieces = {ThinkingDelta{"H"}, ThinkingDelta{"m"}, TextDelta{"a"}, TextDelta{"é"},
                                           ToolCall{"c1", "f", R"({"a":1})"}};
  std::string sent = stream.heartbeat();
  sent += stream.heartbeat();
  Answer answer;
  for (const AnswerEvent& piece : pieces) {
    sent += stream.event(piece, 0);
    append(answer, piece);
  }
  answer.end = response_end(Finish::kToolCalls);
  sent += stream.end(answer.end, 0);
  const auto events = response_events(sent);
  std::vector<std::string> types;
  for (std::size_t i = 0; i < events.size(); ++i) {
    types.push_back(events[i]["type"].get<std::string>().substr(9));  // behind "response."
    CHECK(events[i]["sequence_number"] == i);
  }
  CHECK(types == std::vector<std::string>{"created",
                                          "in_progress",
                                          "in_progress",
                                          "output_item.added",
                                          "reasoning_summary_part.added",
                                          "reasoning_summary_text.delta",
                                          "reasoning_summary_text.delta",
                                          "reasoning_summary_text.done",
                                          "reasoning_summary_part.done",
                                          "output_item.done",
                                          "output_item.added",
                                          "content_part.added",
                                          "output_text.delta",
                                          "output_text.delta",
                                          "output_text.done",
                                          "content_part.done",
                                          "output_item.done",
                                          "output_item.added",
                                          "function_call_arguments.delta",
                                          "function_call_arguments.done",
                                          "output_item.done",
                                          "completed"});
  CHECK(events[13]["item_id"] == "msg_1_resp_1");
  CHECK(events[13]["content_index"] == 0);
  CHECK(events[14]["text"] == "aé");
  CHECK(events[18]["output_index"] == 2);
  CHECK(events.back()["response"] == response_object(kResponseFacts, settings, answer));
}

TEST_CASE("a response's last event has what was known only when its answer began") {
  ResponsesStream stream(kResponseFacts, Json::object());
  stream.begun({.dropped_messages = 3});
  const Json last = response_events(stream.end(response_end(Finish::kStop), 0)).back();
  CHECK(last["response"]["rkllm"] == Json{{"dropped_messages", 3}});
}

TEST_CASE("a response that was cut, or failed, says so in its last event") {
  ResponsesStream cut(kResponseFacts, Json::object());
  CHECK(response_events(cut.end(response_end(Finish::kLength), 0)).back()["type"] == "response.incomplete");
  ResponsesStream failed(kResponseFacts, Json::object());
  std::string sent = failed.event(TextDelta{"a"}, 0);
  sent += failed.error(TurnError(ErrorKind::kRuntimeFailed, "it died"));
  const Json last = response_events(sent).back();
  CHECK(last["type"] == "response.failed");
  CHECK(last["response"]["status"] == "failed");
  CHECK(last["response"]["error"] == Json::parse(R"({"code":"runtime_failed","message":"it died"})"));
}
