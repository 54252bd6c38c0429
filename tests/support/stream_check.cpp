#include "support/stream_check.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace rkllm_mcp::test {
namespace {

[[noreturn]] void refuse(const char* complaint, const Json& message) {
  throw std::runtime_error(std::string(complaint) + ": " + message.dump());
}

bool has_exactly(const Json& object, std::initializer_list<const char*> names) {
  return object.is_object() && object.size() == names.size() &&
         std::all_of(names.begin(), names.end(), [&](const char* name) { return object.contains(name); });
}

void check_chunk(const Json& chunk, const Json& message) {
  if (!chunk.is_object() || !chunk.contains("seq") || !chunk["seq"].is_number_unsigned()) refuse("no seq", message);
  if (!chunk.contains("delta") || !chunk["delta"].is_string()) refuse("no delta", message);
  if (chunk.contains("end") && chunk["end"] != true) refuse("end must be absent or true", message);
  static constexpr std::array kMembers{"seq", "delta", "end", "token_id", "token_ids"};
  for (const auto& [name, value] : chunk.items()) {
    if (std::find(kMembers.begin(), kMembers.end(), name) == kMembers.end()) refuse("unknown in a chunk", message);
  }
}

}  // namespace

bool StreamCheck::take(const Json& message) {
  if (!message.is_object() || !message.contains("id") || message["id"] != id_) return false;
  if (ended_ && delivery_ == Delivery::kInOrder) refuse("a message after the end of its stream", message);
  if (ended_) return true;
  if (message.contains("error")) {
    if (!has_exactly(message, {"jsonrpc", "id", "error"})) refuse("not an error", message);
    if (delivery_ == Delivery::kLossy && is_outdated(message["error"])) return true;
    ending_ = Json{{"error", message["error"]}};
    ended_ = true;
    return true;
  }
  if (!has_exactly(message, {"jsonrpc", "id", "method", "result"})) refuse("not a message of a stream", message);
  if (message["jsonrpc"] != "2.0" || message["method"] != method_) refuse("not of this stream", message);
  const Json& result = message["result"];
  if (has_exactly(result, {"stream_id", "poll_timeout_s"}) && announcement_.is_null() && next_seq_ == 0) {
    announcement_ = result;
    return true;
  }
  if (!result.contains("chunk")) refuse("no chunk", message);
  check_chunk(result["chunk"], message);
  if (!result["chunk"].contains("end") && result.size() != 1) refuse("more than a chunk before the end", message);
  take_chunk(result, message);
  return true;
}

// Whether the error says that chunks are gone that have come here meanwhile: the poll was late.
bool StreamCheck::is_outdated(const Json& error) const {
  return error["code"] == 4003 && error["data"].contains("from_seq") && error["data"]["from_seq"] < next_seq_;
}

void StreamCheck::take_chunk(const Json& result, const Json& message) {
  const Json& chunk = result["chunk"];
  const auto seq = chunk["seq"].get<std::uint64_t>();
  if (delivery_ == Delivery::kInOrder && seq != next_seq_) {
    refuse(("seq " + std::to_string(next_seq_) + " was due").c_str(), message);
  }
  // An empty chunk without an end only tells the next seq, to a poll that has waited: it must not take the place of the
  // chunk that will have it.
  const bool is_news = chunk["delta"] != "" || chunk.size() > 2;
  if (!is_news) return;
  if (seq >= next_seq_) early_.emplace(seq, result);
  for (auto next = early_.find(next_seq_); next != early_.end() && !ended_; next = early_.find(next_seq_)) {
    append(next->second);
    early_.erase(next);
  }
}

void StreamCheck::append(const Json& result) {
  const Json& chunk = result["chunk"];
  text_ += chunk["delta"].get_ref<const std::string&>();
  if (chunk.contains("token_id")) token_ids_.push_back(chunk["token_id"].get<int>());
  if (chunk.contains("token_ids")) {
    for (const auto& id : chunk["token_ids"]) token_ids_.push_back(id.get<int>());
  }
  ++next_seq_;
  if (!chunk.contains("end")) return;
  ended_ = true;
  ending_ = result;
  ending_.erase("chunk");
}

}  // namespace rkllm_mcp::test
