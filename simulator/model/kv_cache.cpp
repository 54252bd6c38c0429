#include "model/kv_cache.hpp"

#include "answers/random.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace rkllm_mcp::sim {

bool KvCache::fits(std::span<const Cell> prompt, Placement placement, bool drop_oldest_turns) const {
  if (prompt.size() > capacity_) return false;
  return placement != Placement::kAppend || drop_oldest_turns || cells_.size() + prompt.size() <= capacity_;
}

KvCache::Placed KvCache::place(std::span<const Cell> prompt, Placement placement, const std::string& said,
                               std::size_t n_keep) {
  std::size_t reused = 0;
  if (placement == Placement::kReuse && !prompt.empty()) {
    const std::size_t most = std::min(matchable_, prompt.size() - 1);
    while (reused < most && cells_[reused] == prompt[reused]) ++reused;
  }
  if (placement != Placement::kAppend) {
    truncate(reused);
    turns_.clear();
  }
  const auto overflow = [&] {
    const std::size_t wanted = cells_.size() - reused + prompt.size();
    return wanted > capacity_ ? wanted - capacity_ : 0;
  };
  while (overflow() > 0 && drop_oldest_turn()) {
  }
  if (const std::size_t excess = overflow(); excess > 0) {
    const std::size_t first = std::min(n_keep, cells_.size() - excess);
    erase(first, first + excess);
  }
  turns_.push_back({placement == Placement::kAppend ? cells_.size() : 0, said});
  cells_.insert(cells_.end(), prompt.begin() + static_cast<std::ptrdiff_t>(reused), prompt.end());
  if (placement != Placement::kAppend) matchable_ = cells_.size();
  prompt_end_ = cells_.size();
  oldest_ = 0;
  return {reused, prompt.size() - reused};
}

KvCache::Pushed KvCache::push(Cell token, bool keep_history, std::size_t n_keep) {
  if (cells_.size() == capacity_ && keep_history && turns_.size() > 1) drop_oldest_turn();
  if (cells_.size() < capacity_) {
    cells_.push_back(token);
    return Pushed::kAdded;
  }
  const std::size_t first = keep_history && prompt_end_ < capacity_ ? std::min(n_keep, capacity_ - 1) : prompt_end_;
  if (first >= capacity_) return Pushed::kFull;
  if (oldest_ < first || oldest_ >= capacity_) oldest_ = first;
  matchable_ = std::min(matchable_, oldest_);
  cells_[oldest_++] = token;
  return Pushed::kReplaced;
}

void KvCache::truncate(std::size_t count) {
  // A turn that loses its end is no longer remembered.
  std::size_t end = cells_.size();
  while (!turns_.empty() && end > count) {
    end = turns_.back().start;
    turns_.pop_back();
  }
  cells_.resize(std::min(count, cells_.size()));
  matchable_ = std::min(matchable_, count);
  prompt_end_ = std::min(prompt_end_, count);
  oldest_ = 0;
}

void KvCache::erase(std::size_t start, std::size_t end) {
  cells_.erase(cells_.begin() + static_cast<std::ptrdiff_t>(start), cells_.begin() + static_cast<std::ptrdiff_t>(end));
  const auto moved = [&](std::size_t position) {
    return position <= start ? position : std::max(position, end) - (end - start);
  };
  std::erase_if(turns_, [&](const Turn& turn) { return turn.start >= start && turn.start < end; });
  for (Turn& turn : turns_) turn.start = moved(turn.start);
  matchable_ = std::min(matchable_, start);
  prompt_end_ = moved(prompt_end_);
  oldest_ = 0;
}

void KvCache::restore(std::vector<Cell> cells) {
  clear();
  cells_ = std::move(cells);
  matchable_ = prompt_end_ = cells_.size();
}

// Never the newest turn. False if there is no other.
bool KvCache::drop_oldest_turn() {
  if (turns_.size() < 2) return false;
  erase(turns_[0].start, turns_[1].start);
  return true;
}

namespace {

std::string header(std::string_view model) { return "rkllm simulator prompt cache 1\n" + std::string(model) + "\n"; }

}  // namespace

void write_prompt_cache(const std::filesystem::path& path, std::string_view model, std::span<const Cell> cells) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << header(model) << bytes_of(cells);
}

std::variant<std::vector<Cell>, CacheFileFault> read_prompt_cache(const std::filesystem::path& path,
                                                                  std::string_view model) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return CacheFileFault::kMissing;
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty()) return CacheFileFault::kMissing;
  const std::string expected = header(model);
  if (!bytes.starts_with(expected) || (bytes.size() - expected.size()) % sizeof(Cell) != 0) {
    return CacheFileFault::kForeign;
  }
  std::vector<Cell> cells((bytes.size() - expected.size()) / sizeof(Cell));
  bytes.copy(reinterpret_cast<char*>(cells.data()), cells.size() * sizeof(Cell), expected.size());
  return cells;
}

}  // namespace rkllm_mcp::sim
