#include "stream/collect_reader.hpp"

#include <limits>

namespace rkllm_mcp {

Json answer_of(const Collected& collected) {
  const CallOutcome& outcome = collected.outcome;
  Json answer = outcome.result.is_object() ? outcome.result : Json::object();
  answer["text"] = collected.texts.empty() ? std::string() : collected.texts.front();
  if (collected.texts.size() > 1) answer["texts"] = collected.texts;
  answer["state"] = outcome.state;
  if (outcome.values.is_object()) answer.update(outcome.values);
  if (!collected.token_ids.empty()) answer["token_ids"] = collected.token_ids;
  if (outcome.aborted) answer["aborted"] = true;
  return answer;
}

bool CollectReader::gathers(std::size_t bytes) {
  if (reached_) return false;
  text_bytes_ += bytes;
  if (text_bytes_ > options_.max_text_bytes) {
    reached_ = Limit::kMessageBytes;
  } else if (!share_.has_room_for(bytes)) {
    reached_ = Limit::kStreamMemory;
  }
  if (reached_) {
    count(options_.counts, *reached_);
    return false;
  }
  share_.set(text_bytes_);
  return true;
}

void CollectReader::fail(const std::exception_ptr& fault) {
  failed_ = true;
  stream()->stop();
  collected_ = {};
  collected_.outcome.error = fault;
  done_(std::move(collected_));
  finish();
}

void CollectReader::drain() {
  if (failed_) return;
  std::string news;
  while (auto chunk = stream()->take(true, std::numeric_limits<std::size_t>::max())) {
    if (collected_.texts.size() <= chunk->batch) collected_.texts.resize(chunk->batch + 1);
    if (!gathers(chunk->delta.size())) continue;
    collected_.texts[chunk->batch] += chunk->delta;
    collected_.token_ids.insert(collected_.token_ids.end(), chunk->token_ids.begin(), chunk->token_ids.end());
    if (progress_) news += chunk->delta;
  }
  if (reached_) stream()->stop();
  const bool ended = stream()->drained();
  if (progress_ && (!ended || !news.empty())) {
    progress_({news, stream()->tokens_so_far(), stream()->token_limit(), stream()->take_queue_position()});
  }
  if (!ended) return;
  collected_.outcome = stream()->take_outcome(options_.encoding);
  if (reached_) {
    const bool is_long = reached_ == Limit::kMessageBytes;
    collected_.outcome.error = std::make_exception_ptr(
        too_large(is_long ? "the answer is too long for one message; stream it"
                          : "the memory of all streams (stream.memory_bytes) is used up",
                  text_bytes_, is_long ? options_.max_text_bytes : share_.limit()));
  }
  done_(std::move(collected_));
  finish();
}

}  // namespace rkllm_mcp
