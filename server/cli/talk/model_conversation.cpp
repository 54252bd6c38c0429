#include "cli/talk/model_conversation.hpp"

#include "cli/people/first_model.hpp"
#include "client/connection.hpp"
#include "clock.hpp"
#include "json_members.hpp"
#include "jsonrpc/bounded_json.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp {
namespace {

std::string decimals(double value, const char* format) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

}  // namespace

std::string AnswerSpeed::text() const {
  std::string text;
  if (tokens_per_second) text = decimals(*tokens_per_second, "%.1f tokens/s");
  if (first_token) text += (text.empty() ? "" : ", ") + decimals(first_token->count(), "first token after %.2f s");
  return text;
}

Json ModelConversation::to_json() const {
  Json messages = Json::array();
  if (!system_.empty()) messages.push_back(Json{{"role", "system"}, {"content", system_}});
  for (const Json& message : messages_) messages.push_back(message);
  return Json{{"model", model_}, {"messages", std::move(messages)}};
}

ModelConversation::End ModelConversation::ask(const std::string& question, const Listener& listener) {
  Json body = to_json();
  body["messages"].push_back(Json{{"role", "user"}, {"content", question}});
  body["stream"] = true;
  body["stream_options"] = Json{{"include_usage", true}};
  body["timings_per_token"] = true;  // so that they are known of an answer that is stopped, too
  speed_ = {};
  answer_.clear();
  const auto asked = Clock::now();
  const bool is_complete = server_.stream(
      "/v1/chat/completions", body, [&](const std::string& data) { take(data, asked, listener); }, listener.is_stopped);
  // Where the server tells how many tokens there were, but not how fast they came.
  if (!speed_.tokens_per_second && speed_.tokens && *speed_.tokens > 1 && last_ > first_) {
    speed_.tokens_per_second = static_cast<double>(*speed_.tokens - 1) / seconds_between(first_, last_);
  }
  messages_.push_back(Json{{"role", "user"}, {"content", question}});
  messages_.push_back(Json{{"role", "assistant"}, {"content", answer_}});
  return is_complete ? End::kComplete : End::kStopped;
}

void ModelConversation::take(const std::string& data, Clock::time_point asked, const Listener& listener) {
  if (data == "[DONE]") return;
  const auto chunk = parse_bounded(data);
  if (!chunk || !chunk->is_object())
    throw client::ConnectionError("the server sent an event that is no JSON object: " + data);
  if (const Json error = chunk->value("error", Json()); !error.is_null()) {
    const std::string words = error.is_string() ? error.get<std::string>() : text_in(error, "message");
    throw ServerRefuses(200, words.empty() ? error.dump() : words);
  }
  if (const auto timings = chunk->find("timings"); timings != chunk->end()) {
    if (const auto tokens = number_in(*timings, "predicted_n")) speed_.tokens = static_cast<long long>(*tokens);
    if (const auto rate = number_in(*timings, "predicted_per_second")) speed_.tokens_per_second = rate;
  }
  if (const auto usage = chunk->find("usage"); usage != chunk->end()) {
    if (const auto tokens = number_in(*usage, "completion_tokens")) speed_.tokens = static_cast<long long>(*tokens);
  }
  const auto choices = chunk->find("choices");
  if (choices == chunk->end() || !choices->is_array() || choices->empty()) return;
  const Json& choice = choices->front();
  const Json delta = choice.is_object() ? choice.value("delta", Json()) : Json();
  const std::string text = text_in(delta, "content");
  const std::string thinking = text_in(delta, "reasoning_content");
  if (text.empty() && thinking.empty()) return;
  last_ = Clock::now();
  if (!speed_.first_token) {
    first_ = last_;
    speed_.first_token = first_ - asked;
  }
  if (!thinking.empty()) listener.on_thinking(thinking);
  if (text.empty()) return;
  answer_ += text;
  listener.on_text(text);
}

OfferedModels models_to_talk_to(ServerLink& server) {
  try {
    return models_to_chat_with(server);
  } catch (const ServerRefuses& refusal) {
    if (refusal.status() != 404) throw;
  }
  throw std::runtime_error(server.url() +
                           " answers no chats: it has no /v1/models. It may be an older version, or another server; "
                           "see: rkllm-mcp status" +
                           server.where());
}

std::string chosen_model(ServerLink& server, const std::string& asked_for) {
  const OfferedModels offered = models_to_talk_to(server);
  if (offered.all.empty()) {
    throw std::runtime_error(server.url() + " offers no model yet. " +
                             words_of_first_model(server, offered, asked_for));
  }
  if (asked_for.empty()) {
    const auto loaded =
        std::ranges::find_if(offered.all, [](const OfferedModel& each) { return each.is_loaded && !each.is_profile; });
    return loaded == offered.all.end() ? offered.all.front().name : loaded->name;
  }
  if (const OfferedModel* const model = offered.find(asked_for)) return model->name;
  std::string names;
  for (const OfferedModel& each : offered.all) {
    if (each.name.starts_with(asked_for + ":")) return each.name;
    names += (names.empty() ? "" : ", ") + each.name;
  }
  throw std::runtime_error("there is no model " + asked_for + did_you_mean(asked_for, offered.names()) +
                           "\nThe server offers: " + names);
}

}  // namespace rkllm_mcp
