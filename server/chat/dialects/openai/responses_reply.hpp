// A turn's answer as OpenAI's response object: whole, or as events. Errors before the first event are
// openai_error_reply().
#pragma once

#include "chat/dialects/reply_stream.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

// What the model has said, as items.
Json output_of(const ReplyFacts& facts, const Answer& answer);
// The whole object. `settings`: those of the request (ResponsesRequest).
Json response_object(const ReplyFacts& facts, const Json& settings, const Answer& answer);
std::string responses_reply(const ReplyFacts& facts, const Json& settings, const Answer& answer);

class ResponsesStream final : public ReplyStream {
 public:
  ResponsesStream(ReplyFacts facts, Json settings);

  std::string event(const AnswerEvent& event, std::size_t answer) override;
  std::string heartbeat() override;
  void not_kept() override;
  std::string end(const AnswerEnd& end, std::size_t answer) override;
  std::string finish(const Usage& /*sum*/) override { return ""; }
  std::string error(const TurnError& error) override;

 private:
  enum class Item { kNone, kReasoning, kMessage };

  std::string start_once();
  // Ends the item that is open and begins another one.
  std::string change_to(Item item);
  std::string open_item(Item item);
  std::string close_item(std::string_view status = "completed");  // of a message
  std::string call_item(const ToolCall& call);
  // `data` with its type and number.
  std::string numbered(std::string_view type, const Json& data);
  // A numbered event with where it belongs: the open item, or one of its parts (empty `part_index`: the item).
  std::string of_item(std::string_view type, std::string_view part_index, const Json& data);
  Json snapshot(std::string_view status) const;

  const ReplyFacts facts_;
  Json settings_;
  std::size_t sequence_ = 0;
  bool has_started_ = false;
  Item item_ = Item::kNone;
  std::string text_;             // of the open item
  Json output_ = Json::array();  // items that are whole
};

}  // namespace rkllm_mcp::chat
