// Models that there is no room for: refused in the words of each dialect, while the model that is there answers on.
#include "named_models.hpp"
#include "support/catch.hpp"
#include "support/chat_dialect.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"
#include "support/raw_socket.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace rkllm_mcp::test {
namespace {

constexpr const char* kFirstModel = "first";
constexpr const char* kSecondModel = "second";

HttpAnswer ask_model(const LiveServer& server, const ChatDialect& dialect, const std::string& model, bool streams) {
  HttpClient client(server.endpoint(Transport::kHttp));
  return client.post(dialect.path, dialect.question(model, dictated("Hello."), streams).dump());
}

HttpAnswer embed_with(const LiveServer& server, const std::string& model) {
  HttpClient client(server.endpoint(Transport::kHttp));
  return client.post("/v1/embeddings", Json{{"model", model}, {"input", "a cat"}}.dump());
}

bool is_first_loaded(const LiveServer& server) {
  const Json handles = server.health()["runtime"]["handles"];
  return handles.size() == 1 && handles[0]["model"] == kFirstModel;
}

// Does `act` in the middle of an answer of the first model, which goes on all the same.
void during_an_answer(const LiveServer& server, const std::function<void()>& act) {
  std::string whole;
  for (int number = 0; number < 300; ++number) whole += "word " + std::to_string(number) + " ";
  const ChatDialect& dialect = kChatDialects.front();
  HttpClient client(server.endpoint(Transport::kHttp));
  std::string before;
  const std::string question = dialect.question(kFirstModel, dictated(whole), true).dump();
  const HttpAnswer answer = client.post_in_parts(dialect.path, question, [&](std::string_view so_far) {
    const std::string text = dialect.text_in(so_far);
    if (!before.empty()) return text.size() == before.size();
    if (text.empty()) return true;
    before = text;
    act();
    await_health(server, [](const Json& handles) { return handles.size() == 1 && handles[0]["running"] == true; });
    return true;
  });
  REQUIRE_FALSE(before.empty());
  const std::string text = dialect.text_in(answer.body);
  CHECK(text.size() > before.size());
  CHECK(whole.starts_with(text));
  // The client has left, and the run ends at its next token.
  await_health(server, [](const Json& handles) { return handles.size() == 1 && handles[0]["running"] == false; });
}

}  // namespace

TEST_CASE("with runtime.isolation=thread a second model is refused in each dialect, and the first one answers on",
          "[worker]") {
  NamedModels models;
  models.add(kFirstModel, {{"decode_tokens_per_s", 10}}).add(kSecondModel, Json::object());
  LiveServer server(models.options({"runtime.isolation=thread"}));
  const std::string reason = "with runtime.isolation=thread there is one handle at a time";
  const auto check_refused = [&](const ChatDialect& dialect, const HttpAnswer& answer, const std::string& what) {
    INFO(dialect.path << ": " << answer.body);
    CHECK(answer.status == 400);
    const std::string error = dialect.error_in(answer.json()).value_or("no error");
    CHECK_THAT(error, has_text("model " + what) && has_text(reason) && has_text("model first has it"));
    if (!dialect.is_ollama()) {
      CHECK(error.starts_with(dialect.path == std::string("/v1/messages") ? "invalid_request_error: "
                                                                          : "unsupported_value: "));
    }
  };
  during_an_answer(server, [&] {
    for (const ChatDialect& dialect : kChatDialects) {
      for (const bool streams : {true, false}) {
        check_refused(dialect, ask_model(server, dialect, kSecondModel, streams), "second could not be loaded: ");
      }
    }
    const ChatDialect& openai = kChatDialects.front();
    check_refused(openai, embed_with(server, kSecondModel), "second for embeddings could not be loaded: ");
    check_refused(openai, embed_with(server, kFirstModel), "first for embeddings could not be loaded: ");
  });
  for (const ChatDialect& dialect : kChatDialects) {
    CHECK(dialect.text_in(ask_model(server, dialect, kFirstModel, false).body) == "Hello.");
  }
  HttpClient client(server.endpoint(Transport::kHttp));
  REQUIRE(client.post("/api/generate", Json{{"model", kFirstModel}, {"keep_alive", 0}}.dump()).status == 200);
  CHECK(ask_model(server, kChatDialects.front(), kSecondModel, false).status == 200);
}

