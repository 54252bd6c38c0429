// An endless supply of messages that are wrong, each with what it must be answered.
#pragma once

#include <cstddef>
#include <optional>
#include <random>
#include <string>

namespace rkllm_mcp::test {

struct MalformedMessage {
  std::string text;         // on one line
  std::string id;           // of the answer, as JSON
  std::optional<int> code;  // nothing: must not be answered
  bool is_utf8 = true;
  bool wrong_over_http = true;  // POST /jsonrpc takes some messages that no other transport takes
};

class MalformedMessages {
 public:
  // `limit` is limits.max_message_bytes of the server: some messages are longer.
  MalformedMessages(unsigned seed, std::size_t limit) : random_(seed), limit_(limit) {}

  // All kinds come equally often. No two messages that carry an id carry the same.
  MalformedMessage next();

 private:
  std::mt19937 random_;
  const std::size_t limit_;
  int id_ = 0;
};

}  // namespace rkllm_mcp::test
