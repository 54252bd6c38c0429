#include "chat/dialects/anthropic/anthropic_reply.hpp"
#include "chat/dialects/anthropic/anthropic_request.hpp"

#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

AnthropicRequest anthropic_with(const std::string& more) {
  Json request = Json::parse(R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]})");
  request.update(Json::parse(more));
  return read_anthropic(request);
}

const ReplyFacts kAnthropicFacts{.id = "msg_1", .model = "m", .request_id = "req_9"};

// Name and data of each event.
std::vector<std::pair<std::string, Json>> anthropic_events(const std::string& stream) {
  std::vector<std::pair<std::string, Json>> events;
  for (std::size_t at = 0; at < stream.size();) {
    const auto line = stream.find('\n', at);
    const auto end = stream.find("\n\n", at);
    REQUIRE(stream.compare(at, 7, "event: ") == 0);
    REQUIRE(stream.compare(line, 7, "\ndata: ") == 0);
    events.emplace_back(stream.substr(at + 7, line - at - 7), Json::parse(stream.substr(line + 7, end - line - 7)));
    CHECK(events.back().second["type"] == events.back().first);
    at = end + 2;
  }
  return events;
}

}  // namespace

TEST_CASE("an Anthropic request is a turn") {
  const AnthropicRequest request = anthropic_with(R"({"system":[
      {"type":"text","text":"x-anthropic-billing-header: cc_version=1; cch=abc"},
      {"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],
      "messages":[{"role":"user","content":[{"type":"text","text":"Q"}]},
      {"role":"assistant","content":[{"type":"thinking","thinking":"Hm","signature":"s"},{"type":"redacted_thinking","data":"x"},
        {"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"r"}]},
        {"type":"tool_result","tool_use_id":"t1"},{"type":"text","text":"So?"},
        {"type":"document","title":"T","source":{"type":"text","media_type":"text/plain","data":"D"}}]}],
      "tools":[{"name":"f","description":"d","input_schema":{"type":"object"}},{"type":"custom","name":"g","input_schema":{}}],
      "tool_choice":{"type":"any","disable_parallel_tool_use":true},"stop_sequences":["x"],"stream":true,"top_k":5,
      "thinking":{"type":"enabled","budget_tokens":1024},"metadata":{"user_id":"u"}})");
  const auto& messages = request.turn.messages;
  REQUIRE(messages.size() == 6);
  CHECK(messages[0] == text_message(Role::kSystem, "Be brief."));
  CHECK(messages[2].thinking == "Hm");
  CHECK(messages[2].calls == std::vector<ToolCall>{{"t1", "f", R"({"a":1})"}});
  CHECK(messages[3].role == Role::kTool);
  CHECK(messages[3].call_id == "t1");
  CHECK(messages[3].tool_name == "f");
  CHECK(text_of(messages[3]) == "r");
  CHECK(messages[4].parts.empty());
  CHECK(messages[5].role == Role::kUser);
  CHECK(text_of(messages[5]) == "So?\nT\nD");
  CHECK(request.turn.tools.size() == 2);
  CHECK(request.turn.tools[0].parameters == Json{{"type", "object"}});
  CHECK(request.turn.tool_choice.use == ToolUse::kRequired);
  CHECK_FALSE(request.turn.parallel_calls);
  CHECK(request.turn.max_tokens == 9);
  CHECK(request.turn.stop == std::vector<std::string>{"x"});
  CHECK(request.turn.thinking == Thinking::kOn);
  CHECK(request.stream);
  CHECK(request.ignored == std::vector<std::string>{"system[].cache_control", "thinking.budget_tokens", "metadata"});
}

TEST_CASE("the parts of a tool's result stand in lines of their own, and an error says so before them") {
  const auto result = [](const std::string& more) {
    const auto request = anthropic_with(
        R"({"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t")" + more + "}]}]}");
    return text_of(request.turn.messages.at(0));
  };
  const std::string parts = R"(,"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}])";
  CHECK(result(parts) == "a\nb");
  CHECK(result(parts + R"(,"is_error":true)") == "error: a\nb");
  CHECK(result(R"(,"is_error":true)") == "error: ");
  CHECK(result(R"(,"content":"x","is_error":true)") == "error: x");
}

TEST_CASE("the forms of Anthropic's options") {
  CHECK(anthropic_with(R"({"system":"S"})").turn.messages[0] == text_message(Role::kSystem, "S"));
  CHECK(anthropic_with(R"({"tool_choice":{"type":"tool","name":"f"}})").turn.tool_choice ==
        ToolChoice{ToolUse::kNamed, "f"});
  CHECK(anthropic_with(R"({"tool_choice":{"type":"none"}})").turn.tool_choice.use == ToolUse::kNone);
  CHECK(anthropic_with(R"({"thinking":{"type":"disabled"}})").turn.thinking == Thinking::kOff);
  CHECK(anthropic_with(R"({"thinking":{"type":"adaptive"}})").turn.thinking == Thinking::kAsTheModelDoes);
  CHECK(anthropic_with(R"({"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}})")
            .turn.format.kind == OutputKind::kJsonSchema);
  CHECK(read_anthropic_count(Json::parse(R"({"messages":[{"role":"user","content":"x"}]})")).turn.max_tokens ==
        std::nullopt);
}

