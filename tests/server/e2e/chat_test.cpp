// Chat clients over HTTP: the real program, real sockets, and a simulated model that says what the test tells it to.
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"
#include "support/raw_socket.hpp"
#include "support/rpc_client.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace rkllm_mcp::test {
namespace {

constexpr const char* kModel = "qwen3-small";

LiveServer::Options chatting(std::vector<std::string> more = {}, const std::string& file = "fast") {
  const Json models{
      {kModel, {{"param", {{"model_path", shipped_model(file)}, {"max_context_len", 4096}}}, {"template", "qwen3"}}}};
  LiveServer::Options options;
  options.set = {"models=" + models.dump()};
  options.set.insert(options.set.end(), more.begin(), more.end());
  return options;
}

// What makes the simulated model answer with exactly this text.
std::string saying(const std::string& text) {
  std::string line = "@say=" + Json(text).dump();
  for (std::size_t at = line.find('<'); at != std::string::npos; at = line.find('<')) line.replace(at, 1, "\\u003c");
  return line;
}

Json user(const std::string& text) { return {{"role", "user"}, {"content", text}}; }

// One message, or an array of them.
Json asking(const Json& messages, const Json& more = Json::object()) {
  Json body{
      {"model", kModel}, {"messages", messages.is_array() ? messages : Json::array({messages})}, {"max_tokens", 200}};
  body.update(more);
  return body;
}

// The answer runs: those of more than one token, which counting and warming up never are.
std::vector<RecordedRun> answers_of(const LiveServer& server) {
  std::vector<RecordedRun> runs = server.recorded_runs();
  std::erase_if(runs, [](const RecordedRun& run) { return run.tokens < 2; });
  return runs;
}

// Waits for as many runs, warm-ups included.
std::vector<RecordedRun> await_runs(const LiveServer& server, std::size_t count) {
  std::vector<RecordedRun> runs;
  eventually([&] {
    runs = server.recorded_runs();
    return runs.size() >= count;
  });
  return runs;
}

std::vector<Json> events_of(HttpClient& client, const std::string& path, const Json& body, bool* done = nullptr) {
  std::vector<Json> events;
  client.post_for_events(path, body.dump(), [&](std::string_view data) {
    if (data == "[DONE]") {
      if (done != nullptr) *done = true;
      return true;
    }
    events.push_back(Json::parse(data));
    return true;
  });
  return events;
}

}  // namespace

TEST_CASE("an OpenAI client gets an answer, its usage, and is told which fields were ignored") {
  LiveServer server(chatting());
  HttpClient client(server.endpoint(Transport::kHttp));
  const HttpAnswer answer =
      client.post("/v1/chat/completions", asking(user(saying("Hello there.")), {{"seed", 1}}).dump());
  INFO(answer.body);
  REQUIRE(answer.status == 200);
  const Json body = answer.json();
  CHECK(body["object"] == "chat.completion");
  CHECK(body["choices"][0]["message"]["content"] == "Hello there.");
  CHECK(body["choices"][0]["finish_reason"] == "stop");
  const RecordedRun run = answers_of(server).at(0);
  CHECK(body["usage"]["completion_tokens"] == run.tokens);
  CHECK(body["usage"]["prompt_tokens"] == run.prefilled + run.reused);
  CHECK(answer.headers.at("x-rkllm-ignored") == "seed");
  CHECK(answer.headers.at("x-rkllm-queue-position") == "0");
  HttpClient talking(server.endpoint(Transport::kHttp));
  talking.carry_header("X-OpenWebUI-Chat-Id", "one");
  CHECK(talking.post("/v1/chat/completions", asking(user("Hi"), Json::object()).dump()).headers.at("x-rkllm-ignored") ==
        "X-OpenWebUI-Chat-Id");
  // What clients make of addresses with and without /v1.
  CHECK(client.get("/v1/v1/models").json()["data"][0]["id"] == kModel);
  CHECK(client.get("/v1//models").status == 200);
}

TEST_CASE("an OpenAI stream has one id, the role first, the usage last, and [DONE]") {
  LiveServer server(chatting());
  HttpClient client(server.endpoint(Transport::kHttp));
  bool done = false;
  const auto events = events_of(client, "/v1/chat/completions",
                                asking(user(saying("<think>Hm.</think>\n\nHello.")),
                                       {{"stream", true}, {"stream_options", {{"include_usage", true}}}}),
                                &done);
  REQUIRE(events.size() >= 4);
  CHECK(done);
  std::string text;
  std::string thinking;
  for (const Json& event : events) {
    CHECK(event["id"] == events[0]["id"]);
    if (event["choices"].empty()) continue;
    const Json& delta = event["choices"][0]["delta"];
    text += delta.contains("content") && delta["content"].is_string() ? delta["content"].get<std::string>() : "";
    thinking += delta.value("reasoning_content", "");
  }
  CHECK(text == "Hello.");
  CHECK(thinking.find("Hm.") != std::string::npos);
  CHECK(events[0]["choices"][0]["delta"]["role"] == "assistant");
  CHECK(events.back()["choices"].empty());
  CHECK(events.back()["usage"]["completion_tokens"] == answers_of(server).at(0).tokens);
}

TEST_CASE("a tool call comes out of the stream as a call, whatever pieces its marks come in") {
  LiveServer server(chatting());
  HttpClient client(server.endpoint(Transport::kHttp));
  const Json tools = Json::parse(
      R"([{"type":"function","function":{"name":"get_time","parameters":{"type":"object","properties":{}}}}])");
  const std::string script =
      "@bytes " + saying("<tool_call>\n{\"name\": \"get_time\", \"arguments\": {\"zone\": \"UTC\"}}\n</tool_call>");
  const Json body =
      client
          .post("/v1/chat/completions",
                asking(user(script), {{"tools", tools}, {"chat_template_kwargs", {{"enable_thinking", false}}}}).dump())
          .json();
  INFO(body.dump());
  const Json& choice = body["choices"][0];
  CHECK(choice["finish_reason"] == "tool_calls");
  CHECK(choice["message"]["tool_calls"][0]["function"]["name"] == "get_time");
  CHECK(Json::parse(choice["message"]["tool_calls"][0]["function"]["arguments"].get<std::string>()) ==
        Json{{"zone", "UTC"}});
}

