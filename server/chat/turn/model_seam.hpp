// All that the chat host needs of a loaded model. The server's backend stands behind it; tests put a scripted one
// there. Nothing else of a handle is used: no history of the runtime's own, no template of its own, no tools of its
// own.
//
// Threads: all calls and all callbacks on the event loop, one run at a time. What a function has to tell comes through
// its callback, exactly once and never from inside the function.
#pragma once

#include "chat/turn/turn.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

// Facts that do not change while a model is loaded.
struct ModelFacts {
  std::string name;             // by which clients ask for it
  std::string handle{};         // that it is loaded into
  std::string file_name;        // without its folder: tells the family
  std::string runtime_version;  // "1.3.0"
  std::int64_t max_context_len = 0;
  Sampling preset{};
  bool has_run_options = false;  // sampling and max_new_tokens for each run: runtime 1.3.0 and later
  bool has_kv_size = false;      // size of the KV cache and perf figures: 1.2.1 and later
  std::int64_t n_batch = 1;      // how many prompts a run has; turns need handles with 1
  std::string template_name{};   // models.NAME.template; empty: file_name tells the family
  // All that a prompt cache depends on besides the prompt: version of the runtime, model file with its size and time,
  // context, adapter. If this text differs, so do the caches. Empty: it is not known for certain, so there are none.
  std::string cache_identity{};
  bool shows_special_tokens = false;  // loaded with skip_special_token=false
};

struct RunOptions {
  Sampling sampling{};
  std::int64_t max_new_tokens = 1;
  bool enable_thinking = true;  // what the runtime's own template is told; where that is off it has no effect
  std::string save_cache_to{};  // a path: the KV cache is written there after the prefill; empty: not
};

enum class RunEnd { kFinished, kAborted, kFailed };

// How a run ended. After kFailed the KV cache is empty.
struct RunReport {
  RunEnd end = RunEnd::kFailed;
  std::string complaint{};  // kFailed: what the runtime has said
  bool lost = false;        // kFailed: the process that ran the model has died
  bool broke_off = false;   // kFailed: the run had begun, so that its prompt fitted into the context
  bool cache_saved = true;  // false: it was to be written to a file, and has not been; the run itself went well
  std::int64_t tokens = 0;  // callbacks with a token
  std::optional<std::int64_t> kv_size{};
  std::optional<std::int64_t> prefill_tokens{};
  std::optional<double> prefill_ms{};
  std::optional<double> generate_ms{};
};

class ModelSeam {
 public:
  virtual ~ModelSeam() = default;

  virtual const ModelFacts& facts() const = 0;
  // Counts whatever has changed the KV cache, the template, the tools, a cache or an adapter of this handle without us.
  // A host that finds another number than before sets the template again and takes the next run to be a cold one.
  virtual std::uint64_t foreign_changes() const = 0;

  // Switches the runtime's own template off, which empties the KV cache. `done` gets an empty text, or a complaint.
  virtual void clear_template(std::function<void(std::string complaint)> done) = 0;
  // Runs `prompt` as it is, with keep_history=0. `on_token` gets each token's text: bytes, perhaps empty, perhaps half
  // a character.
  virtual void run(std::string prompt, const RunOptions& options, std::function<void(std::string_view text)> on_token,
                   std::function<void(const RunReport&)> done) = 0;
  // The run ends at its next token; never pauses it, since the next run would be appended. A prefill runs to its end.
  virtual void abort() = 0;
  // The answer's reader is slow: until go_on() no token comes, and the run waits when it has made as many as may wait.
  // Both do nothing between runs; a run begins not held. abort() also ends the holding.
  virtual void hold() = 0;
  virtual void go_on() = 0;
  // False: the next run starts cold. Any result of the runtime but 0 counts as that.
  virtual void load_cache(const std::string& path, std::function<void(bool loaded)> done) = 0;
};

// How the rows of a run's last hidden layer become one row.
enum class Pooling { kLast, kMean, kFirst };

struct EmbeddingFacts {
  std::int64_t max_context_len = 0;
  Pooling pooling = Pooling::kLast;  // models.NAME.embeddings.pooling: last, mean, cls
  std::string suffix{};              // behind each input, e.g. "<|endoftext|>"
  std::int64_t n_batch = 1;          // how many inputs a run has; embeddings need handles with 1
};

// The last hidden layer of one input: a row for each token.
struct HiddenRows {
  std::string complaint{};      // not empty: the run failed, and what the runtime has said
  bool is_refused = false;      // it failed before it began, as that of too long a text does
  bool is_unsupported = false;  // this runtime cannot give such rows
  std::vector<float> values{};
  std::size_t rows = 0;
  std::size_t columns = 0;
};

// A handle of its own for embeddings. Same threads and callbacks as ModelSeam.
class EmbeddingSeam {
 public:
  virtual ~EmbeddingSeam() = default;

  virtual const EmbeddingFacts& facts() const = 0;
  // The runtime's own template is off, and the KV cache is cleared before the run: rows of cached tokens would be
  // missing in the result. A text that does not fit into the context is a complaint.
  virtual void hidden_rows(std::string text, std::function<void(HiddenRows)> done) = 0;
};

}  // namespace rkllm_mcp::chat