TEST_CASE("what is wrong in an Anthropic request is refused with its place") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"max_tokens":null})", "max_tokens: missing"},
      {R"({"messages":[]})", "messages: expected at least one message"},
      {R"({"messages":[{"role":"tool","content":"x"}]})",
       "messages[0].role: expected user or assistant, found \"tool\""},
      {R"({"messages":[{"role":"user"}]})", "messages[0].content: missing"},
      {R"({"messages":[{"role":"user","content":[{"type":"server_tool_use"}]}]})",
       "messages[0].content[0]: blocks of type \"server_tool_use\" are not supported here"},
      {R"({"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://x"}}]}]})",
       "messages[0].content[0].source: expected base64; this server fetches no pictures"},
      {R"({"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":"x"}]}]})",
       "messages[0].content[0].input: expected object, found string"},
      {R"({"tools":[{"type":"web_search_20250305","name":"web_search"}]})",
       "tools[0].type: only tools of the client (custom) can be offered here"},
      {R"({"tool_choice":{"type":"all"}})", "tool_choice.type: expected auto, any, tool or none, found \"all\""},
      {R"({"container":{}})", "container: there are no containers here"},
      {R"({"messages":[{"role":"user","content":{}}]})",
       "messages[0].content: expected string or array of parts, found object"},
      {R"({"mcp_servers":[{"url":"x"}]})", "mcp_servers: name them in the settings (upstreams)"},
  };
  for (const auto& [more, complaint] : cases) {
    CAPTURE(more);
    CHECK_THROWS_WITH(anthropic_with(more), complaint);
  }
}

TEST_CASE("a whole Anthropic message") {
  const Answer answer{.thinking = "Hm",
                      .text = "Hi",
                      .calls = {{"t1", "f", R"({"a":1})"}},
                      .end = {.finish = Finish::kToolCalls, .usage = {.prompt = 10, .cached = 4, .generated = 5}}};
  CHECK(Json::parse(anthropic_reply(kAnthropicFacts, answer)) ==
        Json::parse(R"({"id":"msg_1","type":"message","role":"assistant",
      "model":"m","content":[{"type":"thinking","thinking":"Hm","signature":"unsigned"},{"type":"text","text":"Hi"},
      {"type":"tool_use","id":"t1","name":"f","input":{"a":1}}],"stop_reason":"tool_use","stop_sequence":null,
      "usage":{"input_tokens":6,"cache_creation_input_tokens":0,"cache_read_input_tokens":4,"output_tokens":5}})"));
  const Json stopped =
      Json::parse(anthropic_reply(kAnthropicFacts, {.end = {.finish = Finish::kStopString, .stop_string = "###"}}));
  CHECK(stopped["stop_reason"] == "stop_sequence");
  CHECK(stopped["stop_sequence"] == "###");
  CHECK(stopped["content"] == Json::array());
  CHECK(stopped["usage"]["input_tokens"].is_null());
  for (const auto& [finish, reason] : std::vector<std::pair<Finish, std::string>>{
           {Finish::kStop, "end_turn"}, {Finish::kLength, "max_tokens"}, {Finish::kContentFilter, "refusal"}}) {
    CHECK(Json::parse(anthropic_reply(kAnthropicFacts, {.end = {.finish = finish}}))["stop_reason"] == reason);
  }
  CHECK(anthropic_count_reply(7, CountKind::kExact) == R"({"input_tokens":7})");
  CHECK(anthropic_count_reply(7, CountKind::kEstimate) == R"({"input_tokens":7,"estimate":true})");
}