TEST_CASE("after a warm-up the next turn prefills only the new text, and an edited history is computed anew") {
  LiveServer server(chatting());
  HttpClient client(server.endpoint(Transport::kHttp));
  const Json off{{"chat_template_kwargs", {{"enable_thinking", false}}}};
  const Json first = Json::array({user(saying("Hello."))});
  REQUIRE(client.post("/v1/chat/completions", asking(first, off).dump()).status == 200);
  const auto warmed = await_runs(server, 2);
  REQUIRE(warmed.size() == 2);
  CHECK(warmed[1].tokens == 1);

  Json second = first;
  second.push_back({{"role", "assistant"}, {"content", "Hello."}});
  second.push_back(user(saying("Fine.")));
  REQUIRE(client.post("/v1/chat/completions", asking(second, off).dump()).json()["choices"][0]["message"]["content"] ==
          "Fine.");
  const RecordedRun next = server.recorded_runs().at(2);
  REQUIRE(next.prompt.starts_with(warmed[1].prompt));
  const std::string fresh = next.prompt.substr(warmed[1].prompt.size());
  CHECK(next.reused + 1 >= warmed[1].prefilled + warmed[1].reused);
  CHECK(next.prefilled <= fresh.size());

  await_runs(server, 4);
  Json edited = second;
  edited[0] = user("Something else altogether");
  REQUIRE(client.post("/v1/chat/completions", asking(edited, off).dump()).status == 200);
  const RecordedRun anew = await_runs(server, 5).at(4);
  CHECK(anew.prompt.find("Something else altogether") != std::string::npos);
  CHECK(anew.prompt.find("Hello.\"") == std::string::npos);  // nothing of the first script is left
  CHECK(anew.reused < 10);
}

TEST_CASE("where no prompt cache can be saved, for want of room, a warm-up is worth as much") {
  for (const bool is_full_before : {false, true}) {
    INFO("full before: " << is_full_before);
    const TemporaryDirectory directory;
    if (is_full_before) write_file(directory / "other", "more than one byte");
    LiveServer server(chatting({"runtime.cache_dir=" + directory.path(), "runtime.cache_bytes=1"}));
    HttpClient client(server.endpoint(Transport::kHttp));
    const Json off{{"chat_template_kwargs", {{"enable_thinking", false}}}};
    Json messages = Json::array({user(saying("Hello."))});
    REQUIRE(client.post("/v1/chat/completions", asking(messages, off).dump()).status == 200);
    const auto warmed = await_runs(server, 2);
    REQUIRE(warmed.size() == 2);
    messages.push_back({{"role", "assistant"}, {"content", "Hello."}});
    messages.push_back(user(saying("Fine.")));
    const Json answer = client.post("/v1/chat/completions", asking(messages, off).dump()).json();
    CHECK(answer["usage"]["prompt_tokens_details"]["cached_tokens"].get<int>() > 0);
    const RecordedRun next = server.recorded_runs().at(2);
    CHECK(next.reused + 1 >= warmed[1].prefilled + warmed[1].reused);
  }
}

TEST_CASE("the time to the first token is what the client of a turn has waited, whichever of its runs took it") {
  LiveServer server(chatting({}, "rk3588-qwen3-0.6b"));
  HttpClient client(server.endpoint(Transport::kHttp));
  Json body = asking(user("@n=3 " + std::string(1200, 'x')), {{"chat_template_kwargs", {{"enable_thinking", false}}}});
  body.erase("max_tokens");  // so that the prompt's tokens are counted, by a run of its own
  const auto begun = std::chrono::steady_clock::now();
  REQUIRE(client.post("/v1/chat/completions", body.dump()).status == 200);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begun;
  const std::vector<RecordedRun> runs = await_runs(server, 3);  // the last one is for the next turn
  REQUIRE(runs.size() == 3);
  REQUIRE(runs[0].tokens == 1);
  const double prefill_ms = static_cast<double>(runs[0].prefilled) * 1000.0 / 643.2;
  const auto is_true = [&](double shown_ms) { return shown_ms >= prefill_ms * 0.9 && shown_ms <= taken.count(); };
  const double in_health = client.get("/health").json()["models"][0]["time_to_first_token_ms"].get<double>();
  INFO(in_health << " ms are shown, the prefill took " << prefill_ms);
  CHECK(is_true(in_health));
  const std::string metrics = client.get("/metrics").body;
  const std::string gauge = "\nrkllm_mcp_model_time_to_first_token_seconds{";
  const auto at = metrics.find(gauge);
  REQUIRE(at != std::string::npos);
  CHECK(is_true(std::stod(metrics.substr(metrics.find("} ", at) + 2)) * 1000));
}

TEST_CASE("Ollama's clients chat, list and load") {
  LiveServer server(chatting());
  HttpClient client(server.endpoint(Transport::kHttp));
  CHECK(client.get("/").body == "Ollama is running");
  CHECK(client.get("/api/tags").json()["models"][0]["name"] == kModel);
  Json body = asking(user(saying("Hi.")), {{"think", false}});
  body.erase("max_tokens");
  body["options"] = {{"num_predict", 100}, {"num_ctx", 8192}};
  const HttpAnswer streamed = client.post("/api/chat", body.dump());
  INFO(streamed.body);
  REQUIRE(streamed.status == 200);
  CHECK(streamed.headers.at("Content-Type") == "application/x-ndjson");
  // What this client has waited is counted once, whatever runs its turn took.
  const std::string metrics = client.get("/metrics").body;
  CHECK(metrics.find("\nrkllm_mcp_turn_time_to_first_token_seconds_count 1\n") != std::string::npos);
  CHECK(streamed.headers.at("x-rkllm-ignored") == "options.num_ctx");
  std::string text;
  Json last;
  for (std::size_t begin = 0; begin < streamed.body.size();) {
    const std::size_t end = streamed.body.find('\n', begin);
    last = Json::parse(streamed.body.substr(begin, end - begin));
    text += last["message"]["content"].get<std::string>();
    begin = end + 1;
  }
  CHECK(text == "Hi.");
  CHECK(last["done"] == true);
  CHECK(last["done_reason"] == "stop");
  CHECK(last["eval_count"] == answers_of(server).at(0).tokens);
  CHECK(client.get("/api/ps").json()["models"][0]["name"] == kModel);
  CHECK(client.post("/api/show", Json{{"model", kModel}}.dump()).json()["capabilities"].size() == 3);
  const Json loaded = client.post("/api/chat", Json{{"model", kModel}, {"messages", Json::array()}}.dump()).json();
  CHECK(loaded["done_reason"] == "load");
}

TEST_CASE("Anthropic's and Responses' streams begin and end as their clients want") {
  LiveServer server(chatting());
  HttpClient client(server.endpoint(Transport::kHttp));
  const auto messages =
      events_of(client, "/v1/messages", asking(user(saying("Hi.")), {{"stream", true}, {"max_tokens", 50}}));
  REQUIRE(messages.size() > 4);
  CHECK(messages.front()["type"] == "message_start");
  CHECK(messages.back()["type"] == "message_stop");
  const auto events =
      events_of(client, "/v1/responses",
                {{"model", kModel}, {"input", saying("Hi.")}, {"stream", true}, {"max_output_tokens", 50}});
  REQUIRE(events.size() > 4);
  CHECK(events.front()["type"] == "response.created");
  CHECK(events.back()["type"] == "response.completed");
  for (std::size_t i = 0; i < events.size(); ++i) CHECK(events[i]["sequence_number"] == i);
  const Json gone =
      client.post("/v1/responses", Json{{"model", kModel}, {"input", "x"}, {"previous_response_id", "resp_x"}}.dump())
          .json();
  CHECK(gone["error"]["code"] == "not_found");
}

