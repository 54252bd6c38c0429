#include "stream/collect_reader.hpp"

#include <limits>
#include <new>
#include <utility>

namespace rkllm_mcp {

Json answer_of(Collected& collected) {
  CallOutcome& outcome = collected.outcome;
  Json answer = outcome.result.is_object() ? std::move(outcome.result) : Json::object();
  answer["text"] = collected.texts.empty() ? std::string() : collected.texts.front();
  if (collected.texts.size() > 1) answer["texts"] = std::move(collected.texts);
  answer["state"] = outcome.state;
  if (outcome.values.is_object()) {
    for (auto member = outcome.values.begin(); member != outcome.values.end(); ++member) {
      answer[member.key()] = std::move(member.value());  // of millions of numbers there should be one copy
    }
  }
  if (!collected.token_ids.empty()) answer["token_ids"] = collected.token_ids;
  if (outcome.aborted) answer["aborted"] = true;
  return answer;
}

bool CollectReader::gathers(std::size_t bytes) {
  if (overflow_) return false;
  text_bytes_ += bytes;
  if (text_bytes_ > options_.max_text_bytes) {
    overflow_ = too_large("the answer is too long for one message; stream it", text_bytes_, options_.max_text_bytes);
    count(options_.counts, Limit::kMessageBytes);
  } else if (!share_.has_room_for(bytes)) {
    auto full = no_stream_memory(share_, bytes, text_bytes_);
    overflow_ = std::move(full.error);
    count(options_.counts, full.limit);
  }
  if (overflow_) return false;
  share_.set(text_bytes_);
  return true;
}

void CollectReader::fail(const std::exception_ptr& fault) {
  ended_ = true;
  stream()->stop();
  collected_ = {};
  collected_.outcome.error = fault;
  done_(std::move(collected_));
  finish();
}

void CollectReader::drain() {
  if (ended_) return;
  std::string news;
  while (auto chunk = stream()->take(ChunkOf::kAllThatWaits, std::numeric_limits<std::size_t>::max())) {
    if (collected_.texts.size() <= chunk->batch) collected_.texts.resize(chunk->batch + 1);
    if (!gathers(chunk->delta.size())) continue;
    collected_.texts[chunk->batch] += chunk->delta;
    collected_.token_ids.insert(collected_.token_ids.end(), chunk->token_ids.begin(), chunk->token_ids.end());
    if (progress_) news += chunk->delta;
  }
  if (overflow_) stream()->stop();
  const bool ended = stream()->drained();
  if (progress_ && (!ended || !news.empty())) {
    progress_({news, stream()->tokens_so_far(), stream()->token_limit(), stream()->take_queue_position()});
  }
  if (!ended) return;
  ended_ = true;
  collected_.outcome = stream()->take_outcome();
  collected_.memory = std::move(share_);
  if (overflow_) collected_.outcome.error = std::make_exception_ptr(*overflow_);
  try {
    done_(std::move(collected_));
  } catch (const std::bad_alloc&) {
    collected_ = Collected();
    collected_.outcome.error = std::current_exception();
    done_(std::move(collected_));
  }
  finish();
}

}  // namespace rkllm_mcp
