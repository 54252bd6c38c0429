#include "chat/host/embedding_maker.hpp"

#include "chat/turn/context.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rkllm_mcp::chat {

std::vector<float> pooled(const HiddenRows& rows, Pooling pooling, std::optional<std::size_t> dimensions) {
  if (rows.rows == 0 || rows.columns == 0 || rows.values.size() < rows.rows * rows.columns) return {};
  const std::size_t columns = std::min(rows.columns, dimensions.value_or(rows.columns));
  std::vector<double> sum(columns, 0.0);
  const std::size_t first = pooling == Pooling::kLast ? rows.rows - 1 : 0;
  const std::size_t behind = pooling == Pooling::kFirst ? 1 : rows.rows;
  for (std::size_t row = first; row < behind; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      sum[column] += static_cast<double>(rows.values[row * rows.columns + column]);
    }
  }
  double squares = 0;
  for (const double value : sum) squares += value * value;
  if (!(squares > 0) || !std::isfinite(squares)) return {};
  const double length = std::sqrt(squares);
  std::vector<float> vector(columns);
  std::ranges::transform(sum, vector.begin(), [length](double value) { return static_cast<float>(value / length); });
  return vector;
}

EmbeddingMaker::EmbeddingMaker(EmbeddingWish wish, DoneFunction done, FailedFunction failed)
    : wish_(std::move(wish)), done_(std::move(done)), failed_(std::move(failed)) {}

void EmbeddingMaker::begin(ModelLender& pool, PlaceWish place) {
  PlaceEvents<EmbeddingLease> events;
  events.granted = [this](std::unique_ptr<EmbeddingLease> lease) {
    lease_ = std::move(lease);
    ticket_.reset();
    made_.load_ms = lease_->load_ms();
    next();
  };
  events.failed = [this](const TurnError& error) { fail(error); };
  ticket_ = pool.ask_for_embeddings(std::move(place), std::move(events));
}

void EmbeddingMaker::next() {
  const std::size_t at = made_.vectors.size();
  if (at == wish_.inputs.size()) {
    made_.total_ms = std::chrono::duration<double, std::milli>(Clock::now() - begun_at_).count();
    lease_.reset();
    const auto done = done_;  // this may be destroyed by it
    const Embeddings made = std::move(made_);
    return done(made);
  }
  lease_->model().hidden_rows(wish_.inputs[at] + lease_->model().facts().suffix,
                              [this](const HiddenRows& rows) { take(rows); });
}

void EmbeddingMaker::take(const HiddenRows& rows) {
  const std::size_t at = made_.vectors.size();
  const std::string field = wish_.inputs.size() == 1 ? wish_.field : wish_.field + "[" + std::to_string(at) + "]";
  if (!rows.complaint.empty()) {
    // A text that does not fit is refused without a word; one that cannot be too long is refused for another reason.
    const std::int64_t context = context_tokens(lease_->model().facts().max_context_len);
    if (most_prompt_tokens(wish_.inputs[at].size()) <= context) {
      return fail(TurnError(ErrorKind::kRuntimeFailed, field + ": " + rows.complaint));
    }
    if (!wish_.drops_end) {
      return fail(TurnError::bad_field(
          field, "longer than the model's context of " + std::to_string(context) + " tokens; " + rows.complaint));
    }
    std::string& text = wish_.inputs[at];
    text.resize(text.size() / 2);
    constexpr unsigned kContinuation = 0x80;
    constexpr unsigned kMask = 0xC0;
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & kMask) == kContinuation) text.pop_back();
    if (!text.empty()) text.pop_back();  // the first byte of a character that may have been cut
    return next();
  }
  auto vector = pooled(rows, lease_->model().facts().pooling, wish_.dimensions);
  if (vector.empty()) {
    return fail(TurnError::not_supported("model", "it gives no hidden states, so there are no embeddings of it"));
  }
  if (wish_.dimensions && *wish_.dimensions > rows.columns) {
    return fail(TurnError::bad_field("dimensions", "the model has " + std::to_string(rows.columns)));
  }
  made_.tokens += static_cast<std::int64_t>(rows.rows);
  made_.vectors.push_back(std::move(vector));
  next();
}

void EmbeddingMaker::fail(const TurnError& error) {
  const auto failed = failed_;  // this may be destroyed by it
  const TurnError kept = error;
  lease_.reset();
  failed(kept);
}

}  // namespace rkllm_mcp::chat
