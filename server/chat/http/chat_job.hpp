// What one HTTP request asks of the chat host, and how its answer is put into words: where a dialect meets HTTP.
// Event loop only.
#pragma once

#include "chat/dialects/ollama/ollama_request.hpp"
#include "chat/dialects/reply_stream.hpp"
#include "chat/turn/turn.hpp"

#include <rkllm_mcp/json.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

// The form of errors, and of what all endpoints of one publisher share.
enum class Surface { kOpenAi, kOllama, kAnthropic };

// `request_id`: Anthropic repeats it.
ErrorReply error_reply(Surface surface, const TurnError& error, std::string_view request_id);

struct ChatJob {
  Turn turn;
  std::vector<std::string> ignored{};
  std::unique_ptr<ReplyStream> stream{};  // null: the answer is sent as a whole
  // `conversation`: that the answer belongs to; empty: none.
  std::function<std::string(const std::vector<Answer>&, const Usage& sum, const std::string& conversation)> whole{};
  OllamaWish wish = OllamaWish::kAnswer;
  std::string loaded_reply{};             // the answer, where the model is only loaded or unloaded
  std::optional<std::string> previous{};  // the id of a kept answer whose conversation comes before the request's
  // Not null: the answer is to be kept under `id`; gives the conversation that it ends, as items.
  std::function<Json(const Answer& answer)> kept_items{};
  // As `whole`, of an answer that cannot be kept; not null where kept_items is not.
  decltype(whole) whole_unkept{};
  std::string id{};
};

// A path at which turns are made. `prefix` begins the ids of its answers.
struct ChatEndpoint {
  std::string_view path;
  Surface surface;
  std::string_view prefix;
  ChatJob (*read)(const Json& request, ReplyFacts facts);  // throws TurnError
};

// Null: there is none at this path.
const ChatEndpoint* find_chat_endpoint(std::string_view path);

}  // namespace rkllm_mcp::chat
