// A conversation with a model of the running server, by POST /v1/chat/completions: keeps the messages, and hands the
// answer over as it comes.
#pragma once

#include "cli/people/offered_models.hpp"
#include "cli/people/server_link.hpp"
#include "clock.hpp"

#include <rkllm_mcp/json.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace rkllm_mcp {

// How fast an answer came. What the server did not say is absent.
struct AnswerSpeed {
  std::optional<std::chrono::duration<double>> first_token;  // from the question to the first piece of the answer
  std::optional<double> tokens_per_second;
  std::optional<long long> tokens;

  std::string text() const;  // "12.3 tokens/s, first token after 0.42 s"; empty if nothing is known
};

class ModelConversation {
 public:
  struct Listener {
    std::function<void(const std::string&)> on_text;
    std::function<void(const std::string&)> on_thinking;
    std::function<bool()> is_stopped;  // from another thread
  };
  enum class End { kComplete, kStopped };

  ModelConversation(ServerLink& server, std::string model) : server_(server), model_(std::move(model)) {}

  // Asks, and adds question and answer to the messages; of a stopped answer what has come of it. If this throws (what
  // ServerLink throws), the messages are as before.
  End ask(const std::string& question, const Listener& listener);
  const AnswerSpeed& speed() const { return speed_; }  // of the last answer
  const std::string& answer() const { return answer_; }

  void set_system(std::string text) { system_ = std::move(text); }  // empty: none
  void set_model(std::string model) { model_ = std::move(model); }
  const std::string& model() const { return model_; }
  void clear() { messages_ = Json::array(); }
  Json to_json() const;  // {"model","messages"}, the system message first

 private:
  void take(const std::string& data, Clock::time_point asked, const Listener& listener);

  ServerLink& server_;
  std::string model_;
  std::string system_;
  Json messages_ = Json::array();
  AnswerSpeed speed_;
  std::string answer_;
  Clock::time_point first_{};
  Clock::time_point last_{};
};

// What the server offers. Throws std::runtime_error if it answers no chats.
OfferedModels models_to_talk_to(ServerLink& server);

// The name of the model that `asked_for` means; empty: the first that is loaded, else the first that the server offers.
// Throws std::runtime_error that says what there is, and how to get one.
std::string chosen_model(ServerLink& server, const std::string& asked_for);

}  // namespace rkllm_mcp
