// OpenAI's POST /v1/responses as a turn.
#pragma once

#include "chat/dialects/field_table.hpp"
#include "chat/turn/turn.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rkllm_mcp::chat {

std::span<const Field> responses_fields();

struct ResponsesRequest {
  Turn turn;  // `messages` without those of the previous response, which the server puts before them
  bool stream = false;
  bool store = false;
  std::optional<std::string> previous_response{};  // its id
  std::string instructions{};                      // not part of what is stored: the next request has its own
  // All settings of the request, which the response object repeats. Those that were not given have their defaults.
  Json settings = nullptr;
  std::vector<std::string> ignored{};
};

// Throws TurnError.
ResponsesRequest read_responses(const Json& request);

// `input` of a request, which may be a text, as items.
Json items_of(const Json& input);

}  // namespace rkllm_mcp::chat
