// Progress of one call on its way to a reader that may be slower than the sender: at most one update waits.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace rkllm_mcp {

class UnsentProgress {
 public:
  // Of what was not sent the newest counts; but messages that are parts of one text are joined.
  enum class Messages { kNewestCounts, kJoin };

  explicit UnsentProgress(Messages messages) : messages_(messages) {}

  // The parameters of notifications/progress, whatever they hold: only what the protocol knows of them is kept.
  void add(const Json& params);
  bool empty() const { return !update_; }
  std::size_t message_bytes() const { return message_.size(); }
  bool joins() const { return messages_ == Messages::kJoin; }
  // The update that waits, without its progressToken. Not to be called while empty().
  Json take();

 private:
  const Messages messages_;
  std::optional<Json> update_;
  std::string message_;
};

inline void UnsentProgress::add(const Json& params) {
  if (!params.is_object()) return;
  Json update = Json::object();
  for (const char* name : {"progress", "total"}) {
    const auto found = params.find(name);
    if (found != params.end() && found->is_number()) update[name] = *found;
  }
  if (!update.contains("progress")) return;
  update_ = std::move(update);
  const auto message = params.find("message");
  const bool has_message = message != params.end() && message->is_string();
  if (!joins()) message_.clear();
  if (has_message) message_ += message->get_ref<const std::string&>();
}

inline Json UnsentProgress::take() {
  Json params = *std::exchange(update_, std::nullopt);
  if (!message_.empty()) params["message"] = std::exchange(message_, {});
  return params;
}

}  // namespace rkllm_mcp
