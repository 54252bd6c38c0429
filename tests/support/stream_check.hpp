// Watches one stream of the direct dialect as its client must see it: every chunk of the exact form, seq from 0 without
// gaps, one end, nothing after it. Throws std::runtime_error with the message that breaks a rule.
//
// On a connection that may lose messages chunks may come in any order, again, or not at all; they are put in order, and
// missing() tells which one to ask for.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::test {

class StreamCheck {
 public:
  enum class Delivery { kInOrder, kLossy };

  StreamCheck(Json id, std::string_view method, Delivery delivery = Delivery::kInOrder)
      : id_(std::move(id)), method_(method), delivery_(delivery) {}

  // Takes a message of the stream; false if it belongs to something else.
  bool take(const Json& message);

  const Json& id() const { return id_; }
  bool ended() const { return ended_; }
  std::uint64_t missing() const { return next_seq_; }  // the first chunk that has not come
  bool has_gap() const { return !early_.empty(); }     // chunks after that one have come
  std::size_t chunks() const { return next_seq_; }
  const std::string& text() const { return text_; }
  const std::vector<int>& token_ids() const { return token_ids_; }
  // The last message's result without its chunk, or {"error":...} if an error ended the stream.
  const Json& ending() const { return ending_; }
  // What HTTP answers before anything is polled; null if that has not come.
  const Json& announcement() const { return announcement_; }

 private:
  bool is_outdated(const Json& error) const;
  void take_chunk(const Json& result, const Json& message);
  void append(const Json& result);

  Json id_;
  std::string method_;
  Delivery delivery_;
  std::map<std::uint64_t, Json> early_;  // results with chunks that came before their turn
  std::uint64_t next_seq_ = 0;
  bool ended_ = false;
  std::string text_;
  std::vector<int> token_ids_;
  Json ending_;
  Json announcement_;
};

}  // namespace rkllm_mcp::test
