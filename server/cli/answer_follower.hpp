// Follows the answer to one request through a server's messages: a single reply, chunks with the request's id, or a
// stream_id and what is announced under it.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace rkllm_mcp {

class AnswerFollower {
 public:
  enum class State { kOpen, kSucceeded, kFailed };
  // Whether chunks may arrive twice, in another order, or not at all.
  enum class Delivery { kReliable, kUnreliable };

  AnswerFollower(Json id, Delivery delivery) : id_(std::move(id)), delivery_(delivery) {}

  // Takes the server's next message and returns the text for people that it adds: what was generated, or a result that
  // is no text as JSON. Messages that belong to nothing asked for add nothing.
  std::string take(const Json& message);

  State state() const { return state_; }
  const Json& error() const { return error_; }  // once the state is kFailed
  // Once the answer is there: what came with it beside its text (state, status, perf, ...); null if nothing.
  const Json& result() const { return result_; }
  // True while chunks have come that do not follow on what was taken: they wait until the missing ones come.
  bool has_gap() const { return !early_.empty(); }
  std::uint64_t next_seq() const { return next_seq_; }  // of the chunk that is to be taken next
  bool has_begun() const { return has_begun_; }         // a chunk has come
  // Asks again for the chunks that are missing, once the answer has begun.
  Json recovery() const;

 private:
  // Whether the error says that chunks are gone which have come after all, since they were asked for again.
  bool is_outdated(const Json& error) const;
  std::string take_reply(const Json& result);
  std::string take_chunk(const Json& chunk);
  void note_end(Json message);
  std::string append(const Json& chunk);
  std::string take_announced(const Json& params);

  Json id_;
  Delivery delivery_;
  State state_ = State::kOpen;
  Json error_;
  Json result_;
  Json stream_id_;  // null: chunks come with the request's id
  std::uint64_t next_seq_ = 0;
  bool has_begun_ = false;
  std::map<std::uint64_t, Json> early_;  // chunks that came before their turn
};

}  // namespace rkllm_mcp
