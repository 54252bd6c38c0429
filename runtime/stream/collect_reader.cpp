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

void CollectReader::drain() {
  std::string news;
  while (auto chunk = stream()->take(true, std::numeric_limits<std::size_t>::max())) {
    if (collected_.texts.size() <= chunk->batch) collected_.texts.resize(chunk->batch + 1);
    if (too_long_) continue;
    text_bytes_ += chunk->delta.size();
    too_long_ = text_bytes_ > options_.max_text_bytes || !share_.has_room_for(chunk->delta.size());
    if (too_long_) continue;
    share_.set(text_bytes_);
    collected_.texts[chunk->batch] += chunk->delta;
    collected_.token_ids.insert(collected_.token_ids.end(), chunk->token_ids.begin(), chunk->token_ids.end());
    if (progress_) news += chunk->delta;
  }
  if (too_long_) stream()->stop();
  const bool ended = stream()->drained();
  if (progress_ && (!ended || !news.empty())) {
    progress_({news, stream()->tokens_so_far(), stream()->token_limit(), stream()->take_queue_position()});
  }
  if (!ended) return;
  collected_.outcome = stream()->take_outcome(options_.encoding);
  if (too_long_) {
    collected_.outcome.error = std::make_exception_ptr(
        too_large("the answer is too long for one message; stream it", text_bytes_, options_.max_text_bytes));
  }
  done_(std::move(collected_));
  finish();
}

}  // namespace rkllm_mcp
