#include "chat_client.hpp"

#include <array>
#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp::test {
namespace {

constexpr int kLongestAnswer = 200;      // tokens
constexpr std::size_t kLongestTalk = 8;  // messages; then a new conversation begins
constexpr std::size_t kMostEvents = 20;  // of an answer that is left

struct Dialect {
  const char* path;
  std::string (*text_of)(const Json& part);  // of a whole answer, or of one event of a stream
};

std::string text_at(const Json& object, const Json::json_pointer& where) {
  return object.contains(where) && object.at(where).is_string() ? object.at(where).get<std::string>() : "";
}

std::string openai_text(const Json& part) {
  using namespace nlohmann::literals;
  return text_at(part, "/choices/0/delta/content"_json_pointer) +
         text_at(part, "/choices/0/message/content"_json_pointer);
}

std::string ollama_text(const Json& part) {
  using namespace nlohmann::literals;
  return text_at(part, "/message/content"_json_pointer);
}

std::string anthropic_text(const Json& part) {
  using namespace nlohmann::literals;
  return text_at(part, "/content/0/text"_json_pointer) + text_at(part, "/delta/text"_json_pointer);
}

std::string responses_text(const Json& part) {
  using namespace nlohmann::literals;
  const bool is_delta = part.value("type", "") == "response.output_text.delta";
  return is_delta ? part.at("delta").get<std::string>() : text_at(part, "/output/0/content/0/text"_json_pointer);
}

constexpr std::array<Dialect, 4> kDialects{{{"/v1/chat/completions", openai_text},
                                            {"/api/chat", ollama_text},
                                            {"/v1/messages", anthropic_text},
                                            {"/v1/responses", responses_text}}};

// Of one JSON text, of lines of it, or of Server-Sent Events.
std::string text_of(const Dialect& dialect, const std::string& body) {
  constexpr std::string_view kData = "data: ";
  std::string text;
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kData)) line.erase(0, kData.size());
    if (line.starts_with("{")) text += dialect.text_of(Json::parse(line));
  }
  return text;
}

}  // namespace

std::string chat_models(const std::vector<std::string>& names, const std::string& path) {
  Json models = Json::object();
  for (const std::string& name : names) {
    models[name] = {
        {"param", {{"model_path", path}, {"max_context_len", 4096}}}, {"template", "qwen2"}, {"keep_alive_s", -1}};
  }
  return "models=" + models.dump();
}

std::string dictated(const std::string& text) { return "@say=" + Json(text).dump(); }

ChatClient::ChatClient(const LiveServer& server, Options options)
    : options_(std::move(options)), http_(server.endpoint(Transport::kHttp)), random_(options_.seed) {
  if (!options_.token.empty()) http_.carry_header("Authorization", "Bearer " + options_.token);
}

Json ChatClient::asking(const Json& messages) const { return {{"model", options_.model}, {"messages", messages}}; }

void ChatClient::talk() {
  if (messages_.size() >= kLongestTalk) messages_ = Json::array();
  const std::string wanted = options_.name + " turn " + std::to_string(++turns_);
  messages_.push_back({{"role", "user"}, {"content", options_.name + " asks\n" + dictated(wanted)}});
  const Dialect& dialect = kDialects[random_() % kDialects.size()];
  Json body = asking(messages_);
  body["stream"] = random_() % 2 == 0;
  body["max_tokens"] = kLongestAnswer;
  if (dialect.text_of == responses_text) {
    body["input"] = messages_;
    body.erase("messages");
  }
  const HttpAnswer answer = http_.post(dialect.path, body.dump());
  if (answer.status != 200 || text_of(dialect, answer.body) != wanted) {
    throw std::runtime_error("\"" + wanted + "\" over " + dialect.path + " was answered with " +
                             std::to_string(answer.status) + " " + answer.body);
  }
  messages_.push_back({{"role", "assistant"}, {"content", wanted}});
}

void ChatClient::hold(const std::function<bool()>& enough) {
  Json body = asking(Json::array({{{"role", "user"}, {"content", options_.name + " holds\n" + kEndless}}}));
  body["stream"] = true;
  bool has_begun = false;
  http_.post_for_events(kDialects[0].path, body.dump(), [&](std::string_view) {
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
  return http_.post(kDialects[0].path, asking(Json::array({{{"role", "user"}, {"content", content}}})).dump());
}

}  // namespace rkllm_mcp::test