TEST_CASE("a response that was to be stored is gone on from, by whoever has made it, and from any of them") {
  LiveServer server(chatting());
  HttpClient client(server.endpoint(Transport::kHttp));
  const auto respond = [&](Json more) {
    more["model"] = kModel;
    more["max_output_tokens"] = 50;
    return client.post("/v1/responses", more.dump());
  };
  const auto prompt_of_last = [&] { return answers_of(server).back().prompt; };
  const Json first = respond({{"input", saying("One.")}, {"store", true}, {"instructions", "Be short."}}).json();
  INFO(first.dump());
  CHECK(first["store"] == true);
  const std::string id = first["id"];
  Json second = respond({{"input", saying("Two.")}, {"store", true}, {"previous_response_id", id}}).json();
  CHECK(second["previous_response_id"] == id);
  CHECK_THAT(prompt_of_last(), has_text("One.") && has_text("Two.") && !has_text("Be short."));
  // Streamed, and from a response before the last one: that is another conversation.
  const auto events = events_of(client, "/v1/responses",
                                {{"model", kModel},
                                 {"input", saying("Three.")},
                                 {"stream", true},
                                 {"store", true},
                                 {"previous_response_id", id},
                                 {"max_output_tokens", 50}});
  REQUIRE(events.size() > 4);
  CHECK(events.back()["type"] == "response.completed");
  CHECK_THAT(prompt_of_last(), has_text("One.") && has_text("Three.") && !has_text("Two."));
  const Json fourth =
      respond({{"input", saying("Four.")}, {"previous_response_id", events.back()["response"]["id"]}}).json();
  CHECK_THAT(prompt_of_last(), has_text("One.") && has_text("Three.") && has_text("Four."));
  // Nobody has asked to keep that one.
  CHECK(fourth["store"] == false);
  const auto gone = respond({{"input", "x"}, {"previous_response_id", fourth["id"]}});
  CHECK(gone.status == 404);
  CHECK_THAT(gone.body, has_text("is not kept here"));
  const auto empty = respond({{"input", "x"}, {"previous_response_id", ""}});
  CHECK_THAT(empty.body, has_text("is not kept here"));
  const auto wrong = respond({{"input", Json::array({{{"type", "nonsense"}}})}, {"previous_response_id", id}});
  CHECK(wrong.json()["error"]["param"] == "input[0].type");
  // They are no conversations of anybody.
  const Json listed =
      client.post("/jsonrpc", R"({"jsonrpc":"2.0","id":1,"method":"memory-server/memory/list"})").json();
  INFO(listed.dump());
  CHECK(listed.at("result").at("conversations").empty());
}

TEST_CASE("a stored response is kept on disk, and is nobody else's") {
  const TemporaryDirectory directory;
  const std::string tokens = directory / "tokens";
  write_file(tokens, "alice " + std::string(32, 'a') + " call\nbob " + std::string(32, 'b') + " call\n");
  REQUIRE(::chmod(tokens.c_str(), 0600) == 0);
  const std::vector<std::string> settings{"auth.tokens=" + tokens, "memory.database=" + directory / "memory.db"};
  const auto body = [](const Json& more) {
    Json all{{"model", kModel}, {"input", saying("Hi.")}, {"store", true}, {"max_output_tokens", 50}};
    all.update(more);
    return all.dump();
  };
  const auto respond = [&body](LiveServer& server, char letter, const Json& more) {
    HttpClient client(server.endpoint(Transport::kHttp));
    client.carry_header("Authorization", "Bearer " + std::string(32, letter));
    return client.post("/v1/responses", body(more));
  };
  std::string id;
  {
    LiveServer server(chatting(settings));
    id = respond(server, 'a', Json::object()).json().at("id");
  }
  LiveServer server(chatting(settings));
  CHECK(respond(server, 'b', {{"previous_response_id", id}}).status == 404);
  CHECK(respond(server, 'a', {{"previous_response_id", id}}).status == 200);
}

TEST_CASE("where no responses are kept, store is named as ignored") {
  LiveServer server(chatting({"chat.responses_days=0"}));
  HttpClient client(server.endpoint(Transport::kHttp));
  const auto made =
      client.post("/v1/responses", Json{{"model", kModel}, {"input", saying("Hi.")}, {"store", true}}.dump());
  CHECK(made.status == 200);
  CHECK(made.json()["store"] == false);
  CHECK(made.headers.find("x-rkllm-ignored")->second == "store");
  const auto gone = client.post(
      "/v1/responses", Json{{"model", kModel}, {"input", "x"}, {"previous_response_id", made.json()["id"]}}.dump());
  CHECK(gone.status == 404);
}

