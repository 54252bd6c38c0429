// Streams that can be polled from anywhere by their unguessable id. Event loop only.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace rkllm_mcp {

class PollReader;

class StreamRegistry {
 public:
  void add(const std::string& stream_id, std::weak_ptr<PollReader> reader) { readers_[stream_id] = std::move(reader); }
  void remove(const std::string& stream_id) { readers_.erase(stream_id); }
  // Expired if there is none (any more).
  std::weak_ptr<PollReader> find(const std::string& stream_id) const {
    const auto found = readers_.find(stream_id);
    return found == readers_.end() ? std::weak_ptr<PollReader>() : found->second;
  }

 private:
  std::unordered_map<std::string, std::weak_ptr<PollReader>> readers_;
};

}  // namespace rkllm_mcp
