#include "chat/dialects/ollama/ollama_reply.hpp"
#include "chat/dialects/ollama/ollama_request.hpp"

#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

OllamaRequest ollama_chat(const std::string& text) { return read_ollama_chat(Json::parse(text)); }
OllamaRequest ollama_generate(const std::string& text) { return read_ollama_generate(Json::parse(text)); }

KeepAlive keep_alive(const std::string& value) {
  const Json json = Json::parse(value);
  return read_keep_alive(JsonReader(json, "keep_alive"));
}

const ReplyFacts kOllamaFacts{.id = "", .model = "qwen:latest", .created_iso = "2026-11-23T00:00:00.000Z"};

AnswerEnd ollama_end(Finish finish) {
  return {.finish = finish,
          .usage = {.prompt = 10, .cached = 4, .generated = 5},
          .timings = {.load_ms = 1.0, .prefill_ms = 2.5, .generate_ms = 50.0, .total_ms = 53.5}};
}

}  // namespace

TEST_CASE("an Ollama chat request is a turn that streams") {
  const OllamaRequest request = ollama_chat(R"({"model":"m","messages":[{"role":"system","content":"S"},
      {"role":"user","content":"Q","images":["AAAA"]},
      {"role":"assistant","content":"","thinking":"Hm","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},
      {"role":"tool","content":"r","tool_name":"f"}],"tools":[{"type":"function","function":{"name":"f"}}],
      "think":false,"format":"json","keep_alive":"5m","options":{"num_ctx":8192,"num_predict":9,"temperature":0.5,
      "stop":["x"],"seed":1,"num_gpu":2}})");
  CHECK(request.stream);
  CHECK(request.wish == OllamaWish::kAnswer);
  const Turn& turn = request.turn;
  REQUIRE(turn.messages.size() == 4);
  CHECK(has_image(turn.messages[1]));
  CHECK(turn.messages[2].calls == std::vector<ToolCall>{{"", "f", R"({"a":1})"}});
  CHECK(turn.messages[2].thinking == "Hm");
  CHECK(turn.messages[3].tool_name == "f");
  CHECK(turn.tools.size() == 1);
  CHECK(turn.thinking == Thinking::kOff);
  CHECK(turn.format.kind == OutputKind::kJsonObject);
  CHECK(turn.keep_alive == KeepAlive{false, 300});
  CHECK(turn.context == 8192);
  CHECK(turn.max_tokens == 9);
  CHECK(turn.sampling.temperature == 0.5);
  CHECK(turn.stop == std::vector<std::string>{"x"});
  CHECK(request.ignored == std::vector<std::string>{"options.seed", "options.num_gpu"});
}

TEST_CASE("a request with nothing to answer loads or unloads") {
  CHECK(ollama_chat(R"({"model":"m"})").wish == OllamaWish::kLoad);
  CHECK(ollama_chat(R"({"model":"m","messages":[],"keep_alive":-1})").wish == OllamaWish::kLoad);
  CHECK(ollama_chat(R"({"model":"m","messages":[],"keep_alive":0})").wish == OllamaWish::kUnload);
  CHECK(ollama_generate(R"({"model":"m"})").wish == OllamaWish::kLoad);
  CHECK(ollama_generate(R"({"model":"m","prompt":"","keep_alive":"0s"})").wish == OllamaWish::kUnload);
  CHECK(ollama_generate(R"({"model":"m","prompt":"x","options":{"num_predict":0}})").wish == OllamaWish::kLoad);
  CHECK(ollama_generate(R"({"model":"m","prompt":"x","options":{"num_predict":-2}})").turn.max_tokens == std::nullopt);
  CHECK(ollama_generate(R"({"model":"m","prompt":"x","keep_alive":0,"options":{"num_predict":0}})").wish ==
        OllamaWish::kUnload);
  CHECK(ollama_chat(R"({"messages":[{"role":"user","content":"x"}],"keep_alive":0})").wish == OllamaWish::kAnswer);
}

TEST_CASE("a generate request is a conversation, or a prompt as it is") {
  const Turn turn =
      ollama_generate(R"({"model":"m","prompt":"P","system":"S","format":{"type":"object"},"think":"high"})").turn;
  CHECK(turn.messages == std::vector{text_message(Role::kSystem, "S"), text_message(Role::kUser, "P")});
  CHECK(turn.format == OutputFormat{OutputKind::kJsonSchema, Json{{"type", "object"}}});
  CHECK(turn.thinking == Thinking::kOn);
  const Turn raw = ollama_generate(R"({"prompt":"P","raw":true,"system":"S"})").turn;
  CHECK(raw.raw_prompt == "P");
  CHECK(raw.messages.empty());
  CHECK(ollama_generate(R"({"prompt":"P","raw":true,"system":"S"})").ignored == std::vector<std::string>{"system"});
  CHECK_THROWS_WITH(ollama_generate(R"({"prompt":"P","suffix":"x"})"), "suffix: no model here fills gaps");
}

