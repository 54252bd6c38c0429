#include "cli/answer_follower.hpp"

#include "json_members.hpp"

#include <string_view>
#include <utility>

namespace rkllm_mcp {
namespace {

// How many chunks that came before their turn are kept; the others can be asked for again.
constexpr std::size_t kMostEarly = 4096;

bool is_true(const Json& object, const char* name) {
  const Json* value = member_of(object, name);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

}  // namespace

std::string AnswerFollower::take(const Json& message) {
  const Json* id = member_of(message, "id");
  const Json* error = member_of(message, "error");
  if (error != nullptr && error->is_null() && member_of(message, "result") != nullptr) error = nullptr;  // as of 1.0
  const bool is_ours = id != nullptr && *id == id_;
  if (error != nullptr && is_ours && is_outdated(*error)) return {};
  if (error != nullptr && (is_ours || (id != nullptr && id->is_null()))) {
    state_ = State::kFailed;
    error_ = *error;
    return {};
  }
  if (const Json* result = member_of(message, "result"); result != nullptr && is_ours) return take_reply(*result);
  if (const Json* params = member_of(message, "params"); params != nullptr && id == nullptr)
    return take_announced(*params);
  return {};
}

bool AnswerFollower::is_outdated(const Json& error) const {
  if (delivery_ == Delivery::kReliable) return false;
  const Json* data = member_of(error, "data");
  const Json* from_seq = data == nullptr ? nullptr : member_of(*data, "from_seq");
  return from_seq != nullptr && from_seq->is_number_integer() && from_seq->get<std::uint64_t>() < next_seq_;
}

std::string AnswerFollower::take_reply(const Json& result) {
  if (const Json* chunk = member_of(result, "chunk")) {
    if (is_true(*chunk, "end")) note_end(result);
    return take_chunk(*chunk);
  }
  if (const Json* stream_id = member_of(result, "stream_id")) {
    stream_id_ = *stream_id;
    return {};
  }
  if (result.is_object() && result.size() == 1 && result.contains("queue_position")) return {};  // the call waits
  if (is_true(result, "isError")) {
    state_ = State::kFailed;
    error_ = result;
    return {};
  }
  state_ = State::kSucceeded;
  result_ = result;
  const std::string text = text_in(result, "text");
  return text.empty() ? result.dump() : text;
}

std::string AnswerFollower::take_chunk(const Json& chunk) {
  has_begun_ = true;
  const bool is_last = is_true(chunk, "end");
  if (text_in(chunk, "delta").empty() && !is_last && !chunk.contains("token_id"))
    return {};  // a poll found nothing new
  if (delivery_ == Delivery::kReliable) return append(chunk);
  const auto seq = chunk.value("seq", std::uint64_t{0});
  if (seq == next_seq_ || (seq > next_seq_ && early_.size() < kMostEarly)) early_.emplace(seq, chunk);
  std::string text;
  for (auto next = early_.find(next_seq_); next != early_.end(); next = early_.find(next_seq_)) {
    text += append(next->second);
    early_.erase(next);
  }
  return text;
}

// The message that ends a stream, without what only carries text.
void AnswerFollower::note_end(Json message) {
  for (const char* name : {"chunk", "stream_id", "seq", "delta", "end", "error"}) message.erase(name);
  result_ = std::move(message);
}

std::string AnswerFollower::append(const Json& chunk) {
  ++next_seq_;
  if (is_true(chunk, "end")) state_ = State::kSucceeded;
  if (const Json* error = member_of(chunk, "error")) {
    state_ = State::kFailed;
    error_ = *error;
  }
  return text_in(chunk, "delta");
}

std::string AnswerFollower::take_announced(const Json& params) {
  const Json* stream_id = member_of(params, "stream_id");
  if (stream_id == nullptr || stream_id_.is_null() || *stream_id != stream_id_) return {};
  if (is_true(params, "end")) note_end(params);
  return take_chunk(params);
}

Json AnswerFollower::recovery() const {
  return {{"jsonrpc", "2.0"}, {"id", id_}, {"method", "poll"}, {"params", {{"from_seq", next_seq_}}}};
}

}  // namespace rkllm_mcp
