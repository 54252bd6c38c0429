// Embeddings of a list of texts: one run for each, on a handle of their own, the rows of the last hidden layer pooled
// and normalised. Event loop only; callbacks as in TurnMaker.
#pragma once

#include "chat/turn/embedding.hpp"
#include "chat/turn/model_lender.hpp"
#include "chat/turn/turn_error.hpp"
#include "clock.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp::chat {

// One row of many, of length 1; empty if the rows are all zero or there are none.
std::vector<float> pooled(const HiddenRows& rows, Pooling pooling, std::optional<std::size_t> dimensions);

class EmbeddingMaker {
 public:
  using DoneFunction = std::function<void(const Embeddings&)>;
  using FailedFunction = std::function<void(const TurnError&)>;

  // Exactly one of the two is called, and may destroy this.
  EmbeddingMaker(EmbeddingWish wish, DoneFunction done, FailedFunction failed);
  EmbeddingMaker(const EmbeddingMaker&) = delete;
  EmbeddingMaker& operator=(const EmbeddingMaker&) = delete;

  void begin(ModelLender& pool, PlaceWish place);

 private:
  void next();
  void take(const HiddenRows& rows);
  void fail(const TurnError& error);

  EmbeddingWish wish_;
  const DoneFunction done_;
  const FailedFunction failed_;
  const Clock::time_point begun_at_ = Clock::now();
  std::unique_ptr<QueuePlace> ticket_;
  std::unique_ptr<EmbeddingLease> lease_;
  Embeddings made_;
};

}  // namespace rkllm_mcp::chat