TEST_CASE("Anthropic's events: blocks one after the other, with consecutive numbers") {
  AnthropicStream stream(kAnthropicFacts);
  stream.begun({.dropped_messages = 2, .usage = {.prompt = 10, .cached = 4}});
  std::string sent = stream.heartbeat();
  for (const AnswerEvent& event :
       std::vector<AnswerEvent>{ThinkingDelta{"H"}, ThinkingDelta{"m"}, TextDelta{"a\"é"},
                                ToolCall{"t1", "f", R"({"a":1})"}, ToolCall{"t2", "g", "{}"}, TextDelta{"b"}}) {
    sent += stream.event(event, 0);
  }
  sent += stream.end({.finish = Finish::kToolCalls, .usage = {.prompt = 10, .cached = 4, .generated = 5}}, 0);
  sent += stream.finish({});
  std::vector<std::string> told;
  const auto events = anthropic_events(sent);
  for (const auto& [name, data] : events)
    told.push_back(name + (data.contains("index") ? " " + data["index"].dump() : ""));
  CHECK(told == std::vector<std::string>{"message_start",         "ping",
                                         "content_block_start 0", "content_block_delta 0",
                                         "content_block_delta 0", "content_block_delta 0",
                                         "content_block_stop 0",  "content_block_start 1",
                                         "content_block_delta 1", "content_block_stop 1",
                                         "content_block_start 2", "content_block_delta 2",
                                         "content_block_stop 2",  "content_block_start 3",
                                         "content_block_delta 3", "content_block_stop 3",
                                         "content_block_start 4", "content_block_delta 4",
                                         "content_block_stop 4",  "message_delta",
                                         "message_stop"});
  CHECK(events[0].second["message"]["usage"] ==
        Json::parse(
            R"({"input_tokens":6,"cache_creation_input_tokens":0,"cache_read_input_tokens":4,"output_tokens":0})"));
  CHECK(events[0].second["message"]["content"] == Json::array());
  CHECK(events[5].second["delta"]["type"] == "signature_delta");
  CHECK(events[8].second["delta"] == Json::parse(R"({"type":"text_delta","text":"a\"é"})"));
  CHECK(events[10].second["content_block"] == Json::parse(R"({"type":"tool_use","id":"t1","name":"f","input":{}})"));
  CHECK(events[11].second["delta"] == Json::parse(R"({"type":"input_json_delta","partial_json":"{\"a\":1}"})"));
  CHECK(events[19].second["delta"] == Json::parse(R"({"stop_reason":"tool_use","stop_sequence":null})"));
  CHECK(events[19].second["usage"]["output_tokens"] == 5);
  CHECK(events[19].second["rkllm"] == Json{{"dropped_messages", 2}});
}

TEST_CASE("a heartbeat before the prompt is counted begins Anthropic's message with 0, and its end has the number") {
  AnthropicStream stream(kAnthropicFacts);
  std::string sent = stream.heartbeat();
  stream.begun({.usage = {.prompt = 10}});
  sent += stream.end({.usage = {.prompt = 10, .cached = 0, .generated = 5}}, 0);
  const auto events = anthropic_events(sent);
  CHECK(events.front().second["message"]["usage"]["input_tokens"] == 0);
  CHECK(events.back().second["usage"]["input_tokens"] == 10);
  CHECK_FALSE(events.back().second.contains("rkllm"));
}

TEST_CASE("a tool's result that is an error is told as one") {
  const AnthropicRequest request = anthropic_with(R"({"messages":[{"role":"user","content":[
      {"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"no such file"},
      {"type":"tool_result","tool_use_id":"t2","is_error":true,"content":[{"type":"text","text":"denied"}]},
      {"type":"tool_result","tool_use_id":"t3","is_error":true},
      {"type":"tool_result","tool_use_id":"t4","is_error":false,"content":"fine"}]}]})");
  std::vector<std::string> told;
  for (const ChatMessage& each : request.turn.messages) told.push_back(text_of(each));
  CHECK(told == std::vector<std::string>{"error: no such file", "error: denied", "error: ", "fine"});
}

TEST_CASE("a thread is refused in the words at which the SDKs send the whole conversation") {
  const auto refused = [](const std::string& fields) {
    try {
      anthropic_with(fields);
    } catch (const TurnError& error) {
      return Json::parse(anthropic_error_reply(error, "req_1").body)["error"];
    }
    return Json();
  };
  for (const char* const type : {"create", "continue"}) {
    const Json error = refused(R"({"thread":{"type":")" + std::string(type) + R"("}})");
    CHECK(error["type"] == "invalid_request_error");
    CHECK(error["details"] == Json{{"error_code", "thread_unsupported_request"}, {"unsupported", {"thread"}}});
  }
  CHECK(refused(R"({"container":"c"})")["details"].is_null());
}

TEST_CASE("errors have Anthropic's form and status") {
  const auto reply = [](const TurnError& error) { return anthropic_error_reply(error, "req_1"); };
  CHECK(Json::parse(reply(TurnError::unknown_model("x")).body)["error"]["type"] == "not_found_error");
  CHECK(Json::parse(reply(TurnError::unknown_model("x")).body)["request_id"] == "req_1");
  CHECK_THAT(reply(TurnError::context_exceeded(9, 8)).body, test::has_text("prompt is too long"));
  CHECK(reply(TurnError::context_exceeded(9, 8)).status == 400);
  const ErrorReply full = reply(TurnError::try_later(ErrorKind::kQueueFull, "full", 3));
  CHECK(full.status == 529);
  CHECK(full.retry_after == "3");
  CHECK_THAT(full.body, test::has_text("overloaded_error"));
  CHECK(reply(TurnError(ErrorKind::kUnauthorized, "x")).status == 401);
  CHECK(reply(TurnError(ErrorKind::kUpstream, "x")).status == 502);
  AnthropicStream stream(kAnthropicFacts);
  const Json late = anthropic_events(stream.error(TurnError(ErrorKind::kRuntimeFailed, "x")))[0].second;
  CHECK(late["error"]["type"] == "api_error");
  CHECK(late["request_id"] == "req_9");
}
