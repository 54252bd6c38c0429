#include "chat_client.hpp"

#include "support/chat_dialect.hpp"

#include <cstddef>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp::test {
namespace {

constexpr int kLongestAnswer = 200;      // tokens
constexpr std::size_t kLongestTalk = 8;  // messages; then a new conversation begins
constexpr std::size_t kMostEvents = 20;  // of an answer that is left

}  // namespace

std::string chat_models(const std::vector<std::string>& names, const std::string& path) {
  Json models = Json::object();
  for (const std::string& name : names) {
    models[name] = {
        {"param", {{"model_path", path}, {"max_context_len", 4096}}}, {"template", "qwen2"}, {"keep_alive_s", -1}};
  }
  return "models=" + models.dump();
}

ChatClient::ChatClient(const LiveServer& server, Options options)
    : options_(std::move(options)), http_(server.endpoint(Transport::kHttp)), random_(options_.seed) {
  if (!options_.token.empty()) http_.carry_header("Authorization", "Bearer " + options_.token);
}

Json ChatClient::asking(const Json& messages) const { return {{"model", options_.model}, {"messages", messages}}; }

void ChatClient::talk() {
  if (messages_.size() >= kLongestTalk) messages_ = Json::array();
  const std::string wanted = options_.name + " turn " + std::to_string(++turns_);
  messages_.push_back({{"role", "user"}, {"content", options_.name + " asks\n" + dictated(wanted)}});
  constexpr std::size_t kWithMessages = 4;  // the others take no conversation
  static_assert(kChatDialects[kWithMessages - 1].kind == ChatDialect::Kind::kOllamaChat);
  const ChatDialect& dialect = kChatDialects[random_() % kWithMessages];
  Json body = asking(messages_);
  body["stream"] = random_() % 2 == 0;
  body["max_tokens"] = kLongestAnswer;
  if (dialect.kind == ChatDialect::Kind::kResponses) {
    body["input"] = messages_;
    body.erase("messages");
  }
  const HttpAnswer answer = http_.post(dialect.path, body.dump());
  if (answer.status != 200 || dialect.text_in(answer.body) != wanted) {
    throw std::runtime_error("\"" + wanted + "\" over " + dialect.path + " was answered with " +
                             std::to_string(answer.status) + " " + answer.body);
  }
  messages_.push_back({{"role", "assistant"}, {"content", wanted}});
}

void ChatClient::hold(const std::function<bool()>& enough) {
  Json body = asking(Json::array({{{"role", "user"}, {"content", options_.name + " holds\n" + kEndless}}}));
  body["stream"] = true;
  bool has_begun = false;
  http_.post_for_events(kChatDialects[0].path, body.dump(), [&](std::string_view) {
    has_begun = true;
    return !enough();
  });
  if (!has_begun) throw std::runtime_error(options_.name + ": an answer did not begin");
}

void ChatClient::leave() {
  const std::size_t wanted = 1 + random_() % kMostEvents;
  hold([wanted, events = std::size_t{0}]() mutable { return ++events >= wanted; });
}

HttpAnswer ChatClient::ask(const std::string& text) {
  const std::string content = options_.name + " asks\n" + dictated(text);
  return http_.post(kChatDialects[0].path, asking(Json::array({{{"role", "user"}, {"content", content}}})).dump());
}

}  // namespace rkllm_mcp::test
