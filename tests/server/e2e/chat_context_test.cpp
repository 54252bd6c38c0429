// Prompts that no context has room for: every dialect's clients are told so, and by how much where that is known.
#include "named_models.hpp"
#include "support/catch.hpp"
#include "support/chat_dialect.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"

#include <cstddef>
#include <string>

namespace rkllm_mcp::test {

TEST_CASE("a prompt that is too long is 400 in each dialect, with n_ctx once the model has been loaded") {
  NamedModels models;
  LiveServer server(models.add("small", Json::object()).options());
  constexpr std::size_t kNoModelHolds = (std::size_t{1} << 20U) + 1;
  const auto check_refused = [&](const ChatDialect& dialect, std::size_t bytes, const Json& n_ctx) {
    HttpClient client(server.endpoint(Transport::kHttp));
    const HttpAnswer answer =
        client.post(dialect.path, dialect.question("small", std::string(bytes, 'x'), true).dump());
    INFO(dialect.path << ": " << answer.body);
    CHECK(answer.status == 400);
    const Json body = answer.json();
    const std::string error = dialect.error_in(body).value_or("no error");
    CHECK_THAT(error, has_text("prompt is too long") && has_text("context length"));
    if (!n_ctx.is_null()) CHECK_THAT(error, has_text(n_ctx.dump() + " tokens"));
    if (dialect.kind == ChatDialect::Kind::kMessages) CHECK(error.starts_with("invalid_request_error: "));
    if (dialect.kind == ChatDialect::Kind::kResponses) CHECK(body["error"]["param"] == "input");
    if (dialect.is_ollama() || dialect.kind == ChatDialect::Kind::kMessages) return;
    CHECK(error.starts_with("context_length_exceeded: "));
    CHECK(body["error"]["n_ctx"] == n_ctx);
    CHECK(body["error"].contains("n_prompt_tokens"));
  };
  // It is refused before the model is loaded.
  for (const ChatDialect& dialect : kChatDialects) check_refused(dialect, kNoModelHolds, nullptr);
  CHECK(server.health()["runtime"]["handles"].empty());
  for (const ChatDialect& dialect : kChatDialects) check_refused(dialect, 60'000, 4096);
  for (const ChatDialect& dialect : kChatDialects) check_refused(dialect, kNoModelHolds, 4096);
}

TEST_CASE("a prompt that fills the context is refused with its tokens, and one that leaves room for one more is not") {
  NamedModels models;
  LiveServer server(models.add("small", Json::object()).options());
  const ChatDialect& openai = kChatDialects.front();
  HttpClient client(server.endpoint(Transport::kHttp));
  const auto ask = [&](int words) {
    std::string text;
    for (int number = 0; number < words; ++number) text += " a";  // a token each
    Json body = openai.question("small", text, false);
    body.erase("max_tokens");
    return client.post(openai.path, body.dump()).json();
  };
  constexpr int kContext = 4096;
  constexpr int kSome = 4000;
  const Json some = ask(kSome);
  INFO(some.dump());
  const int around = some["usage"]["prompt_tokens"].get<int>() - kSome;
  const Json full = ask(kContext - around);
  INFO(full.dump());
  CHECK(full["error"]["n_prompt_tokens"] == kContext);
  CHECK(full["error"]["n_ctx"] == kContext);
  const Json last = ask(kContext - around - 1);
  INFO(last.dump());
  CHECK(last["usage"]["completion_tokens"] == 1);
  CHECK(last["choices"][0]["finish_reason"] == "length");
}

}  // namespace rkllm_mcp::test
