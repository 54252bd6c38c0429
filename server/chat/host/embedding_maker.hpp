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

// Makes one vector of length 1 from all rows; empty if the rows are all zero or there are none.
std::vector<float> pooled(const HiddenRows& rows, Pooling pooling, std::optional<std::size_t> dimensions);

class EmbeddingMaker {
 public:
  using DoneFunction = std::function<void(Embeddings)>;
  using FailedFunction = std::function<void(const TurnError&)>;
  // Called when the first input has been run, before the others: gets the first vector and the number of inputs. Throws
  // TurnError if all the vectors would be too much.
  using CheckFirstFunction = std::function<void(const std::vector<float>& first, std::size_t count)>;

  // Exactly one of the first two is called, and may destroy this. `check_first` may be null.
  EmbeddingMaker(EmbeddingWish wish, DoneFunction done, FailedFunction failed, CheckFirstFunction check_first);
  EmbeddingMaker(const EmbeddingMaker&) = delete;
  EmbeddingMaker& operator=(const EmbeddingMaker&) = delete;

  void begin(ModelLender& lender, PlaceWish wish);

 private:
  // The search for the longest beginning that fits, of a text that is too long. Nothing here counts tokens, so each try
  // is a run, which the runtime refuses or not. The number of runs is bounded, so a few more bytes might have fitted.
  struct Cut {
    std::size_t fits = 0;      // bytes
    std::size_t too_long = 0;  // bytes
    unsigned runs = 0;
    std::vector<float> vector{};  // of the `fits` bytes
    std::int64_t tokens = 0;      // in the `fits` bytes
  };

  void next();
  void run(std::size_t bytes);  // of the present input
  void take(const HiddenRows& rows);
  void run_failed(const HiddenRows& rows);
  void cut();  // once more, or takes what has fitted
  std::size_t bytes_to_try() const;
  void add(std::vector<float> vector, std::int64_t tokens);
  void fail(const TurnError& error);
  std::string field() const;  // the present input's
  std::int64_t context() const;

  EmbeddingWish wish_;
  const DoneFunction done_;
  const FailedFunction failed_;
  const CheckFirstFunction check_first_;
  const Clock::time_point begun_at_ = Clock::now();
  std::unique_ptr<QueuePlace> place_;
  std::unique_ptr<EmbeddingLease> lease_;
  Embeddings made_;
  std::size_t bytes_ = 0;  // of the present input, that are being run
  std::optional<Cut> cut_;
};

}  // namespace rkllm_mcp::chat
