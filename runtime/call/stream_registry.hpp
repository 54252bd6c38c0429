// Streams that can be polled from anywhere by their unguessable id. Event loop only.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace rkllm_mcp {

class PollReader;

class StreamRegistry {
 public:
  void add(const std::string& stream_id, const std::shared_ptr<PollReader>& reader) { readers_[stream_id] = reader; }
  void remove(const std::string& stream_id) { readers_.erase(stream_id); }
  // Null if there is none (any more).
  std::shared_ptr<PollReader> find(const std::string& stream_id) const {
    const auto found = readers_.find(stream_id);
    return found == readers_.end() ? nullptr : found->second.lock();
  }

 private:
  std::unordered_map<std::string, std::weak_ptr<PollReader>> readers_;
};

}  // namespace rkllm_mcp
