// Conversations that go on from one call of the tool `chat` to the next: the memory server keeps them, by the name of
// the access token that began them, as it keeps everybody else's. They are all that was said, and no system text.
//
// Event loop only; what is read is parsed on a thread beside it.
#pragma once

#include "auth/access_tokens.hpp"
#include "chat/mcp/memory_client.hpp"
#include "chat/turn/turn.hpp"
#include "mcp/service.hpp"
#include "side_thread.hpp"

#include <asio/io_context.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace rkllm_mcp::chat {

// One question and what came of it.
struct QuestionAndAnswer {
  std::string question{};
  std::string answer{};
  bool is_partial = false;  // the answer was stopped, or nobody waited for its end
};

class Conversations {
 public:
  // What a model is told of a conversation at most: its latest messages.
  static constexpr std::size_t kMostMessages = 200;
  static constexpr std::size_t kMostBytes = std::size_t{256} << 10U;

  // `memory`: the memory server, which outlives this; null: there are none.
  Conversations(asio::io_context& loop, const mcp::Service* memory);
  Conversations(const Conversations&) = delete;
  Conversations& operator=(const Conversations&) = delete;

  bool available() const { return memory_.has_server(); }

  struct Recalled {
    std::vector<ChatMessage> messages{};
    std::size_t left_out = 0;    // older ones
    std::exception_ptr error{};  // not null: why they could not be read
  };
  // What was said in it so far; nothing if there is no such conversation. Never calls back from inside.
  void recall(const std::string& id, const Principal& who, std::function<void(Recalled)> done);
  // Adds to it. `done`, not null, gets an error or none, perhaps from inside; `who` must live until then.
  void keep(const std::string& id, const Principal& who, QuestionAndAnswer said,
            std::function<void(std::exception_ptr error)> done);

 private:
  MemoryClient memory_;  // ends after what reads for it
  SideThread reading_;
};

// The latest of `messages`, as memory/get_all_messages gives them, within the bounds above and from a user's on.
Conversations::Recalled latest_of(const Json& messages);

}  // namespace rkllm_mcp::chat