TEST_CASE("errors that are known at once have a status, in the words of each dialect") {
  LiveServer server(chatting());
  HttpClient client(server.endpoint(Transport::kHttp));
  const Json unknown = asking(user("x"), {{"model", "gpt-9"}, {"stream", true}});
  CHECK(client.post("/v1/chat/completions", unknown.dump()).status == 404);
  CHECK(client.post("/v1/chat/completions", unknown.dump()).json()["error"]["code"] == "model_not_found");
  CHECK(client.post("/api/chat", unknown.dump()).json()["error"].is_string());
  CHECK(client.post("/v1/messages", unknown.dump()).json()["error"]["type"] == "not_found_error");
  const HttpAnswer wrong = client.post("/v1/chat/completions", asking(user("x"), {{"temperature", "hot"}}).dump());
  CHECK(wrong.status == 400);
  CHECK(wrong.json()["error"]["param"] == "temperature");
  const std::string long_text(40'000, 'x');
  const HttpAnswer context = client.post("/v1/chat/completions", asking(user(long_text + " y")).dump());
  INFO(context.body);
  CHECK(context.status == 400);
  CHECK(context.json()["error"]["code"] == "context_length_exceeded");
  CHECK(client.post("/v1/messages", asking(user(long_text)).dump()).body.find("prompt is too long") !=
        std::string::npos);
  const std::string longer = asking(user(std::string((std::size_t{1} << 20U) + 1, 'x'))).dump();
  CHECK(client.post("/apply-template", longer).json()["error"]["code"] == "context_length_exceeded");
  CHECK(client.post("/v1/messages/count_tokens", longer).json() == Json{{"input_tokens", 262'145}, {"estimate", true}});
  CHECK(client.post("/tokenize", R"({"content":"x"})").status == 400);
  CHECK(client.post("/api/create", "{}").status == 400);
  CHECK(client.post("/v1/chat/completions", "{").status == 400);
  CHECK(client.get("/v1/health").json() == Json{{"status", "ok"}});
}

TEST_CASE("embeddings come from the last hidden layer, one for each input, of length 1") {
  LiveServer server(chatting());
  HttpClient client(server.endpoint(Transport::kHttp));
  const HttpAnswer answer =
      client.post("/v1/embeddings", Json{{"model", kModel}, {"input", {"a cat", "a cat", "the law"}}}.dump());
  INFO(answer.body);
  REQUIRE(answer.status == 200);
  const Json data = answer.json()["data"];
  REQUIRE(data.size() == 3);
  double squares = 0;
  for (const Json& value : data[0]["embedding"]) squares += value.get<double>() * value.get<double>();
  CHECK(std::abs(squares - 1) < 1e-4);
  CHECK(data[0]["embedding"] == data[1]["embedding"]);
  CHECK(data[0]["embedding"] != data[2]["embedding"]);
  CHECK(client.post("/api/embed", Json{{"model", kModel}, {"input", "a cat"}}.dump()).json()["embeddings"].size() == 1);
}

TEST_CASE("a model that is loaded for several prompts at once answers no chat and gives no embeddings, and says why") {
  const Json models{{kModel,
                     {{"param", {{"model_path", shipped_model("fast")}, {"extend_param", {{"n_batch", 2}}}}},
                      {"template", "qwen3"}}}};
  LiveServer::Options options;
  options.set = {"models=" + models.dump()};
  LiveServer server(options);
  HttpClient client(server.endpoint(Transport::kHttp));
  for (const auto& [path, body] : std::vector<std::pair<std::string, Json>>{
           {"/v1/chat/completions", {{"model", kModel}, {"messages", Json::array({user("Hi")})}}},
           {"/v1/embeddings", {{"model", kModel}, {"input", "x"}}}}) {
    const HttpAnswer answer = client.post(path, body.dump());
    INFO(path << " " << answer.body);
    CHECK(answer.status == 400);
    CHECK_THAT(answer.body, has_text("2 prompts in each run") && has_text("extend_param"));
  }
}

TEST_CASE("what is cut of a text that is embedded is said, and OpenAI's clients get an error instead") {
  LiveServer server(chatting());
  HttpClient client(server.endpoint(Transport::kHttp));
  std::string too_long;
  for (int i = 0; i < 20'000; ++i) too_long += "word ";
  const Json body{{"model", kModel}, {"input", {"a cat", too_long}}};
  const HttpAnswer cut = client.post("/api/embed", body.dump());
  INFO(cut.body.substr(0, 300));
  REQUIRE(cut.status == 200);
  CHECK(cut.headers.at("x-rkllm-cut-inputs") == "1");
  CHECK(cut.json()["embeddings"].size() == 2);
  CHECK(cut.json()["prompt_eval_count"] > 3500);  // of the 4096 that it has room for
  const HttpAnswer older = client.post("/api/embeddings", Json{{"model", kModel}, {"prompt", too_long}}.dump());
  CHECK(older.headers.at("x-rkllm-cut-inputs") == "0");
  CHECK(client.post("/api/embeddings", Json{{"model", kModel}, {"prompt", "a"}}.dump())
            .headers.count("x-rkllm-cut-inputs") == 0);
  const HttpAnswer refused = client.post("/v1/embeddings", body.dump());
  CHECK(refused.status == 400);
  CHECK_THAT(refused.body, has_text("input[1]"));
}

TEST_CASE("embeddings of megabytes are written beside the loop, and are refused above limits.max_reply_bytes") {
  const std::vector<std::string> many(400, "some text");
  const Json body{{"model", kModel}, {"input", many}};
  {
    LiveServer server(chatting());
    HttpClient client(server.endpoint(Transport::kHttp));
    const HttpAnswer answer = client.post("/v1/embeddings", body.dump());
    REQUIRE(answer.status == 200);
    CHECK(answer.json()["data"].size() == many.size());
    CHECK(server.health()["status"] == "healthy");
  }
  LiveServer server(chatting({"limits.max_reply_bytes=65536"}));
  HttpClient client(server.endpoint(Transport::kHttp));
  const HttpAnswer refused = client.post("/v1/embeddings", body.dump());
  CHECK(refused.status == 400);
  CHECK_THAT(refused.body, has_text("limits.max_reply_bytes"));
  CHECK(server.recorded_runs().size() <= 1);  // which tells how long it would be
}

TEST_CASE("prompt caches go with a conversation that is deleted") {
  const TemporaryDirectory directory;
  LiveServer server(chatting({"runtime.cache_dir=" + directory.path(), "memory.database=:memory:"}));
  HttpClient client(server.endpoint(Transport::kHttp));
  const auto caches = [&client] { return client.get("/health").json()["chat"]["prompt_caches"]["files"]; };
  const auto call = [&client](const std::string& method, const Json& params) {
    return client
        .post("/jsonrpc",
              Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "memory-server/memory/" + method}, {"params", params}}
                  .dump())
        .json();
  };
  CHECK(call("add_message", {{"conversation_id", "c"}, {"role", "user"}, {"content", "x"}}).contains("result"));
  for (const char* const method : {"clear", "delete"}) {
    REQUIRE(client.post("/v1/chat/completions", asking(user(saying(method))).dump()).status == 200);
    CHECK(eventually([&] { return caches() == 1; }));
    CHECK(call(method, {{"conversation_id", "c"}}).contains("result"));
    CHECK(caches() == 0);
    CHECK(std::filesystem::is_empty(directory.path() + "/chat"));
  }
}

TEST_CASE("the prompt caches of a model's file are not those of the file that has taken its place") {
  const TemporaryDirectory directory;
  const std::string file = directory / "model.json";
  const std::string model = R"({"rkllm_simulated_model":1,"name":"SIMULATED"})";
  write_file(file, model);
  LiveServer::Options options;
  options.set = {"runtime.cache_dir=" + (directory / "caches"),
                 "models=" + Json{{kModel, {{"param", {{"model_path", file}}}, {"template", "qwen3"}}}}.dump()};
  LiveServer server(options);
  HttpClient client(server.endpoint(Transport::kHttp));
  Json talk = Json::array();
  const auto ask = [&](const std::string& text) {
    talk.push_back(user(saying(text)));
    const HttpAnswer answer = client.post("/v1/chat/completions", Json{{"model", kModel}, {"messages", talk}}.dump());
    REQUIRE(answer.status == 200);
    talk.push_back(answer.json()["choices"][0]["message"]);
  };
  const auto unload = [&] {
    // Behind the warm-up, which writes the cache.
    CHECK(client.post("/api/generate", Json{{"model", kModel}, {"keep_alive", 0}}.dump()).status == 200);
  };
  const auto reused_for = [&](const std::string& text) {
    for (const RecordedRun& run : server.recorded_runs()) {
      if (run.prompt.find(text) != std::string::npos) return run.reused;
    }
    throw std::runtime_error("no run has " + text);
  };
  ask("one");
  unload();
  CHECK(client.get("/health").json()["chat"]["prompt_caches"]["files"] == 1);
  ask("two");
  CHECK(reused_for("two") > 0);
  unload();
  write_file(directory / "other.json", model);
  std::filesystem::rename(directory / "other.json", file);
  ask("three");
  CHECK(reused_for("three") == 0);
  write_file(directory / "other.json", model);
  std::filesystem::rename(directory / "other.json", file);  // beside what is loaded
  ask("four");
  unload();
  ask("five");
  CHECK(reused_for("five") == 0);
  unload();
  ask("six");
  CHECK(reused_for("six") > 0);
}

TEST_CASE("a picture is 400 in each dialect, which says that there is no vision encoder") {
  LiveServer server(chatting());
  HttpClient client(server.endpoint(Transport::kHttp));
  constexpr const char* kPicture = "data:image/png;base64,AAAA";
  const auto message = [](Json content) { return Json::array({{{"role", "user"}, {"content", std::move(content)}}}); };
  const Json part{{"type", "image_url"}, {"image_url", {{"url", kPicture}}}};
  const Json source{{"type", "base64"}, {"media_type", "image/png"}, {"data", "AAAA"}};
  const Json block{{"type", "image"}, {"source", source}};
  const Json item{{"type", "input_image"}, {"image_url", kPicture}};
  Json of_ollama = message("What is it?");
  of_ollama[0]["images"] = {"AAAA"};
  const std::vector<std::pair<std::string, Json>> requests{
      {"/v1/chat/completions", {{"messages", message(Json::array({part}))}}},
      {"/v1/messages", {{"messages", message(Json::array({block}))}, {"max_tokens", 9}}},
      {"/v1/responses", {{"input", message(Json::array({item}))}}},
      {"/api/chat", {{"messages", of_ollama}}},
      {"/api/generate", {{"prompt", "What is it?"}, {"images", {"AAAA"}}}}};
  for (const auto& [path, request] : requests) {
    Json body = request;
    body["model"] = kModel;
    const HttpAnswer answer = client.post(path, body.dump());
    INFO(path << ": " << answer.body);
    CHECK(answer.status == 400);
    CHECK_THAT(answer.body, has_text("a picture needs a vision encoder, and this server has none"));
  }
}

TEST_CASE("every answer of the chat host says that it is simulated") {
  LiveServer server(chatting());
  HttpClient client(server.endpoint(Transport::kHttp));
  for (const char* const path : {"/v1/models", "/api/tags", "/api/ps"}) {
    INFO(path);
    CHECK(client.get(path).headers["x-rkllm-simulated"] == "true");
  }
  const std::string body = asking(user(saying("Hello."))).dump();
  CHECK(client.post("/v1/chat/completions", body).headers["x-rkllm-simulated"] == "true");
  CHECK(client.post("/api/chat", asking(user("x"), {{"stream", true}}).dump()).headers["x-rkllm-simulated"] == "true");
}

TEST_CASE("a client that goes stops its run, and the one behind it is served") {
  LiveServer server(chatting({}, "rk3588-1.5b"));  // at a board's speed
  HttpClient client(server.endpoint(Transport::kHttp));
  std::size_t events = 0;
  Json endless = asking(user("@n=100000000"), {{"stream", true}});
  endless.erase("max_tokens");
  client.post_for_events("/v1/chat/completions", endless.dump(), [&events](std::string_view) { return ++events < 5; });
  HttpClient other(server.endpoint(Transport::kHttp));
  const Json answer = other.post("/v1/chat/completions", asking(user(saying("Next."))).dump()).json();
  CHECK(answer["choices"][0]["message"]["content"] == "Next.");
  const auto runs = server.recorded_runs();
  CHECK(std::ranges::any_of(runs, [](const RecordedRun& run) { return run.aborted; }));
}

TEST_CASE("an answer that somebody else aborts ends with an error in every dialect, and not as if it were whole") {
  LiveServer probe;
  LiveServer server([&] {
    const Json preset{{"param", {{"model_path", probe.paced_model(20)}, {"max_context_len", 4096}}},
                      {"template", "qwen3"}};
    LiveServer::Options options;
    options.set = {"models=" + Json{{kModel, preset}}.dump()};
    return options;
  }());
  RpcClient other(server.connect(Transport::kTcp));
  const Json body = asking(user("@n=100000"), {{"stream", true}, {"max_tokens", 3000}});
  for (const std::string path : {"/v1/chat/completions", "/v1/messages", "/v1/responses"}) {
    CAPTURE(path);
    Json own = body;
    if (path == "/v1/responses") own["input"] = own["messages"];
    HttpClient client(server.endpoint(Transport::kHttp));
    std::size_t events = 0;
    Json last;
    client.post_for_events(path, own.dump(), [&](std::string_view data) {
      last = Json::parse(data);
      constexpr std::size_t kWithinTheAnswer = 8;
      if (++events == kWithinTheAnswer) other.result("rkllm_abort", {{"handle", kModel}});
      return true;
    });
    INFO(last.dump());
    const Json& error = path == "/v1/responses" ? last["response"]["error"] : last["error"];
    CHECK_THAT(error.value("message", ""), has_text("aborted by another call"));
  }
}

TEST_CASE("what is known only when the answer begins is told in the stream, where a heartbeat has sent the headers") {
  LiveServer probe;  // 40 tokens of a prompt in a second, so that a sign of life is due before any answer
  const std::string slow =
      probe.write_model("patience", {{"npu_cores", 1}, {"prefill_tokens_per_s", 40}, {"max_context_len", 512}});
  const auto settings = [&] {
    LiveServer::Options options;
    options.set = {"chat.heartbeat_s=1", "chat.warm_up_bytes=0"};
    Json models;
    for (const char* const name : {"one", "two", "three"}) {
      models[name] = {{"param", {{"model_path", slow}, {"max_context_len", 512}}}, {"template", "qwen3"}};
    }
    options.set.push_back("models=" + models.dump());
    return options;
  };
  LiveServer server(settings());
  // The prompt is too long, and what is left of it takes more than a second.
  const auto words = [](int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += "It takes its time. ";
    return text;
  };
  const Json long_ago = user(words(150));
  const std::string question = words(10) + "\n" + saying("Hi.");
  const Json said{{"role", "assistant"}, {"content", "Yes?"}};
  const Json messages = Json::array({long_ago, said, user(question)});
  const auto stream = [&](const std::string& path, const char* model, Json more) {
    HttpClient client(server.endpoint(Transport::kHttp));
    Json body = asking(messages, {{"stream", true}, {"model", model}, {"max_tokens", 400}});
    body.update(more);
    HttpAnswer answer = client.post(path, body.dump());
    INFO(answer.body);
    CHECK(answer.status == 200);
    CHECK(answer.headers.count("x-rkllm-dropped-messages") == 0);
    CHECK(answer.headers.count("x-rkllm-ignored") == 0);
    // The last line that has such a member: the ends of the dialects differ.
    const auto begin = answer.body.rfind("\"rkllm\":");
    REQUIRE(begin != std::string::npos);
    const auto line = answer.body.rfind('\n', begin) + 1;
    const auto json = answer.body.find('{', line);
    return Json::parse(answer.body.substr(json, answer.body.find('\n', begin) - json));
  };
  const Json dropped{{"dropped_messages", 2}};
  const Json chunk = stream("/v1/chat/completions", "one", {{"truncate", "oldest_turns"}});
  CHECK(chunk["rkllm"] == dropped);
  CHECK(chunk["choices"][0]["finish_reason"] == "stop");
  const Json event = stream("/v1/responses", "two", {{"input", messages}, {"truncation", "auto"}});
  CHECK(event["type"] == "response.completed");
  CHECK(event["response"]["rkllm"] == dropped);
  const Json line =
      stream("/api/chat", "three", {{"messages", Json::array({user(question)})}, {"options", {{"num_ctx", 8192}}}});
  CHECK(line["done"] == true);
  CHECK(line["rkllm"] == Json{{"ignored", {"options.num_ctx"}}});
}

TEST_CASE(
    "Anthropic's message begins with the prompt's tokens where they have been counted, and ends with them always") {
  LiveServer server(chatting());
  HttpClient client(server.endpoint(Transport::kHttp));
  for (const bool is_counted : {true, false}) {
    CAPTURE(is_counted);
    const auto events =
        events_of(client, "/v1/messages",
                  asking(user(saying("Hi.")), {{"stream", true}, {"max_tokens", is_counted ? 4080 : 50}}));
    const auto end = std::ranges::find_if(events, [](const Json& each) { return each["type"] == "message_delta"; });
    REQUIRE(end != events.end());
    const RecordedRun run = answers_of(server).back();
    const Json& first = events.front()["message"]["usage"];
    const Json& last = (*end)["usage"];
    const auto prompt = [](const Json& usage) {
      return usage["input_tokens"].get<std::size_t>() + usage.value("cache_read_input_tokens", std::size_t{0});
    };
    CHECK(prompt(last) == run.prefilled + run.reused);
    if (is_counted) {
      CHECK(first["input_tokens"] == last["input_tokens"]);
      CHECK(first["cache_read_input_tokens"] == last["cache_read_input_tokens"]);
    } else {
      CHECK(first["input_tokens"] == 0);
    }
  }
}

TEST_CASE("clients that talk to one model at once have their own answers, each in its dialect") {
  LiveServer server(chatting());
  constexpr int kClients = 6;
  constexpr int kTurns = 5;
  std::vector<std::thread> clients;
  std::vector<std::string> wrong(kClients);
  for (int number = 0; number < kClients; ++number) {
    clients.emplace_back([&server, &own = wrong.at(static_cast<std::size_t>(number)), number] {
      HttpClient client(server.endpoint(Transport::kHttp));
      for (int turn = 0; turn < kTurns; ++turn) {
        const std::string text = "client " + std::to_string(number) + " turn " + std::to_string(turn);
        const Json body = asking(user(saying(text)), {{"stream", false}, {"think", false}});
        const Json openai = client.post("/v1/chat/completions", body.dump()).json();
        if (openai["choices"][0]["message"]["content"] != text) own += openai.dump();
        const Json ollama = client.post("/api/chat", body.dump()).json();
        if (ollama["message"]["content"] != text) own += ollama.dump();
        const Json anthropic = client.post("/v1/messages", body.dump()).json();
        if (anthropic["content"].back()["text"] != text) own += anthropic.dump();
      }
    });
  }
  for (std::thread& client : clients) client.join();
  for (const std::string& text : wrong) CHECK(text.empty());
}

TEST_CASE("a queue that is full is told of at once, with the time after which a retry may help") {
  LiveServer server(chatting({"queue.max_per_handle=1"}, "rk3588-1.5b"));  // at a board's speed
  HttpClient client(server.endpoint(Transport::kHttp));
  Json endless = asking(user("@n=100000000"), {{"stream", true}});
  endless.erase("max_tokens");
  HttpAnswer next;
  std::thread waiting;
  HttpClient holding(server.endpoint(Transport::kHttp));
  holding.post_for_events("/v1/chat/completions", endless.dump(), [&](std::string_view) {
    waiting = std::thread([&] {
      HttpClient behind(server.endpoint(Transport::kHttp));
      next = behind.post("/v1/chat/completions", asking(user(saying("At last."))).dump());
    });
    CHECK(eventually([&] { return client.get("/health").json()["runtime"]["handles"][0]["queued"] == 1; }));
    const HttpAnswer full = client.post("/v1/chat/completions", asking(user("x")).dump());
    CHECK(full.status == 503);
    CHECK(full.headers.count("Retry-After") == 1);
    CHECK(full.json()["error"]["code"] == "queue_full");
    CHECK(client.post("/v1/messages", asking(user("x")).dump()).status == 529);
    CHECK(client.post("/api/chat", asking(user("x")).dump()).status == 503);
    // The model is there: who only wants that needs no place.
    const Json loaded = client.post("/api/chat", Json{{"model", kModel}, {"messages", Json::array()}}.dump()).json();
    CHECK(loaded["done_reason"] == "load");
    return false;
  });
  // The one that waited has its turn as soon as the first one's client has gone.
  REQUIRE(waiting.joinable());
  waiting.join();
  CHECK(next.status == 200);
  CHECK(next.headers.at("x-rkllm-queue-position") == "1");
  CHECK(next.json()["choices"][0]["message"]["content"] == "At last.");
}

TEST_CASE("a model is loaded by its first turn, is listed with what it does, and is unloaded by whoever may") {
  LiveServer server(chatting());
  HttpClient client(server.endpoint(Transport::kHttp));
  const auto state = [&client] { return client.get("/v1/models").json()["data"][0]["rkllm"]["state"]; };
  CHECK(state() == "on_disk");
  CHECK(client.get("/api/ps").json()["models"].empty());
  CHECK(client.post("/v1/chat/completions", asking(user(saying("Hi."))).dump()).status == 200);
  CHECK(state() == "loaded");
  const Json unloaded =
      client.post("/api/generate", Json{{"model", kModel}, {"prompt", ""}, {"keep_alive", 0}}.dump()).json();
  CHECK(unloaded["done_reason"] == "unload");
  CHECK(state() == "on_disk");
  CHECK(client.get("/v1/models/" + std::string(kModel)).status == 200);
  CHECK(client.get("/v1/models/nobody").status == 404);
  CHECK(client.get("/v1/nothing").status == 404);
}

TEST_CASE("a simulated model that says its template can be talked to for many turns, by its handle, too") {
  LiveServer server;
  RpcClient caller(server.connect(Transport::kTcp));
  const std::string talks = caller.init(shipped_model("rk3588-1.5b"));
  const std::string thinks = caller.init(shipped_model("rk3588-0.5b-think"));
  HttpClient client(server.endpoint(Transport::kHttp));
  const Json system{{"role", "system"}, {"content", "Be short"}};
  const Json said{{"role", "assistant"}, {"content", "Yes?"}};
  const Json messages = Json::array({system, user("Hello"), said, user(saying("<think>hm</think>Well."))});
  const auto answer = [&](const std::string& model) {
    const HttpAnswer answered = client.post("/v1/chat/completions", asking(messages, {{"model", model}}).dump());
    INFO(answered.body);
    REQUIRE(answered.status == 200);
    return answered.json()["choices"][0]["message"];
  };
  CHECK(answer(talks)["content"] == "<think>hm</think>Well.");  // nothing of ChatML's
  const Json thought = answer(thinks);
  CHECK(thought["reasoning_content"] == "hm");
  CHECK(thought["content"] == "Well.");
}

TEST_CASE("calls that special tokens mark come from a model that shows them, and its other tokens reach nobody") {
  const TemporaryDirectory directory;
  const std::string file = directory / "internlm2-small.json";
  write_file(file, Json{{"rkllm_simulated_model", 1},
                        {"name", "SIMULATED InternLM2"},
                        {"special_tokens", {"<|action_start|>", "<|plugin|>", "<|action_end|>"}}}
                       .dump());
  const Json param{{"model_path", file}, {"max_context_len", 4096}};
  Json hiding = param;
  hiding["skip_special_token"] = true;
  LiveServer::Options options;
  options.set = {"models=" + Json{{"shows", {{"param", param}}},
                                  {"hides", {{"param", hiding}}},
                                  {"kept", {{"param", param}, {"autoload", true}}}}
                                 .dump()};
  LiveServer server(options);
  HttpClient client(server.endpoint(Transport::kHttp));
  const auto answer = [&](const std::string& model, const std::string& said, const Json& more) {
    Json body = asking(user(saying(said)), more);
    body["model"] = model;
    return client.post("/v1/chat/completions", body.dump());
  };
  const Json tools = Json::parse(R"([{"type":"function","function":{"name":"get_time"}}])");
  const std::string call = "<|action_start|><|plugin|>\n{\"name\": \"get_time\", \"parameters\": {}}<|action_end|>";
  RpcClient caller(server.connect(Transport::kTcp));
  const std::string direct = caller.init(file);
  for (const std::string model : {"shows", "kept"}) {
    const HttpAnswer called = answer(model, call, {{"tools", tools}});
    INFO(called.body);
    REQUIRE(called.status == 200);
    CHECK(called.json()["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "get_time");
    CHECK(answer(model, "Hello.", Json::object()).json()["choices"][0]["message"]["content"] == "Hello.");
  }
  for (const std::string& model : {std::string("hides"), direct}) {
    const HttpAnswer refused = answer(model, call, {{"tools", tools}});
    CHECK(refused.status == 400);
    CHECK_THAT(refused.body, has_text("skip_special_token"));
    CHECK(answer(model, "Hello.", Json::object()).json()["choices"][0]["message"]["content"] == "Hello.");
  }
}

TEST_CASE("what the client asks about thinking and the model cannot be told is named, as the client calls it") {
  Json models = Json::object();
  for (const std::string family : {"qwen2", "qwen3_thinking"}) {
    models[family] = {{"param", {{"model_path", shipped_model("fast")}}}, {"template", family}};
  }
  LiveServer::Options options;
  options.set = {"models=" + models.dump()};
  LiveServer server(options);
  HttpClient client(server.endpoint(Transport::kHttp));
  const auto ignored = [&](const std::string& path, const std::string& model, const Json& more) {
    Json body = asking(user(saying("Hi.")), more);
    body["model"] = model;
    const HttpAnswer answered = client.post(path, body.dump());
    INFO(answered.body);
    REQUIRE(answered.status == 200);
    const auto found = answered.headers.find("x-rkllm-ignored");
    return found == answered.headers.end() ? std::string() : found->second;
  };
  const std::string openai = "/v1/chat/completions";
  CHECK(ignored(openai, "qwen2", {{"reasoning_effort", "high"}}) == "reasoning_effort");
  CHECK(ignored(openai, "qwen2", {{"reasoning_effort", "none"}}).empty());
  CHECK(ignored(openai, "qwen3_thinking", {{"chat_template_kwargs", {{"enable_thinking", false}}}}) ==
        "chat_template_kwargs.enable_thinking");
  CHECK(ignored("/api/chat", "qwen3_thinking", {{"think", false}}) == "think");
  CHECK(ignored("/api/chat", "qwen3_thinking", {{"think", true}}).empty());
  CHECK(ignored("/v1/messages", "qwen2", {{"thinking", {{"type", "enabled"}}}}) == "thinking");
}

TEST_CASE("whether the template of a loaded model is known is told by /health and, if not, by the log") {
  const TemporaryDirectory directory;
  const std::string file = directory / "mystery.json";
  write_file(file, R"({"rkllm_simulated_model":1,"name":"SIMULATED"})");
  LiveServer::Options options;
  options.set = {"models=" + Json{{"known", {{"param", {{"model_path", file}}}, {"template", "qwen3"}}},
                                  {"mystery", {{"param", {{"model_path", file}}}}}}
                                 .dump()};
  LiveServer server(options);
  HttpClient client(server.endpoint(Transport::kHttp));
  for (const std::string model : {"known", "mystery"}) {
    CHECK(client.post("/api/chat", Json{{"model", model}}.dump()).status == 200);
  }
  Json templates = Json::object();
  const Json health = server.health();
  for (const Json& model : health["models"]) {
    templates[model["name"].get<std::string>()] = model["template"];
  }
  CHECK(templates == Json{{"known", "qwen3"}, {"mystery", nullptr}});
  CHECK(server.process().wait_for_error_text("model mystery: its template is not known"));  // "known" was loaded before
  CHECK_THAT(server.process().error_text(), !has_text("model known: its template"));
}

TEST_CASE("without the chat host its paths are nobody's, and the rest is as ever") {
  LiveServer server(chatting({"chat.enabled=false"}));
  HttpClient client(server.endpoint(Transport::kHttp));
  CHECK(client.get("/v1/models").status == 404);
  CHECK(client.get("/").status == 404);
  CHECK(client.get("/health").json()["chat"].is_null());
}

TEST_CASE("a run that fails in its midst is answered with 500 and says so, also where the prompt may be too long") {
  const TemporaryDirectory directory;
  const std::string file = directory / "failing.json";
  write_file(file, R"({"rkllm_simulated_model":1,"name":"SIMULATED","faults":[{"when":1,"what":"error"}]})");
  LiveServer::Options options;
  options.set = {"models=" + Json{{kModel, {{"param", {{"model_path", file}, {"max_context_len", 4096}}}}}}.dump()};
  LiveServer server(options);
  HttpClient client(server.endpoint(Transport::kHttp));
  for (const std::string& text : {std::string("Hi"), std::string(8000, 'x')}) {
    const auto failed = client.post("/v1/chat/completions", asking(user(text)).dump());
    INFO(failed.body);
    CHECK(failed.status == 500);
    CHECK(failed.json()["error"]["code"] == "runtime_failed");
    CHECK_THAT(failed.json()["error"]["message"].get<std::string>(), has_text("the run ended with RKLLM_RUN_ERROR"));
    CHECK(client.post("/v1/messages", asking(user(text)).dump()).json()["error"]["type"] == "api_error");
    CHECK(client.post("/api/chat", asking(user(text)).dump()).status == 500);
  }
}

TEST_CASE("an access token counts as bearer and as x-api-key, and without one the error has the dialect's form") {
  const TemporaryDirectory directory;
  const std::string tokens = directory / "tokens";
  write_file(tokens, "ann  a-token-of-length-20  call\n");
  REQUIRE(chmod(tokens.c_str(), S_IRUSR | S_IWUSR) == 0);
  LiveServer server(chatting({"auth.tokens=" + tokens}));
  HttpClient client(server.endpoint(Transport::kHttp));
  CHECK(client.get("/v1/models").status == 401);
  CHECK(client.post("/v1/messages", "{}").json()["error"]["type"] == "authentication_error");
  client.carry_header("x-api-key", "a-token-of-length-20");
  CHECK(client.get("/v1/models").status == 200);
  CHECK(client.post("/v1/chat/completions", asking(user(saying("Hi."))).dump()).status == 200);
  client.carry_header("Authorization", "Bearer a-token-of-length-20");
  CHECK(client.get("/v1/models").status == 200);
}

TEST_CASE("without the permission admin no model is unloaded, and none loaded by its path, in any dialect") {
  const TemporaryDirectory directory;
  const std::string tokens = directory / "tokens";
  write_file(tokens, "ann  a-token-of-length-20  call\nroot a-token-of-length-21\n");
  REQUIRE(chmod(tokens.c_str(), S_IRUSR | S_IWUSR) == 0);
  LiveServer server(chatting({"auth.tokens=" + tokens}));
  HttpClient client(server.endpoint(Transport::kHttp));
  const auto ask = [&client](const std::string& token, const std::string& path, const Json& body) {
    client.carry_header("Authorization", "Bearer " + token);
    return client.post(path, body.dump());
  };
  const std::string ann = "a-token-of-length-20";
  const std::string root = "a-token-of-length-21";
  const auto by_path = [](const std::string& path) {
    return Json{{"model", path}, {"max_tokens", 5}, {"messages", Json::array({user("Hi")})}};
  };
  for (const std::string& path : {shipped_model("fast"), std::string("/nowhere/x.rkllm")}) {
    CHECK(ask(ann, "/v1/messages", by_path(path)).json()["error"]["type"] == "permission_error");
    CHECK(ask(ann, "/v1/chat/completions", by_path(path)).json()["error"]["code"] == "permission_denied");
    CHECK(ask(ann, "/api/chat", by_path(path)).status == 403);
  }
  CHECK(ask(ann, "/api/chat", {{"model", kModel}, {"keep_alive", 0}}).status == 403);
  for (const char* const path :
       {"/tokenize", "/detokenize", "/apply-template", "/api/show", "/v1/messages/count_tokens"}) {
    INFO(path);
    Json body = by_path("/etc/hostname");
    body.update({{"content", "x"}, {"tokens", {0}}});
    CHECK(ask(ann, path, body).status == 403);
  }
  CHECK(ask(root, "/v1/messages", by_path("/nowhere/x.rkllm")).status == 404);
  CHECK(ask(root, "/v1/messages", by_path(shipped_model("fast"))).status == 200);
  CHECK_THAT(client.get("/api/ps").body, has_text(shipped_model("fast")));
  CHECK(ask(root, "/api/chat", {{"model", shipped_model("fast")}, {"keep_alive", 0}}).status == 200);
}

TEST_CASE("the list of models has Anthropic's form for who sends its version") {
  LiveServer server(chatting());
  HttpClient client(server.endpoint(Transport::kHttp));
  CHECK(client.get("/v1/models").json()["object"] == "list");
  client.carry_header("anthropic-version", "2023-06-01");
  const Json list = client.get("/v1/models").json();
  CHECK(list["has_more"] == false);
  CHECK(list["first_id"] == kModel);
  CHECK(list["last_id"] == kModel);
  REQUIRE(list["data"].size() == 1);
  CHECK(list["data"][0]["type"] == "model");
  CHECK(list["data"][0]["display_name"] == kModel);
  const HttpAnswer none = client.get("/v1/models/nobody");
  CHECK(none.status == 404);
  CHECK(none.json()["error"]["type"] == "not_found_error");
  CHECK(none.headers.count("request-id") == 1);
}

TEST_CASE("every answer has the id of its request, and embeddings have their place in the queue") {
  LiveServer server(chatting());
  HttpClient client(server.endpoint(Transport::kHttp));
  const Json embedding{{"model", kModel}, {"input", "a cat"}};
  for (const HttpAnswer& answer :
       {client.get("/v1/models"), client.get("/api/tags"), client.get("/api/ps"),
        client.post("/api/show", Json{{"model", kModel}}.dump()), client.post("/v1/embeddings", embedding.dump())}) {
    CHECK(answer.status == 200);
    CHECK(answer.headers.count("x-request-id") == 1);
  }
  CHECK(client.post("/api/embed", embedding.dump()).headers.at("x-rkllm-queue-position") == "0");
}

TEST_CASE("a call that has to come is streamed as nothing but a call, or the request fails") {
  const LiveServer server(chatting({"chat.structured_tries=2"}));
  HttpClient client(server.endpoint(Transport::kHttp));
  Json request =
      asking(user(saying("f\", \"arguments\": {\"a\": 1}}")), {{"stream", true}, {"tool_choice", "required"}});
  request["tools"] = Json::array();
  for (const char* const name : {"f", "g"}) {
    request["tools"].push_back({{"type", "function"}, {"function", {{"name", name}}}});
  }
  std::string content;
  std::string calls;
  for (const Json& event : events_of(client, "/v1/chat/completions", request)) {
    const Json& delta = event.at("choices").at(0).at("delta");
    content += delta.value("content", Json()).is_string() ? delta["content"].get<std::string>() : "";
    for (const Json& call : delta.value("tool_calls", Json::array())) calls += call.at("function").dump();
  }
  CHECK(content.empty());
  CHECK_THAT(calls, has_text("\"name\":\"f\""));

  request["messages"][0]["content"] = saying("no\"");
  const HttpAnswer refused = client.post("/v1/chat/completions", request.dump());
  CHECK(refused.status == 422);
  CHECK(refused.json().at("error").at("code") == "invalid_structured_output");
  CHECK_THAT(refused.body, has_text("after 2 tries"));
  CHECK_THAT(refused.body, !has_text("<tool_call>"));
}

TEST_CASE("pages of localhost read what the chat host answers, refusals included, and nothing else") {
  const LiveServer server(chatting({"limits.max_message_bytes=65536"}));
  HttpClient client(server.endpoint(Transport::kHttp));
  client.carry_header("Origin", "http://localhost:3000");
  const std::string allowed = "Access-Control-Allow-Origin";
  CHECK(client.get("/v1/models").headers.at(allowed) == "http://localhost:3000");
  CHECK(client.get("/health").headers.count(allowed) == 0);
  const auto refused = [&](const std::string& path) {
    RawSocket socket(server.port(Transport::kHttp));
    socket.send("POST " + path +
                " HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:3000\r\nContent-Length: 100000\r\n\r\n");
    return socket.receive_rest();
  };
  const std::string anthropic = refused("/v1/messages");
  CHECK_THAT(anthropic, has_text(" 413 "));
  CHECK_THAT(anthropic, has_text(allowed + ": http://localhost:3000"));
  CHECK_THAT(anthropic, has_text(R"({"type":"error","error":{"type":"request_too_large")"));
  const std::string other = refused("/mcp");
  CHECK_THAT(other, has_text("jsonrpc"));
  CHECK_THAT(other, !has_text(allowed));
}

}  // namespace rkllm_mcp::test