TEST_CASE("a model that the NPU has no memory for is 503 in each dialect while another one is in use, and says why",
          "[worker]") {
  NamedModels models;
  models.add(kFirstModel, {{"decode_tokens_per_s", 10}}).add(kSecondModel, {{"npu_memory_mb", 5000}});
  LiveServer server(models.options({"runtime.isolation=process"}));
  const auto check_refused = [](const ChatDialect& dialect, const HttpAnswer& answer) {
    INFO(dialect.path << ": " << answer.body);
    const bool is_anthropic = dialect.kind == ChatDialect::Kind::kMessages;
    CHECK(answer.status == (is_anthropic ? 529 : 503));
    CHECK(answer.headers.count("Retry-After") == 1);
    const std::string error = dialect.error_in(answer.json()).value_or("no error");
    CHECK_THAT(error, has_text("model second") && has_text("out of NPU memory"));
    if (!dialect.is_ollama()) CHECK(error.starts_with(is_anthropic ? "overloaded_error: " : "no_room_to_load: "));
  };
  during_an_answer(server, [&] {
    for (const ChatDialect& dialect : kChatDialects) {
      for (const bool streams : {true, false})
        check_refused(dialect, ask_model(server, dialect, kSecondModel, streams));
    }
    check_refused(kChatDialects.front(), embed_with(server, kSecondModel));
    CHECK(is_first_loaded(server));
  });

  // Nobody uses the other one any more: it makes room, and when that helps nobody hears of it.
  check_refused(kChatDialects.front(), ask_model(server, kChatDialects.front(), kSecondModel, true));
  CHECK(server.health()["runtime"]["handles"].empty());
  const HttpAnswer alone = ask_model(server, kChatDialects.front(), kSecondModel, true);
  CHECK(alone.status == 500);  // there is nobody whose end could help
  CHECK_THAT(alone.body, has_text("out of NPU memory"));
  models.add(kSecondModel, {{"npu_memory_mb", 3000}});
  CHECK(ask_model(server, kChatDialects.front(), kSecondModel, false).status == 200);
}

TEST_CASE("a model that the NPU has no memory for is 503 while another one is being loaded", "[worker]") {
  NamedModels models;
  models.add(kFirstModel, {{"faults", {{{"when", "init"}, {"what", "hang"}}}}});
  LiveServer server(models.add(kSecondModel, {{"npu_memory_mb", 5000}}).options({"runtime.isolation=process"}));
  const ChatDialect& openai = kChatDialects.front();
  RawSocket waiting(server.port(Transport::kHttp));
  waiting.send(chat_request(openai.path, openai.question(kFirstModel, "Hello", true)));
  HttpClient client(server.endpoint(Transport::kHttp));
  const std::string page = "/v1/models/" + std::string(kFirstModel);
  const auto deadline = std::chrono::steady_clock::now() + Process::kPatience;
  while (client.get(page).json()["rkllm"]["state"] != "loading") REQUIRE(std::chrono::steady_clock::now() < deadline);
  const HttpAnswer refused = ask_model(server, openai, kSecondModel, false);
  INFO(refused.body);
  CHECK(refused.status == 503);
  CHECK(refused.headers.count("Retry-After") == 1);
}

TEST_CASE("a model that no handle is left for has one as soon as the other is out of use", "[worker]") {
  NamedModels models;
  models.add(kFirstModel, {{"decode_tokens_per_s", 10}}).add(kSecondModel, Json::object());
  LiveServer server(models.options({"limits.max_handles=1"}));
  during_an_answer(server, [&] {
    const HttpAnswer refused = ask_model(server, kChatDialects.front(), kSecondModel, true);
    INFO(refused.body);
    CHECK(refused.status == 503);
    CHECK(refused.headers.count("Retry-After") == 1);
    CHECK_THAT(refused.body, has_text("model second could not be loaded"));
  });
  CHECK(ask_model(server, kChatDialects.front(), kSecondModel, true).status == 200);
  CHECK_FALSE(is_first_loaded(server));
}

}  // namespace rkllm_mcp::test
