#include "chat/dialects/openai/responses_reply.hpp"

#include "chat/dialects/openai/openai_chat_reply.hpp"
#include "jsonrpc/unread.hpp"

#include <utility>

namespace rkllm_mcp::chat {
namespace {

// Ids of items are made of the response's, so that they are unique, too: "msg_1_resp_...".
std::string item_id(const ReplyFacts& facts, std::string_view kind, std::size_t index) {
  return std::string(kind).append("_").append(std::to_string(index)).append("_").append(facts.id);
}

Json text_part(std::string_view text) {
  return {{"type", "output_text"}, {"text", text}, {"annotations", Json::array()}, {"logprobs", Json::array()}};
}

Json summary_part(std::string_view text) { return {{"type", "summary_text"}, {"text", text}}; }

Json message_item(const ReplyFacts& facts, std::size_t index, std::string_view status, Json content) {
  return {{"id", item_id(facts, "msg", index)},
          {"type", "message"},
          {"status", status},
          {"role", "assistant"},
          {"content", std::move(content)}};
}

Json reasoning_item(const ReplyFacts& facts, std::size_t index, Json summary) {
  return {{"id", item_id(facts, "rs", index)}, {"type", "reasoning"}, {"summary", std::move(summary)}};
}

Json function_item(const ReplyFacts& facts, std::size_t index, std::string_view status, const ToolCall& call) {
  return {{"id", item_id(facts, "fc", index)},
          {"type", "function_call"},
          {"status", status},
          {"call_id", call.id},
          {"name", call.name},
          {"arguments", call.arguments}};
}

Json response_usage(const Usage& usage) {
  if (!usage.prompt || !usage.generated) return nullptr;
  return {{"input_tokens", *usage.prompt},
          {"input_tokens_details", {{"cached_tokens", number_or_null(usage.cached)}}},
          {"output_tokens", *usage.generated},
          {"output_tokens_details", {{"reasoning_tokens", number_or_null(usage.reasoning)}}},
          {"total_tokens", *usage.prompt + *usage.generated}};
}

Json response_with(const ReplyFacts& facts, const Json& settings, std::string_view status, Json output) {
  Json response = {{"id", facts.id},
                   {"object", "response"},
                   {"created_at", facts.created_s},
                   {"status", status},
                   {"error", nullptr},
                   {"incomplete_details", nullptr},
                   {"model", facts.model},
                   {"output", std::move(output)},
                   {"usage", nullptr}};
  response.update(settings);
  return response;
}

void end_response(Json& response, const AnswerEnd& end) {
  const auto incomplete = [&response](const char* reason) {
    response["status"] = "incomplete";
    response["incomplete_details"] = {{"reason", reason}};
  };
  response["status"] = "completed";
  if (end.finish == Finish::kLength) incomplete("max_output_tokens");
  if (end.finish == Finish::kContentFilter) incomplete("content_filter");
  response["usage"] = response_usage(end.usage);
}

}  // namespace

Json output_of(const ReplyFacts& facts, const Answer& answer) {
  const std::string_view status = answer.end.finish == Finish::kLength ? "incomplete" : "completed";
  Json output = Json::array();
  if (!answer.thinking.empty()) {
    output.push_back(reasoning_item(facts, output.size(), Json::array({summary_part(answer.thinking)})));
  }
  if (!answer.text.empty()) {
    output.push_back(message_item(facts, output.size(), status, Json::array({text_part(answer.text)})));
  }
  for (const ToolCall& call : answer.calls) output.push_back(function_item(facts, output.size(), "completed", call));
  return output;
}

Json response_object(const ReplyFacts& facts, const Json& settings, const Answer& answer) {
  Json response = response_with(facts, settings, "completed", output_of(facts, answer));
  end_response(response, answer.end);
  return response;
}

std::string responses_reply(const ReplyFacts& facts, const Json& settings, const Answer& answer) {
  return to_text(response_object(facts, settings, answer));
}

ResponsesStream::ResponsesStream(ReplyFacts facts, Json settings)
    : facts_(std::move(facts)), settings_(std::move(settings)) {}

Json ResponsesStream::snapshot(std::string_view status) const {
  return response_with(facts_, settings_, status, output_);
}

std::string ResponsesStream::numbered(std::string_view type, const Json& data) {
  Json event = {{"type", type}, {"sequence_number", sequence_++}};
  event.update(data);
  return sse_event(type, to_text(event));
}

std::string ResponsesStream::of_item(std::string_view type, std::string_view part_index, const Json& data) {
  const std::string_view kind = item_ == Item::kReasoning ? "rs" : "msg";
  Json place = {{"item_id", item_id(facts_, kind, output_.size())}, {"output_index", output_.size()}};
  if (!part_index.empty()) place[std::string(part_index)] = 0;
  place.update(data);
  return numbered(type, place);
}

std::string ResponsesStream::start_once() {
  if (std::exchange(has_started_, true)) return "";
  std::string text = numbered("response.created", {{"response", snapshot("in_progress")}});
  return text += numbered("response.in_progress", {{"response", snapshot("in_progress")}});
}

std::string ResponsesStream::heartbeat() {
  std::string text = start_once();
  return text.empty() ? numbered("response.in_progress", {{"response", snapshot("in_progress")}}) : text;
}

void ResponsesStream::not_kept() {
  settings_["store"] = false;
  add_ignored("store");
}

std::string ResponsesStream::open_item(Item item) {
  item_ = item;
  text_.clear();
  const std::size_t index = output_.size();
  if (item == Item::kNone) return "";
  if (item == Item::kReasoning) {
    std::string text = numbered("response.output_item.added",
                                {{"output_index", index}, {"item", reasoning_item(facts_, index, Json::array())}});
    return text += of_item("response.reasoning_summary_part.added", "summary_index", {{"part", summary_part("")}});
  }
  std::string text =
      numbered("response.output_item.added",
               {{"output_index", index}, {"item", message_item(facts_, index, "in_progress", Json::array())}});
  return text += of_item("response.content_part.added", "content_index", {{"part", text_part("")}});
}

std::string ResponsesStream::close_item(std::string_view status) {
  if (item_ == Item::kNone) return "";
  const std::size_t index = output_.size();
  std::string text;
  Json whole;
  if (item_ == Item::kReasoning) {
    text += of_item("response.reasoning_summary_text.done", "summary_index", {{"text", text_}});
    text += of_item("response.reasoning_summary_part.done", "summary_index", {{"part", summary_part(text_)}});
    whole = reasoning_item(facts_, index, Json::array({summary_part(text_)}));
  } else {
    text += of_item("response.output_text.done", "content_index", {{"text", text_}, {"logprobs", Json::array()}});
    text += of_item("response.content_part.done", "content_index", {{"part", text_part(text_)}});
    whole = message_item(facts_, index, status, Json::array({text_part(text_)}));
  }
  text += numbered("response.output_item.done", {{"output_index", index}, {"item", whole}});
  output_.push_back(std::move(whole));
  item_ = Item::kNone;
  return text;
}

std::string ResponsesStream::change_to(Item item) {
  if (item_ == item) return "";
  std::string text = close_item();
  return text += open_item(item);
}

std::string ResponsesStream::call_item(const ToolCall& call) {
  const std::size_t index = output_.size();
  ToolCall begun = call;
  begun.arguments.clear();
  const Json place = {{"item_id", item_id(facts_, "fc", index)}, {"output_index", index}};
  std::string text = numbered("response.output_item.added",
                              {{"output_index", index}, {"item", function_item(facts_, index, "in_progress", begun)}});
  Json delta = place;
  delta["delta"] = call.arguments;
  text += numbered("response.function_call_arguments.delta", delta);
  Json done = place;
  done["name"] = call.name;
  done["arguments"] = call.arguments;
  text += numbered("response.function_call_arguments.done", done);
  Json whole = function_item(facts_, index, "completed", call);
  text += numbered("response.output_item.done", {{"output_index", index}, {"item", whole}});
  output_.push_back(std::move(whole));
  return text;
}

std::string ResponsesStream::event(const AnswerEvent& event, std::size_t /*answer*/) {
  std::string text = start_once();
  if (const auto* said = std::get_if<TextDelta>(&event)) {
    text += change_to(Item::kMessage);
    text_ += said->text;
    return text +=
           of_item("response.output_text.delta", "content_index", {{"delta", said->text}, {"logprobs", Json::array()}});
  }
  if (const auto* thought = std::get_if<ThinkingDelta>(&event)) {
    text += change_to(Item::kReasoning);
    text_ += thought->text;
    return text += of_item("response.reasoning_summary_text.delta", "summary_index", {{"delta", thought->text}});
  }
  text += change_to(Item::kNone);
  return text += call_item(std::get<ToolCall>(event));
}

std::string ResponsesStream::end(const AnswerEnd& end, std::size_t /*answer*/) {
  std::string text = start_once();
  text += close_item(end.finish == Finish::kLength ? "incomplete" : "completed");
  Json response = snapshot("completed");
  end_response(response, end);
  if (!notices().is_null()) response["rkllm"] = notices();
  const std::string type = "response." + response["status"].get<std::string>();
  return text += numbered(type, {{"response", std::move(response)}});
}

std::string ResponsesStream::error(const TurnError& error) {
  std::string text = start_once();
  Json response = snapshot("failed");
  const Json words = openai_error(error)["error"];
  response["error"] = {{"code", words["code"]}, {"message", words["message"]}};
  return text += numbered("response.failed", {{"response", std::move(response)}});
}

}  // namespace rkllm_mcp::chat
