#include "chat_answer.hpp"

#include "simulation/server/sim_backend.hpp"
#include "simulation/server/sim_chat_model.hpp"

#include <algorithm>

namespace rkllm_mcp::simulation {

namespace {

Json tool_schema() { return {{"type", "object"}, {"properties", {{"about", {{"type", "string"}}}}}}; }

Json json_schema() {
  return {{"type", "object"}, {"properties", {{"said", {{"type", "string"}}}}}, {"additionalProperties", false}};
}

Json arguments_about(const std::string& about) { return {{"about", about}}; }

}  // namespace

std::string ChatQuestion::text() const { return SimChatModel::question(name, tokens, form); }

std::string ChatQuestion::answer() const {
  const std::string said = SimBackend::text(name, limit ? std::min(*limit, tokens) : tokens);
  return form == ChatForm::kJson ? SimChatModel::json_of(said) : said;
}

std::string_view path_of(ChatDialect dialect) {
  switch (dialect) {
    case ChatDialect::kOpenAi: return "/v1/chat/completions";
    case ChatDialect::kOllama: return "/api/chat";
    case ChatDialect::kAnthropic: return "/v1/messages";
    case ChatDialect::kResponses: return "/v1/responses";
  }
  return "";
}

namespace {

// What is said by the user, or came of a call.
void add_question(Json& messages, ChatDialect dialect, const std::string& text,
                  const std::optional<std::string>& result_of) {
  if (!result_of) return messages.push_back({{"role", "user"}, {"content", text}});
  switch (dialect) {
    case ChatDialect::kOpenAi:
      return messages.push_back({{"role", "tool"}, {"tool_call_id", *result_of}, {"content", text}});
    case ChatDialect::kOllama:
      return messages.push_back({{"role", "tool"}, {"tool_name", kChatTool}, {"content", text}});
    case ChatDialect::kAnthropic: {
      Json result{{"type", "tool_result"}, {"tool_use_id", *result_of}, {"content", text}};
      return messages.push_back({{"role", "user"}, {"content", Json::array({std::move(result)})}});
    }
    case ChatDialect::kResponses:
      return messages.push_back({{"type", "function_call_output"}, {"call_id", *result_of}, {"output", text}});
  }
}

void add_answer(Json& messages, ChatDialect dialect, const ChatExchanged& said) {
  Json message{{"role", "assistant"}, {"content", said.answer}};
  if (!said.call) return messages.push_back(std::move(message));
  const Json arguments = arguments_about(said.about);
  switch (dialect) {
    case ChatDialect::kOpenAi:
      message["tool_calls"] = Json::array({Json{{"id", *said.call},
                                                {"type", "function"},
                                                {"function", {{"name", kChatTool}, {"arguments", arguments.dump()}}}}});
      return messages.push_back(std::move(message));
    case ChatDialect::kOllama:
      message["tool_calls"] = Json::array({Json{{"function", {{"name", kChatTool}, {"arguments", arguments}}}}});
      return messages.push_back(std::move(message));
    case ChatDialect::kAnthropic: {
      Json content = Json::array();
      if (!said.answer.empty()) content.push_back({{"type", "text"}, {"text", said.answer}});
      content.push_back({{"type", "tool_use"}, {"id", *said.call}, {"name", kChatTool}, {"input", arguments}});
      message["content"] = std::move(content);
      return messages.push_back(std::move(message));
    }
    case ChatDialect::kResponses:
      if (!said.answer.empty()) messages.push_back(std::move(message));
      return messages.push_back(
          {{"type", "function_call"}, {"call_id", *said.call}, {"name", kChatTool}, {"arguments", arguments.dump()}});
  }
}

void add_tool(Json& body, ChatDialect dialect) {
  Json tool{{"name", kChatTool}, {"description", "Looks."}};
  tool[dialect == ChatDialect::kAnthropic ? "input_schema" : "parameters"] = tool_schema();
  if (dialect == ChatDialect::kOpenAi || dialect == ChatDialect::kOllama) {
    tool = {{"type", "function"}, {"function", std::move(tool)}};
  } else if (dialect == ChatDialect::kResponses) {
    tool["type"] = "function";
  }
  body["tools"] = Json::array({std::move(tool)});
}

void want_json(Json& body, ChatDialect dialect) {
  const Json format{{"type", "json_schema"}, {"name", "said"}, {"schema", json_schema()}};
  switch (dialect) {
    case ChatDialect::kOpenAi:
      body["response_format"] = {{"type", "json_schema"},
                                 {"json_schema", {{"name", "said"}, {"schema", json_schema()}}}};
      break;
    case ChatDialect::kOllama: body["format"] = json_schema(); break;
    case ChatDialect::kAnthropic:
      body["output_config"] = {{"format", {{"type", "json_schema"}, {"schema", json_schema()}}}};
      break;
    case ChatDialect::kResponses: body["text"] = {{"format", format}}; break;
  }
}

}  // namespace

Json request_for(ChatDialect dialect, std::string_view model, const ChatHistory& before, const ChatQuestion& question) {
  Json messages = Json::array();
  for (const ChatExchanged& each : before) {
    add_question(messages, dialect, each.question, each.result_of);
    add_answer(messages, dialect, each);
  }
  add_question(messages, dialect, question.text(), question.result_of);
  Json body = {{"model", model}, {"stream", question.streams}};
  body[dialect == ChatDialect::kResponses ? "input" : "messages"] = std::move(messages);
  if (question.may_call) add_tool(body, dialect);
  if (question.form == ChatForm::kJson) want_json(body, dialect);
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
  const Json& delta = choice.at("delta");
  add(delta.value("content", Json("")));
  for (const Json& call : delta.value("tool_calls", Json::array())) {
    if (call.contains("id")) called_id_ = call["id"];
    if (call["function"].contains("name")) called_ = call["function"]["name"];
    arguments_ += call.at("function").at("arguments").get<std::string>();
  }
  if (choice.at("finish_reason").is_null()) return;
  if (!called_.is_null()) calls(called_id_, called_, Json::parse(arguments_));
  ends(choice.at("finish_reason"), {"stop", "length", "tool_calls"});
}

void ChatAnswer::ollama_event(const Json& data) {
  if (data.contains("error")) return fails(data["error"]);
  add(data.at("message").at("content"));
  for (const Json& call : data["message"].value("tool_calls", Json::array())) {
    calls("", call.at("function").at("name"), call.at("function").at("arguments"));
  }
  if (!data.at("done").get<bool>()) return;
  ends(data.at("done_reason"), {"stop", "length", "stop"});
  is_over_ = true;
}

void ChatAnswer::anthropic_event(const Json& data) {
  const auto type = data.at("type").get<std::string>();
  if (type == "ping") return;
  if (type == "error") return fails(data["error"]);
  if (has_reason_ && type != "message_stop") complain("something follows the reason of its end:");
  const bool begins = type == "message_start";
  if (begins == has_begun_) complain("not where a message begins:");
  has_begun_ = true;
  if (begins) return same_id(data.at("message").at("id"));
  if (type == "content_block_start") {
    if (!open_block_.empty()) complain("a block within a block:");
    const Json& block = data.at("content_block");
    open_block_ = block.at("type").get<std::string>();
    if (open_block_ != "tool_use") return;
    called_id_ = block.at("id");
    called_ = block.at("name");
  } else if (type == "content_block_delta" && open_block_ == "tool_use") {
    arguments_ += data.at("delta").at("partial_json").get<std::string>();
  } else if (type == "content_block_delta") {
    if (open_block_ != "text") complain("text outside of its block:");
    add(data.at("delta").at("text"));
  } else if (type == "content_block_stop") {
    if (open_block_.empty()) complain("the end of no block:");
    if (open_block_ == "tool_use") calls(called_id_, called_, Json::parse(arguments_));
    open_block_.clear();
  } else if (type == "message_delta") {
    if (!open_block_.empty()) complain("an end with a block open:");
    ends(data.at("delta").at("stop_reason"), {"end_turn", "max_tokens", "tool_use"});
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
  if (type == "response.function_call_arguments.delta") arguments_ += data.at("delta").get<std::string>();
  if (type == "response.output_item.done" && data.at("item").at("type") == "function_call") {
    const Json& call = data["item"];
    if (call.at("arguments") != arguments_) complain("the arguments as a whole are others than their pieces:");
    return calls(call.at("call_id"), call.at("name"), Json::parse(arguments_));
  }
  if (type == "response.failed") return fails(data.at("response").at("error"));
  if (data.contains("response")) same_id(data["response"].at("id"));
  if (type != "response.completed" && type != "response.incomplete") return;
  const Json& response = data.at("response");
  if (text_of_output(response) != text_) complain("its text as a whole is another than its pieces:");
  const auto& output = response.at("output");
  const auto called =
      std::count_if(output.begin(), output.end(), [](const Json& item) { return item.at("type") == "function_call"; });
  if (called != (call_ ? 1 : 0)) complain("its calls as a whole are others than its pieces:");
  is_kept_ = response.at("store").get<bool>();
  ends(response.at("status"), {"completed", "incomplete", "completed"});
  is_over_ = true;
}

std::string ChatAnswer::text_of_output(const Json& response) const {
  std::string text;
  for (const Json& item : response.at("output")) {
    if (item.at("type") != "message") continue;
    for (const Json& part : item.at("content")) text += part.at("text").get<std::string>();
  }
  return text;
}

void ChatAnswer::whole(const Json& body) {
  switch (dialect_) {
    case ChatDialect::kOpenAi: {
      same_id(body.at("id"));
      const Json& choice = body.at("choices").at(0);
      const Json& message = choice.at("message");
      if (!message.at("content").is_null()) add(message["content"]);
      for (const Json& call : message.value("tool_calls", Json::array())) {
        const Json& function = call.at("function");
        calls(call.at("id"), function.at("name"), Json::parse(function.at("arguments").get<std::string>()));
      }
      return ends(choice.at("finish_reason"), {"stop", "length", "tool_calls"});
    }
    case ChatDialect::kOllama:
      add(body.at("message").at("content"));
      for (const Json& call : body["message"].value("tool_calls", Json::array())) {
        calls("", call.at("function").at("name"), call.at("function").at("arguments"));
      }
      return ends(body.at("done_reason"), {"stop", "length", "stop"});
    case ChatDialect::kAnthropic:
      same_id(body.at("id"));
      for (const Json& block : body.at("content")) {
        block.at("type") == "tool_use" ? calls(block.at("id"), block.at("name"), block.at("input"))
                                       : add(block.at("text"));
      }
      return ends(body.at("stop_reason"), {"end_turn", "max_tokens", "tool_use"});
    case ChatDialect::kResponses:
      same_id(body.at("id"));
      is_kept_ = body.at("store").get<bool>();
      add(text_of_output(body));
      for (const Json& item : body.at("output")) {
        if (item.at("type") != "function_call") continue;
        calls(item.at("call_id"), item.at("name"), Json::parse(item.at("arguments").get<std::string>()));
      }
      return ends(body.at("status"), {"completed", "incomplete", "completed"});
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
  if (call_ && !text.empty()) complain("text follows its call:");
  if (expected_.compare(text_.size(), text.size(), text) != 0) complain("a token is missing, twice, or another's:");
  text_ += text;
  tokens_ += static_cast<std::size_t>(std::count(text.begin(), text.end(), '#'));
}

void ChatAnswer::same_id(const Json& id) {
  const auto text = id.get<std::string>();
  if (id_.empty()) id_ = text;
  if (text != id_) complain("it changes its id, which was " + id_ + ":");
}

void ChatAnswer::calls(const std::string& id, const Json& name, const Json& arguments) {
  if (!question_.is_call() || call_) complain("a call that nobody asked for, or a second one:");
  if (name != kChatTool || arguments != arguments_about(question_.name)) complain("it calls something else:");
  if (id.empty() != (dialect_ == ChatDialect::kOllama)) complain("a call without an id:");
  call_ = id;
}

void ChatAnswer::ends(const Json& reason, const Reasons& reasons) {
  has_reason_ = true;
  // Space in front of a call is a matter of form.
  const std::string expected = call_ ? expected_.substr(0, expected_.find_last_not_of(' ') + 1) : expected_;
  if (text_ != expected_ && text_ != expected) complain("it ends without its last tokens:");
  if (call_.has_value() != question_.is_call()) complain("it ends without its call:");
  const std::string_view in_full = call_ ? reasons.calls : reasons.in_full;
  if (reason != Json(question_.is_cut() ? reasons.cut : in_full)) complain("it ends for another reason than it has:");
}

void ChatAnswer::fails(const Json& error) {
  error_ = error.dump();
  is_over_ = true;
}

void ChatAnswer::complain(const std::string& what, Place place) const {
  throw Violation{question_.name + ": " + what + " " + last_ + " behind \"" + text_ + "\"", place};
}

}  // namespace rkllm_mcp::simulation
