#include "chat_answer.hpp"

#include "sim_backend.hpp"
#include "sim_chat_model.hpp"

#include <algorithm>

namespace rkllm_mcp::simulation {

std::string ChatQuestion::text() const { return SimChatModel::question(name, tokens); }

std::string ChatQuestion::answer() const { return SimBackend::text(name, limit ? std::min(*limit, tokens) : tokens); }

std::string_view path_of(ChatDialect dialect) {
  switch (dialect) {
    case ChatDialect::kOpenAi: return "/v1/chat/completions";
    case ChatDialect::kOllama: return "/api/chat";
    case ChatDialect::kAnthropic: return "/v1/messages";
    case ChatDialect::kResponses: return "/v1/responses";
  }
  return "";
}

Json request_for(ChatDialect dialect, std::string_view model, const ChatHistory& before, const ChatQuestion& question) {
  Json messages = Json::array();
  for (const ChatExchanged& each : before) {
    messages.push_back({{"role", "user"}, {"content", each.question}});
    messages.push_back({{"role", "assistant"}, {"content", each.answer}});
  }
  messages.push_back({{"role", "user"}, {"content", question.text()}});
  Json body = {{"model", model}, {"stream", question.streams}};
  body[dialect == ChatDialect::kResponses ? "input" : "messages"] = std::move(messages);
  switch (dialect) {
    case ChatDialect::kOpenAi:
      if (question.limit) body["max_tokens"] = *question.limit;
      break;
    case ChatDialect::kOllama:
      if (question.limit) body["options"] = {{"num_predict", *question.limit}};
      break;
    case ChatDialect::kAnthropic: {
      constexpr std::size_t kEnough = 500;  // it has to say something
      body["max_tokens"] = question.limit.value_or(kEnough);
      break;
    }
    case ChatDialect::kResponses:
      body["store"] = false;
      if (question.limit) body["max_output_tokens"] = *question.limit;
      break;
  }
  return body;
}

void ChatAnswer::event(const HttpTalk::Event& event) {
  last_ = event.data;
  if (is_over_) complain("something follows its end:");
  if (dialect_ == ChatDialect::kOpenAi && event.data == "[DONE]") {
    if (!has_reason_) complain("it is done, and nobody says why:");
    is_over_ = true;
    return;
  }
  const Json data = Json::parse(event.data, nullptr, false);
  if (data.is_discarded()) complain("an event that is no JSON:");
  const bool has_names = dialect_ == ChatDialect::kAnthropic || dialect_ == ChatDialect::kResponses;
  if (has_names && data.value("type", "") != event.name) complain("an event is named " + event.name + ":");
  switch (dialect_) {
    case ChatDialect::kOpenAi: return openai_event(data);
    case ChatDialect::kOllama: return ollama_event(data);
    case ChatDialect::kAnthropic: return anthropic_event(data);
    case ChatDialect::kResponses: return responses_event(data);
  }
}

void ChatAnswer::openai_event(const Json& data) {
  if (data.contains("error")) return fails(data["error"]);
  same_id(data.value("id", Json()));
  const Json& choice = data.at("choices").at(0);
  if (has_reason_) complain("something follows the reason of its end:");
  add(choice.at("delta").value("content", Json("")));
  if (!choice.at("finish_reason").is_null()) ends(choice.at("finish_reason"), "stop", "length");
}

void ChatAnswer::ollama_event(const Json& data) {
  if (data.contains("error")) return fails(data["error"]);
  add(data.at("message").at("content"));
  if (!data.at("done").get<bool>()) return;
  ends(data.at("done_reason"), "stop", "length");
  is_over_ = true;
}

void ChatAnswer::anthropic_event(const Json& data) {
  const auto type = data.at("type").get<std::string>();
  if (type == "ping") return;
  if (type == "error") return fails(data["error"]);
  const bool begins = type == "message_start";
  if (begins == has_begun_) complain("not where a message begins:");
  has_begun_ = true;
  if (begins) return same_id(data.at("message").at("id"));
  if (type == "content_block_start") {
    if (!open_block_.empty() || has_reason_) complain("a block within a block, or behind the end:");
    open_block_ = data.at("content_block").at("type").get<std::string>();
  } else if (type == "content_block_delta") {
    if (open_block_ != "text") complain("text outside of its block:");
    add(data.at("delta").at("text"));
  } else if (type == "content_block_stop") {
    if (open_block_.empty()) complain("the end of no block:");
    open_block_.clear();
  } else if (type == "message_delta") {
    if (!open_block_.empty()) complain("an end with a block open:");
    ends(data.at("delta").at("stop_reason"), "end_turn", "max_tokens");
  } else if (type == "message_stop") {
    if (!has_reason_) complain("it stops, and nobody says why:");
    is_over_ = true;
  } else {
    complain("an event of a kind that there is not:");
  }
}

void ChatAnswer::responses_event(const Json& data) {
  const auto type = data.at("type").get<std::string>();
  if (type == "error") return fails(data);
  if (data.at("sequence_number") != sequence_++) complain("an event is missing, or comes twice:");
  const bool begins = type == "response.created";
  if (begins == has_begun_) complain("not where a response begins:");
  has_begun_ = true;
  if (type == "response.output_text.delta") return add(data.at("delta"));
  if (type == "response.failed") return fails(data.at("response").at("error"));
  if (data.contains("response")) same_id(data["response"].at("id"));
  if (type != "response.completed" && type != "response.incomplete") return;
  const Json& response = data.at("response");
  if (text_of_output(response) != text_) complain("its text as a whole is another than its pieces:");
  ends(response.at("status"), "completed", "incomplete");
  is_over_ = true;
}

std::string ChatAnswer::text_of_output(const Json& response) const {
  std::string text;
  for (const Json& item : response.at("output")) {
    for (const Json& part : item.at("content")) text += part.at("text").get<std::string>();
  }
  return text;
}

void ChatAnswer::whole(const Json& body) {
  switch (dialect_) {
    case ChatDialect::kOpenAi:
      same_id(body.at("id"));
      add(body.at("choices").at(0).at("message").at("content"));
      return ends(body.at("choices").at(0).at("finish_reason"), "stop", "length");
    case ChatDialect::kOllama:
      add(body.at("message").at("content"));
      return ends(body.at("done_reason"), "stop", "length");
    case ChatDialect::kAnthropic:
      same_id(body.at("id"));
      for (const Json& block : body.at("content")) add(block.at("text"));
      return ends(body.at("stop_reason"), "end_turn", "max_tokens");
    case ChatDialect::kResponses:
      same_id(body.at("id"));
      add(text_of_output(body));
      return ends(body.at("status"), "completed", "incomplete");
  }
}

void ChatAnswer::answered(const HttpTalk::Answer& answer) {
  constexpr int kOk = 200;
  if (answer.streamed != (question_.streams && answer.status == kOk)) complain("a stream, or none, unasked:");
  if (answer.streamed) {
    if (!is_over_) complain("its stream ends without an end of the answer:");
    return;
  }
  last_ = answer.body;
  const Json body = Json::parse(answer.body, nullptr, false);
  if (body.is_discarded()) complain("an answer that is no JSON:");
  if (answer.status == kOk) return whole(body);
  fails(body.at("error"));
}

void ChatAnswer::add(const Json& piece) {
  const auto text = piece.get<std::string>();
  if (has_reason_ && !text.empty()) complain("text follows its end:");
  if (expected_.compare(text_.size(), text.size(), text) != 0) complain("a token is missing, twice, or another's:");
  text_ += text;
  tokens_ += static_cast<std::size_t>(std::count(text.begin(), text.end(), '#'));
}

void ChatAnswer::same_id(const Json& id) {
  const auto text = id.get<std::string>();
  if (id_.empty()) id_ = text;
  if (text != id_) complain("it changes its id, which was " + id_ + ":");
}

void ChatAnswer::ends(const Json& reason, std::string_view in_full, std::string_view cut) {
  if (has_reason_) complain("a second end:");
  has_reason_ = true;
  if (text_ != expected_) complain("it ends without its last tokens:");
  if (reason != Json(question_.is_cut() ? cut : in_full)) complain("it ends for another reason than it has:");
}

void ChatAnswer::fails(const Json& error) {
  error_ = error.dump();
  is_over_ = true;
}

void ChatAnswer::complain(const std::string& what) const {
  throw Violation{question_.name + ": " + what + " " + last_ + " behind \"" + text_ + "\""};
}

}  // namespace rkllm_mcp::simulation
