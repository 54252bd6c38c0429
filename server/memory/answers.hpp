// What the memory server answers: messages, conversations and summaries as JSON, and as many of a list as one answer
// has room for.
//
// Threads: any; one caller at a time for each store.
#pragma once

#include "memory/store.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp::memory {

inline constexpr std::int64_t kAnyNumber = std::int64_t{1} << 40U;  // of messages: as many as there are

// Whether entries of a list, each given once, fit into one answer together with those before. The first always does.
class AnswerRoom {
 public:
  explicit AnswerRoom(std::int64_t bytes) : bytes_(bytes) {}
  bool has(const Json& entry);

 private:
  std::int64_t bytes_;
  bool is_first_ = true;
};

Json brief_message(const StoredMessage& message);  // {"role","content"}
Json whole_message(const StoredMessage& message);  // {"role","content","timestamp"}, and "metadata" if it has some
Json conversation_entry(const Conversation& each);
Json hit_entry(const Hit& hit);
Json summary_content(const std::optional<Summary>& summary);
Json status_answer(const char* status, const Key& key);  // {"status","conversation_id"}

// The place that a cursor of a list names; 0 if there is no cursor. Throws InvalidParams if it is none of a list.
std::int64_t number_of(const std::optional<std::string>& cursor);

// The first of these messages, as many as fit into one answer, each as `describe` has it.
Json first_that_fit(const std::vector<StoredMessage>& messages, const Limits& limits,
                    Json (*describe)(const StoredMessage&));
// The last of these messages that fit into one answer, briefly.
Json last_that_fit(const std::vector<StoredMessage>& messages, std::int64_t answer_bytes);

RpcError too_long_for_one_answer(std::size_t bytes, std::int64_t limit);
enum class Beyond { kNextPage, kRefused };  // what becomes of messages that one answer has no room for
// All messages behind `after`. Those beyond what fits: by "nextCursor", or error 4006 for the whole.
Json page_of_messages(Store& store, const Key& key, std::int64_t after, const Limits& limits, Beyond beyond);

}  // namespace rkllm_mcp::memory
