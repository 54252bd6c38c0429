// What a WebSocket client's bytes bring a server, in words that tests can compare.
#pragma once

#include "memory_budget.hpp"
#include "transport/peer.hpp"
#include "transport/websocket/websocket_parser.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rkllm_mcp::test {

inline std::string in_words(const websocket::Parser::Event& event) {
  if (const auto* const ping = std::get_if<websocket::Ping>(&event)) return "ping " + std::string(ping->payload);
  if (const auto* const closing = std::get_if<websocket::Closing>(&event)) {
    return "closing " + std::string(closing->payload);
  }
  if (const auto* const violation = std::get_if<websocket::Violation>(&event)) {
    return "violation " + std::to_string(static_cast<int>(violation->code));
  }
  const auto& received = std::get<Received>(event);
  if (const auto* const oversized = std::get_if<Oversized>(&received)) {
    return "oversized " + std::to_string(oversized->bytes);
  }
  if (const auto* const no_room = std::get_if<NoRoom>(&received)) return "no room " + std::string(no_room->beginning);
  return "text " + std::string(std::get<std::string_view>(received));
}

// `limit`: of a message's bytes. The bytes come in pieces of that size.
inline std::vector<std::string> frames_in_words(std::string_view bytes, std::size_t piece, std::size_t limit,
                                                MemoryBudget memory = {}) {
  std::vector<std::string> words;
  websocket::Parser parser(limit, std::move(memory));
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    std::string_view rest = bytes.substr(0, piece);
    while (!rest.empty()) {
      if (const auto event = parser.next(rest)) words.push_back(in_words(*event));
    }
  }
  return words;
}

}  // namespace rkllm_mcp::test
