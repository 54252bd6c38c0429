// The key-value cache of one sequence, as far as it can be seen from outside: which positions are filled, by what, and
// how much of the next prompt is already there. And a prompt cache, which is what of it is kept on disk.
//
// Not thread-safe: belongs to whoever runs on the handle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rkllm_mcp::sim {

// What fills a position: a token id, or, for rows of an embedding, a hash of the row with the top bit set.
using Cell = std::uint64_t;

inline constexpr Cell kEmbeddingCell = Cell{1} << 63;

// How a prompt enters the cache.
enum class Placement {
  kReuse,   // single turn: the longest common prefix with the previous single-turn prompt is kept, the rest dropped
  kFresh,   // everything that was there is dropped
  kAppend,  // behind what is there: history, a paused run, tool results
};

// A prompt in the cache, and the words of the caller in it.
struct Turn {
  std::size_t start = 0;
  std::string said;
};

class KvCache {
 public:
  // How many positions of a placed prompt were there before, and how many had to be computed.
  struct Placed {
    std::size_t reused = 0;
    std::size_t computed = 0;
  };
  // What became of a token that was to be added.
  enum class Pushed { kAdded, kReplaced, kFull };

  explicit KvCache(std::size_t capacity) : capacity_(capacity) {}

  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t size() const noexcept { return cells_.size(); }
  std::span<const Cell> cells() const noexcept { return cells_; }
  std::span<const Turn> turns() const noexcept { return turns_; }

  // Whether `prompt` fits if it is placed so. Appending drops the oldest turns for it if `drop_oldest_turns`.
  bool fits(std::span<const Cell> prompt, Placement placement, bool drop_oldest_turns) const;

  // Puts a prompt that fits into the cache. With kReuse at least its last token is computed.
  Placed place(std::span<const Cell> prompt, Placement placement, const std::string& said, std::size_t n_keep);

  // Adds a generated token. When the cache is full, a conversation (`keep_history`) loses its oldest turn, and if there
  // is only one, its oldest positions behind the first `n_keep`; a single turn loses its oldest generated positions.
  Pushed push(Cell token, bool keep_history, std::size_t n_keep);

  // Keeps the first `count` positions.
  void truncate(std::size_t count);
  void clear() { truncate(0); }
  // Takes out positions `start` to `end` - 1; the caller has checked 0 <= start < end <= size.
  void erase(std::size_t start, std::size_t end);
  // Fills the cache with a stored prompt that later single-turn prompts are matched against.
  void restore(std::vector<Cell> cells);
  // Later prompts find nothing in common with what is there.
  void forget_prompt() { matchable_ = 0; }

 private:
  bool drop_oldest_turn();

  std::size_t capacity_;
  std::vector<Cell> cells_;
  std::vector<Turn> turns_;
  std::size_t matchable_ = 0;   // the first positions, which hold a prompt that the next may share
  std::size_t prompt_end_ = 0;  // generated tokens come behind
  std::size_t oldest_ = 0;      // once full: the position that is overwritten next; 0: none was so far
};

// --- a prompt cache on disk: which cells a prompt fills, bound to the vocabulary that gives them meaning

// Why a file could not be read, by what rkllm_load_prompt_cache returns for it.
enum class CacheFileFault : int {
  kMissing = -1,  // no such file, or an empty one
  kForeign = 1,   // not a prompt cache, or that of another model
};

// A file that cannot be written is passed over in silence, as the vendor's library does.
void write_prompt_cache(const std::filesystem::path& path, std::string_view model, std::span<const Cell> cells);

std::variant<std::vector<Cell>, CacheFileFault> read_prompt_cache(const std::filesystem::path& path,
                                                                  std::string_view model);

}  // namespace rkllm_mcp::sim
