#include "model/tensors.hpp"

#include "answers/random.hpp"

#include <algorithm>

namespace rkllm_mcp::sim {
namespace {

// A number in [-1, 1), spread evenly.
float unit(std::uint64_t bits) { return static_cast<float>(bits >> 40) / 8388608.0F - 1.0F; }

constexpr std::uint64_t kLogitSeed = 0x106175;
constexpr float kLikely = 12.0F;  // above every other logit, which lie in [-4, 4)

}  // namespace

Rows Tensors::hidden_states(std::span<const Cell> cells, std::size_t count) {
  values_.assign(count * embedding_size_, 0.0F);
  std::vector<float> sum(embedding_size_, 0.0F);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool wanted = i >= cells.size() - count;
    float* row = wanted ? values_.data() + (i - (cells.size() - count)) * embedding_size_ : nullptr;
    Random random(cells[i]);
    for (std::size_t k = 0; k < embedding_size_; ++k) {
      const float feature = unit(random.next());
      sum[k] += feature;
      if (wanted) row[k] = sum[k] / static_cast<float>(i + 1) + 0.125F * feature;
    }
  }
  return {values_.data(), embedding_size_, count};
}

Rows Tensors::logits(std::span<const Cell> cells, std::size_t count, TokenId sampled) {
  if (base_logits_.empty()) {
    Random random(kLogitSeed);
    base_logits_.resize(vocab_size_);
    for (float& value : base_logits_) value = 4.0F * unit(random.next());
  }
  values_.resize(count * vocab_size_);
  for (std::size_t i = 0; i < count; ++i) {
    float* row = values_.data() + i * vocab_size_;
    std::copy(base_logits_.begin(), base_logits_.end(), row);
    const std::size_t next = cells.size() - count + i + 1;
    const Cell likely = next < cells.size() ? cells[next] : static_cast<Cell>(sampled);
    if (likely < vocab_size_) row[likely] = kLikely;
  }
  return {values_.data(), vocab_size_, count};
}

}  // namespace rkllm_mcp::sim
