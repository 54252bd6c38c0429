#include "chat/host/embedding_maker.hpp"

#include "chat/turn/context.hpp"
#include "faults.hpp"
#include "text/utf8.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

// How much fits of a text that is too long is found out by runs of its beginning: at most kMostCuts of them, and none
// after one that leaves less than 1/kEmptyPart of the context empty.
constexpr unsigned kMostCuts = 8;
constexpr std::int64_t kEmptyPart = 64;

}  // namespace

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

EmbeddingMaker::EmbeddingMaker(EmbeddingWish wish, DoneFunction done, FailedFunction failed,
                               CheckFirstFunction check_first)
    : wish_(std::move(wish)),
      done_(std::move(done)),
      failed_(std::move(failed)),
      check_first_(std::move(check_first)) {}

void EmbeddingMaker::begin(ModelLender& lender, PlaceWish wish) {
  PlaceEvents<EmbeddingLease> events;
  events.queued = [this](std::size_t before) { made_.queue_position = std::max(made_.queue_position, before); };
  events.granted = [this](std::unique_ptr<EmbeddingLease> lease) {
    lease_ = std::move(lease);
    place_.reset();
    made_.load_ms = lease_->load_ms();
    const std::int64_t n_batch = lease_->model().facts().n_batch;
    if (n_batch > 1) return fail(TurnError::takes_batches(n_batch));
    next();
  };
  events.failed = [this](const TurnError& error) { fail(error); };
  place_ = lender.ask_for_embeddings(std::move(wish), std::move(events));
}

std::string EmbeddingMaker::field() const {
  return wish_.inputs.size() == 1 ? wish_.field : wish_.field + "[" + std::to_string(made_.vectors.size()) + "]";
}

std::int64_t EmbeddingMaker::context() const { return context_tokens(lease_->model().facts().max_context_len); }

void EmbeddingMaker::next() {
  const std::size_t at = made_.vectors.size();
  const std::size_t wanted = wish_.inputs.size() - (has_fault("the last text gets no embedding") ? 1 : 0);
  if (at < wanted) return run(wish_.inputs[at].size());
  made_.total_ms = std::chrono::duration<double, std::milli>(Clock::now() - begun_at_).count();
  lease_.reset();
  const auto done = done_;  // this may be destroyed by it
  Embeddings made = std::move(made_);
  done(std::move(made));
}

void EmbeddingMaker::run(std::size_t bytes) {
  const bool is_first = has_fault("each text gets the embedding of the first");
  const std::string_view text = beginning_of(wish_.inputs[is_first ? 0 : made_.vectors.size()], bytes);
  bytes_ = text.size();
  if (has_fault("each text is given to the model twice"))
    lease_->model().hidden_rows(std::string(text), [](const HiddenRows& /*rows*/) {});
  lease_->model().hidden_rows(std::string(text) + lease_->model().facts().suffix,
                              [this](const HiddenRows& rows) { take(rows); });
}

void EmbeddingMaker::take(const HiddenRows& rows) {
  if (!rows.complaint.empty()) return run_failed(rows);
  auto vector = pooled(rows, lease_->model().facts().pooling, wish_.dimensions);
  if (vector.empty()) {
    return fail(TurnError::not_supported("model", "it gives no hidden states, so there are no embeddings of it"));
  }
  if (wish_.dimensions && *wish_.dimensions > rows.columns) {
    return fail(TurnError::bad_field("dimensions", "the model has " + std::to_string(rows.columns)));
  }
  const auto tokens = static_cast<std::int64_t>(rows.rows);
  if (!cut_) return add(std::move(vector), tokens);
  cut_->fits = bytes_;
  cut_->vector = std::move(vector);
  cut_->tokens = tokens;
  cut();
}

void EmbeddingMaker::run_failed(const HiddenRows& rows) {
  if (rows.is_unsupported) return fail(TurnError::not_supported("model", rows.complaint));
  // A text that does not fit is refused without a word; one that cannot be too long is refused for another reason.
  const std::size_t bytes = bytes_ + lease_->model().facts().suffix.size();
  if (!rows.is_refused || most_prompt_tokens(bytes) <= context()) {
    return fail(TurnError(ErrorKind::kRuntimeFailed, field() + ": " + rows.complaint));
  }
  if (!wish_.drops_end) {
    return fail(TurnError::context_exceeded(std::nullopt, context()).of_field(field()));
  }
  if (!cut_) cut_ = Cut{};  // clang 14 finds no emplace() for a struct that begins inside a class
  cut_->too_long = bytes_;
  cut();
}

// At first so many bytes as certainly fit, since a token has at least one byte. Then so many as should fill the
// context, by the bytes per token of what has fitted; or, if that is no help, the middle between fits and too_long.
std::size_t EmbeddingMaker::bytes_to_try() const {
  if (cut_->fits == 0) {
    const auto room = context() - most_prompt_tokens(lease_->model().facts().suffix.size());
    return room > 0 ? std::min(static_cast<std::size_t>(room), cut_->too_long - 1) : 0;
  }
  const double per_token = static_cast<double>(cut_->fits) / static_cast<double>(cut_->tokens);
  const double expected = per_token * static_cast<double>(context() - 1);
  const bool is_between = expected > static_cast<double>(cut_->fits) && expected < static_cast<double>(cut_->too_long);
  return is_between ? static_cast<std::size_t>(expected) : cut_->fits + (cut_->too_long - cut_->fits) / 2;
}

void EmbeddingMaker::cut() {
  const std::size_t at = made_.vectors.size();
  const std::size_t bytes = beginning_of(wish_.inputs[at], bytes_to_try()).size();
  const bool is_enough = cut_->tokens > context() - context() / kEmptyPart;
  if (!is_enough && cut_->runs++ < kMostCuts && bytes > cut_->fits) return run(bytes);
  if (cut_->fits == 0) return fail(TurnError::bad_field(field(), "no character of it fits into the model's context"));
  const Cut found = *std::exchange(cut_, std::nullopt);
  made_.cut.push_back(at);
  add(found.vector, found.tokens);
}

void EmbeddingMaker::add(std::vector<float> vector, std::int64_t tokens) {
  made_.tokens += tokens;
  made_.vectors.push_back(std::move(vector));
  if (made_.vectors.size() == 1 && check_first_) {
    try {
      check_first_(made_.vectors.front(), wish_.inputs.size());
    } catch (const TurnError& error) {
      return fail(error);
    }
  }
  next();
}

void EmbeddingMaker::fail(const TurnError& error) {
  const auto failed = failed_;  // copies: the call may destroy this object, and `error` with it
  const TurnError kept(error);  // NOLINT(performance-unnecessary-copy-initialization)
  lease_.reset();
  failed(kept);
}

}  // namespace rkllm_mcp::chat