TEST_CASE("keep_alive has many forms") {
  CHECK(keep_alive("300") == KeepAlive{false, 300});
  CHECK(keep_alive("0") == KeepAlive{false, 0});
  CHECK(keep_alive("-1").forever);
  CHECK(keep_alive(R"("-1")").forever);
  CHECK(keep_alive(R"("-1m")").forever);
  CHECK(keep_alive(R"("300")") == KeepAlive{false, 300});
  CHECK(keep_alive(R"("1h30m")") == KeepAlive{false, 5400});
  CHECK(keep_alive(R"("1.5s")") == KeepAlive{false, 1.5});
  CHECK(keep_alive(R"("250ms")") == KeepAlive{false, 0.25});
  for (const auto* wrong :
       {R"("")", R"("m")", R"("5x")", R"("5m3")", R"("1.2.3s")", R"("99999999999h")", R"(".")", "1e300", "true"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(keep_alive(wrong), InvalidParams);
  }
}

TEST_CASE("Ollama's temperature has no upper limit, and its top_k of 0 is every token") {
  const Turn turn = ollama_chat(R"({"options":{"temperature":3,"top_k":0}})").turn;
  CHECK(turn.sampling.temperature == 3.0);
  CHECK(turn.sampling.top_k == 1'000'000);
}

TEST_CASE("wrong Ollama options are refused with their place") {
  CHECK_THROWS_WITH(ollama_chat(R"({"options":{"temperature":"x"}})"),
                    "options.temperature: expected number, found string");
  CHECK_THROWS_WITH(ollama_chat(R"({"options":{"num_predict":-3}})"),
                    "options.num_predict: expected integer from -2 to 2147483647, found -3");
  CHECK_THROWS_WITH(ollama_chat(R"({"format":"xml"})"), "format: expected \"json\" or a JSON Schema, found \"xml\"");
  CHECK_THROWS_WITH(ollama_chat(R"({"messages":[{"role":"robot"}]})"),
                    Catch::Matchers::StartsWith("messages[0].role: expected"));
  CHECK_THROWS_WITH(ollama_chat(R"({"think":"loud"})"), Catch::Matchers::StartsWith("think: expected"));
}

TEST_CASE("an Ollama answer in one object") {
  const Answer answer{
      .thinking = "Hm", .text = "Hi", .calls = {{"c1", "f", R"({"a":1})"}}, .end = ollama_end(Finish::kStop)};
  CHECK(Json::parse(ollama_reply(OllamaSurface::kChat, kOllamaFacts, answer)) == Json::parse(R"({"model":"qwen:latest",
      "created_at":"2026-11-23T00:00:00.000Z","message":{"role":"assistant","content":"Hi","thinking":"Hm",
      "tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},"done":true,"done_reason":"stop",
      "total_duration":53500000,"load_duration":1000000,"prompt_eval_count":10,"prompt_eval_duration":2500000,
      "eval_count":5,"eval_duration":50000000})"));
  const Json generated = Json::parse(
      ollama_reply(OllamaSurface::kGenerate, kOllamaFacts, {.text = "Hi", .end = {.finish = Finish::kLength}}));
  CHECK(generated == Json::parse(R"({"model":"qwen:latest","created_at":"2026-11-23T00:00:00.000Z","response":"Hi",
      "done":true,"done_reason":"length"})"));
}

TEST_CASE("an Ollama stream is lines, the last of which has the figures") {
  OllamaStream stream(OllamaSurface::kChat, kOllamaFacts);
  CHECK(stream.content_type() == "application/x-ndjson");
  CHECK(stream.heartbeat() ==
        "{\"model\":\"qwen:latest\",\"created_at\":\"2026-11-23T00:00:00.000Z\",\"message\":{\"role\":\"assistant\","
        "\"content\":\"\"},\"done\":false}\n");
  const std::string line = stream.event(TextDelta{"é\n"}, 0);
  CHECK(line ==
        "{\"model\":\"qwen:latest\",\"created_at\":\"2026-11-23T00:00:00.000Z\",\"message\":{\"role\":\"assistant\","
        "\"content\":\"é\\n\"},\"done\":false}\n");
  CHECK(Json::parse(stream.event(ThinkingDelta{"Hm"}, 0))["message"] ==
        Json::parse(R"({"role":"assistant","content":"","thinking":"Hm"})"));
  CHECK(Json::parse(stream.event(ToolCall{"c", "f", "{}"}, 0))["message"]["tool_calls"][0]["function"]["arguments"] ==
        Json::object());
  const Json last = Json::parse(stream.end(ollama_end(Finish::kToolCalls), 0));
  CHECK(last["done"] == true);
  CHECK(last["done_reason"] == "stop");
  CHECK(last["message"]["content"] == "");
  CHECK(last["eval_count"] == 5);
  CHECK_FALSE(last.contains("rkllm"));
  CHECK(stream.finish({}).empty());
  stream.begun({.ignored = {"options.num_ctx"}});
  CHECK(Json::parse(stream.end(ollama_end(Finish::kStop), 0))["rkllm"] == Json{{"ignored", {"options.num_ctx"}}});
  OllamaStream generate(OllamaSurface::kGenerate, kOllamaFacts);
  CHECK(generate.heartbeat() ==
        "{\"model\":\"qwen:latest\",\"created_at\":\"2026-11-23T00:00:00.000Z\",\"response\":\"\",\"done\":false}\n");
  CHECK(Json::parse(generate.event(ThinkingDelta{"Hm"}, 0))["thinking"] == "Hm");
  CHECK(Json::parse(generate.event(TextDelta{"a"}, 0))["response"] == "a");
}

TEST_CASE("loading, unloading and errors in Ollama's form") {
  CHECK(Json::parse(ollama_load_reply(OllamaSurface::kChat, kOllamaFacts, OllamaWish::kUnload)) ==
        Json::parse(R"({"model":"qwen:latest",
      "created_at":"2026-11-23T00:00:00.000Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"unload"})"));
  CHECK(Json::parse(ollama_load_reply(OllamaSurface::kGenerate, kOllamaFacts, OllamaWish::kLoad))["done_reason"] ==
        "load");
  const ErrorReply reply = ollama_error_reply(TurnError::unknown_model("x"));
  CHECK(reply.status == 404);
  CHECK_THAT(Json::parse(reply.body)["error"].get<std::string>(), test::has_text("'x' not found"));
  CHECK(OllamaStream(OllamaSurface::kChat, kOllamaFacts).error(TurnError(ErrorKind::kInternal, "x")) ==
        "{\"error\":\"x\"}\n");
}
