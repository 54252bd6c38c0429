// Gathers a stream for one answer at the end, and tells of the progress meanwhile.
#pragma once

#include "stream/stream_reader.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {

// A whole answer. `outcome.error` may be set, in which case the rest is what came before the failure.
struct Collected {
  std::vector<std::string> texts;       // one per batch entry; empty if the run had no text at all
  std::vector<std::int32_t> token_ids;  // only if the stream keeps tokens; of all entries, as they came
  CallOutcome outcome;
  MemoryShare memory{};  // what the texts take
};

// The answer as one object: {"status":0,"text":...,"state":...,"perf":...} and, where they apply, "texts", "token_ids",
// hidden states, logits and "aborted". Moves out what may be long.
Json answer_of(Collected& collected);

class CollectReader : public StreamReader {
 public:
  using DoneFunction = std::function<void(Collected)>;
  struct Step {
    std::string_view delta;                       // what came since the last step, of any batch entry
    std::uint64_t tokens;                         // so far
    std::uint64_t token_limit;                    // 0 if it is not known
    std::optional<std::size_t> queue_position{};  // see TokenStream::take_queue_position()
  };
  using ProgressFunction = std::function<void(const Step&)>;
  struct Options {
    std::size_t max_text_bytes = std::size_t{8} << 20U;  // of all texts; beyond, the run is stopped with error 4006
    MemoryBudget memory{};  // that the texts count in; when it is used up, the run is stopped, too
    Counts* counts = nullptr;
  };

  CollectReader(Options options, DoneFunction done, ProgressFunction progress = {})
      : options_(std::move(options)), share_(options_.memory), done_(std::move(done)), progress_(std::move(progress)) {}

 protected:
  void drain() override;
  void fail(const std::exception_ptr& fault) override;

 private:
  // Whether so much more may be gathered.
  bool gathers(std::size_t bytes);

  const Options options_;
  MemoryShare share_;  // of the texts; goes with them
  const DoneFunction done_;
  const ProgressFunction progress_;
  Collected collected_;
  std::size_t text_bytes_ = 0;
  bool ended_ = false;                // a wake-up may still be on its way
  std::optional<RpcError> overflow_;  // of the text, which was not gathered any further
};

}  // namespace rkllm_mcp
