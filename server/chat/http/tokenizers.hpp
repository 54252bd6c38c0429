// The tokenizers that lie beside models: MODEL.tokenizer.json beside MODEL.rkllm, or tokenizer.json where the model's
// file is the only one of its folder. Each is read when it is first asked for, and again when it has changed; the two
// that were used last are kept, some tens of megabytes each.
#pragma once

#include "chat/tokenizer/tokenizer.hpp"
#include "side_thread.hpp"

#include <asio/io_context.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rkllm_mcp::chat {

class Tokenizers {
 public:
  // `warn` is told, on the event loop, of a file that is not understood: its path, and why.
  using WarnFunction = std::function<void(const std::string& path, const std::string& why)>;
  Tokenizers(asio::io_context& loop, WarnFunction warn) : thread_(loop), warn_(std::move(warn)) {}

  // `work` gets the tokenizer beside the model of that path, on a thread beside the loop, or null: there is none that
  // is understood. It must not throw. Then `then` is called on the loop, which this is to be called on, too.
  void use(std::string model_path, std::function<void(const Tokenizer*)> work, std::function<void()> then);

 private:
  struct Kept {
    std::string path;
    std::int64_t modified_ns;
    std::int64_t bytes;
    std::unique_ptr<const Tokenizer> tokenizer;  // null: not understood
  };

  // On the thread, where it is kept until the next one is asked for. Null: none that is understood. What is wrong with
  // a file that is read now is appended to `complaint`.
  const Tokenizer* beside(const std::string& model_path, std::string& path, std::string& complaint);

  // Only the thread uses these.
  std::vector<Kept> kept_;  // the one that was used last is the last
  std::string unreadable_;  // the file that could not be read last
  SideThread thread_;       // ends before what it uses
  const WarnFunction warn_;
};

}  // namespace rkllm_mcp::chat
