// A simulated model: a small JSON file that stands where a board has gigabytes of weights. README.md documents the
// fields; what is absent has the default given here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp::sim {

enum class Language { kEnglish, kVietnamese, kChinese, kJapanese, kEmoji };
inline constexpr std::size_t kLanguageCount = 5;

// The chat template that a model brings along.
enum class Template {
  kChatMl,
  kNone,         // prompts are used as they are, after a BOS token
  kUnparseable,  // it cannot be used: prompts fail until rkllm_set_chat_template replaces it
};

// What goes wrong on purpose.
struct Fault {
  enum class What {
    kFail,         // the call returns -1, without a callback
    kError,        // the run delivers RKLLM_RUN_ERROR and returns -1; not at init
    kCrash,        // SIGSEGV
    kHang,         // the calling thread blocks for ever
    kLog,          // an error line, and nothing else
    kOutOfMemory,  // at init only: an error line, then SIGSEGV, as runtime 1.3.0 does when NPU memory runs out
  };
  std::int64_t token = 0;  // 0: at init; N: instead of the run's N-th result callback
  What what = What::kFail;
};

struct ModelFile {
  std::string name;                            // contains SIMULATED
  std::string description;                     // for the reader
  std::string platform;                        // e.g. RK3588; empty: runs anywhere
  std::optional<std::string> toolkit_version;  // absent: as new as the runtime; empty: the file does not say
  std::size_t npu_memory_mb = 0;               // of its IOMMU domain; 0: not counted
  int npu_cores = 1;                           // enabled_cpus_num must not be below it
  std::int32_t vocab_size = 32000;             // rows of logits have this width; ids from here on do not exist
  std::int32_t embedding_size = 64;            // floats per embedding and per hidden state
  std::int32_t max_context_len = 4096;         // tokens; rkllm_init refuses more
  double prefill_tokens_per_s = 0;             // 0: as fast as possible
  double decode_tokens_per_s = 0;              // 0: as fast as possible
  std::array<unsigned, kLanguageCount> languages{4, 2, 2, 1, 1};  // weights of the text mix, by Language
  std::array<std::size_t, 2> answer_tokens{40, 120};              // shortest and longest answer, thinking not counted
  bool thinking = false;                                          // writes a <think> block first unless told not to
  Template chat_template = Template::kChatMl;
  std::string default_system;               // a system block that the model's own template puts into every turn
  std::vector<std::string> special_tokens;  // texts that are one token each, hidden by skip_special_token
  bool tokenizer = true;                    // false: needs the caller's tokenizer_callback
  bool embeddings = true;                   // false: needs the caller's embed_callback
  bool cross_attention = false;             // true: a custom model that takes rkllm_set_cross_attn_params
  bool reuses_prefix = true;                // false: recurrent architectures, which compute every prompt anew
  std::size_t image_patch = 0;  // pixels; (width / patch) * (height / patch) must be n_image_tokens; 0: unchecked
  std::vector<Fault> faults;
};

// Throws std::runtime_error with a line that says what is wrong and where: no such file, not a simulated model (the
// mark `"rkllm_simulated_model": 1` is missing), an unknown field, a value out of range.
ModelFile read_model_file(const std::filesystem::path& path);

}  // namespace rkllm_mcp::sim
