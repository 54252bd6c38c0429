// Where answers are kept that a client has asked to keep (`store` of the Responses API), each with the conversation
// that it ends, so that the next request need only name it.
//
// Threads: all calls and all callbacks on the event loop. A callback never comes from inside recall(), may come from
// inside keep(), and none comes after the store's end.
#pragma once

#include "chat/turn/turn_error.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace rkllm_mcp::chat {

class ResponseStore {
 public:
  virtual ~ResponseStore() = default;

  struct Recalled {
    Json items = Json::array();  // as the Responses API has them, from the conversation's first to the answer's last
    std::size_t bytes = 0;       // of their text
    std::optional<TurnError> error{};  // then nothing else counts
  };
  using RecalledFunction = std::function<void(Recalled)>;
  using KeptFunction = std::function<void(std::optional<TurnError> error)>;

  // What was kept under that id, of the same asker; kNotKept if nothing is.
  virtual void recall(const std::string& id, const std::string& asker, RecalledFunction done) = 0;
  // Keeps it for the time that the settings say; it is safe when `done` is called without an error.
  virtual void keep(const std::string& id, const std::string& asker, Json items, KeptFunction done) = 0;
};

}  // namespace rkllm_mcp::chat
