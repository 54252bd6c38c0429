#include "memory/answers.hpp"

#include "jsonrpc/envelope.hpp"
#include "jsonrpc/unread.hpp"

#include <charconv>
#include <iterator>
#include <utility>

namespace rkllm_mcp::memory {

bool AnswerRoom::has(const Json& entry) {
  bytes_ -= static_cast<std::int64_t>(to_text(entry).size()) + 1;
  return std::exchange(is_first_, false) || bytes_ >= 0;
}

Json brief_message(const StoredMessage& message) {
  return Json{{"role", name_of(message.role)}, {"content", message.content}};
}

Json whole_message(const StoredMessage& message) {
  Json whole = brief_message(message);
  whole["timestamp"] = timestamp_of(message.created);
  if (!message.metadata.empty()) whole["metadata"] = Json::parse(message.metadata);
  return whole;
}

Json conversation_entry(const Conversation& each) {
  return Json{{"conversation_id", each.key.id},
              {"title", each.title},
              {"messages", each.messages},
              {"bytes", each.bytes},
              {"created_at", timestamp_of(each.created)},
              {"updated_at", timestamp_of(each.updated)}};
}

Json hit_entry(const Hit& hit) {
  Json entry{{"conversation_id", hit.id}};
  entry.update(whole_message(hit.message));
  if (hit.is_cut) entry["truncated"] = true;
  return entry;
}

Json summary_content(const std::optional<Summary>& summary) {
  if (!summary) return Json{{"text", ""}, {"covers", 0}, {"updated_at", nullptr}};
  return Json{{"text", summary->text}, {"covers", summary->covers}, {"updated_at", timestamp_of(summary->updated)}};
}

Json status_answer(const char* status, const Key& key) { return Json{{"status", status}, {"conversation_id", key.id}}; }

std::int64_t number_of(const std::optional<std::string>& cursor) {
  if (!cursor) return 0;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(cursor->data(), cursor->data() + cursor->size(), number);
  if (error != std::errc() || end != cursor->data() + cursor->size() || number < 1) {
    throw InvalidParams("params.cursor", "not a cursor of this list");
  }
  return number;
}

Json first_that_fit(const std::vector<StoredMessage>& messages, const Limits& limits,
                    Json (*describe)(const StoredMessage&)) {
  AnswerRoom room(limits.bytes);
  Json array = Json::array();
  for (const StoredMessage& message : messages) {
    Json entry = describe(message);
    if (static_cast<std::int64_t>(array.size()) == limits.count || !room.has(entry)) break;
    array.push_back(std::move(entry));
  }
  return array;
}

Json last_that_fit(const std::vector<StoredMessage>& messages, std::int64_t answer_bytes) {
  AnswerRoom room(answer_bytes);
  std::vector<Json> newest_first;
  for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
    Json entry = brief_message(*message);
    if (!room.has(entry)) break;
    newest_first.push_back(std::move(entry));
  }
  return Json(
      std::vector<Json>(std::make_move_iterator(newest_first.rbegin()), std::make_move_iterator(newest_first.rend())));
}

RpcError too_long_for_one_answer(std::size_t bytes, std::int64_t limit) {
  return too_large(
      "the conversation is longer than one answer (limits.max_message_bytes); ask for it in pages, with "
      "\"limit\" and \"cursor\"",
      bytes, static_cast<std::size_t>(limit));
}

Json page_of_messages(Store& store, const Key& key, std::int64_t after, const Limits& limits, Beyond beyond) {
  const auto messages = store.messages(key, after, limits);
  const auto last = store.recent(key, {1});
  Json page{{"messages", first_that_fit(messages, limits, whole_message)}};
  const std::size_t shown = page["messages"].size();
  if (shown == 0 || messages.at(shown - 1).seq >= last.front().seq) return page;
  if (beyond == Beyond::kRefused) {
    throw too_long_for_one_answer(static_cast<std::size_t>(store.find(key)->bytes), limits.bytes);
  }
  page["nextCursor"] = std::to_string(messages.at(shown - 1).seq);
  return page;
}

}  // namespace rkllm_mcp::memory
