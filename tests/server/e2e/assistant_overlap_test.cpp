// A second question in a conversation whose first one is still being answered: refused, and nothing of it is kept.
#include "clinic.hpp"
#include "named_models.hpp"
#include "support/catch.hpp"
#include "support/chat_dialect.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

constexpr const char* kSecondQuestion = "Giá bao nhiêu?";

std::vector<std::string> what_was_said(const Json& messages) {
  std::vector<std::string> all;
  for (const Json& each : messages) all.push_back(each.at("content").get<std::string>());
  return all;
}

}  // namespace

TEST_CASE("a second question of a conversation is refused while the first one is being answered, and is not kept") {
  NamedModels models;
  models.add("slow", {{"decode_tokens_per_s", 40}, {"max_context_len", 16384}});
  Clinic slow(web_answer(kPage), {"models=" + settings_of_model(models.path_of("slow"))});
  const ChatDialect& openai = kChatDialects.front();
  const std::string question = asked(kQuestion, Json{"CÓ", kAnswer, "Summed up."});
  Json first = openai.question(kAssistant, question, true);
  first["chat_id"] = "one";
  bool has_begun = false;
  const HttpAnswer whole = slow.http.post_in_parts(openai.path, first.dump(), [&](std::string_view so_far) {
    if (has_begun || openai.text_in(so_far).empty()) return true;
    has_begun = true;
    for (const ChatDialect& dialect : kChatDialects) {
      for (const bool streams : {true, false}) {
        HttpClient client(slow.server.endpoint(Transport::kHttp));
        client.carry_header("X-Conversation-Id", "one");
        const std::string second = asked(kSecondQuestion, Json{"CÓ", "Rẻ."});
        const HttpAnswer refused = client.post(dialect.path, dialect.question(kAssistant, second, streams).dump());
        INFO(dialect.path << ": " << refused.body);
        const bool is_anthropic = dialect.kind == ChatDialect::Kind::kMessages;
        CHECK(refused.status == (is_anthropic ? 529 : 503));
        CHECK(refused.headers.count("Retry-After") == 1);
        const std::string error = dialect.error_in(refused.json()).value_or("no error");
        CHECK_THAT(error, has_text("an answer of this conversation is being made"));
        if (!dialect.is_ollama()) CHECK(error.starts_with(is_anthropic ? "overloaded_error: " : "queue_full: "));
      }
    }
    return true;
  });
  REQUIRE(has_begun);
  INFO(whole.body);
  CHECK(openai.text_in(whole.body) == kAnswer);
  CHECK(what_was_said(slow.memory("get_all_messages", "one")["messages"]) ==
        std::vector<std::string>{question, kAnswer});
  for (const std::string& prompt : slow.prompts()) CHECK(prompt.find(kSecondQuestion) == std::string::npos);

  // The conversation is free again, and another one never was taken.
  const std::string second = asked(kSecondQuestion, Json{"CÓ", "Rẻ.", "Summed up."});
  CHECK(slow.ask(second, "two")["choices"][0]["message"]["content"] == "Rẻ.");
  const std::string third = asked(kSecondQuestion, Json{"CÓ", "Rẻ lắm.", "Summed up."});
  CHECK(slow.ask(third, "one")["choices"][0]["message"]["content"] == "Rẻ lắm.");
  CHECK(slow.memory("get_all_messages", "one")["messages"].size() == 4);
}

}  // namespace rkllm_mcp::test
