#include "watch/metrics.hpp"

#include <algorithm>
#include <cstdio>

namespace rkllm_mcp {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.12g", value);
  return text.data();
}

}  // namespace

void Histogram::add(double value) {
  const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), value);
  counts_[static_cast<std::size_t>(bound - kBounds.begin())].fetch_add(1, std::memory_order_relaxed);
  sum_ns_.fetch_add(static_cast<std::int64_t>(value * kNanosecondsPerSecond), std::memory_order_relaxed);
}

void Histogram::print(std::string& text, std::string_view name) const {
  const std::string base(name);
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < kBounds.size(); ++at) {
    count += counts_[at].load(std::memory_order_relaxed);
    print_sample(text, base + "_bucket", label("le", number(kBounds[at])), static_cast<double>(count));
  }
  count += counts_.back().load(std::memory_order_relaxed);
  print_sample(text, base + "_bucket", label("le", "+Inf"), static_cast<double>(count));
  print_sample(text, base + "_sum", "",
               static_cast<double>(sum_ns_.load(std::memory_order_relaxed)) / kNanosecondsPerSecond);
  print_sample(text, base + "_count", "", static_cast<double>(count));
}

void Metrics::count_call(std::string_view method, std::string_view outcome) {
  const std::lock_guard lock(mutex_);
  ++calls_[{std::string(method), std::string(outcome)}];
}

void Metrics::note_first_token(const std::string& handle, double seconds) {
  const std::lock_guard lock(mutex_);
  first_tokens_[handle] = {seconds, ++noted_first_tokens_};
  if (first_tokens_.size() <= kMostHandles) return;
  // Not every handle that goes is forgotten: the server unloads some, and workers die.
  const auto number_of = [](const auto& noted) { return noted.second.number; };
  first_tokens_.erase(std::ranges::min_element(first_tokens_, {}, number_of));
}

std::optional<double> Metrics::first_token_of(const std::string& handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = first_tokens_.find(handle);
  return found == first_tokens_.end() ? std::nullopt : std::optional(found->second.seconds);
}

void Metrics::forget(const std::string& handle) {
  const std::lock_guard lock(mutex_);
  first_tokens_.erase(handle);
}

std::string Metrics::text() const {
  std::string text;
  print_family(text, "rkllm_mcp_calls_total", "counter", "Calls of API functions that have ended.");
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, count] : calls_) {
      print_sample(text, "rkllm_mcp_calls_total", label("method", key.first) + "," + label("outcome", key.second),
                   static_cast<double>(count));
    }
  }
  print_family(text, "rkllm_mcp_tokens_total", "counter", "Tokens that models have generated.");
  print_sample(text, "rkllm_mcp_tokens_total", "", static_cast<double>(tokens_.load(std::memory_order_relaxed)));
  print_family(text, "rkllm_mcp_lost_models_total", "counter", "Models that went because their worker process died.");
  print_sample(text, "rkllm_mcp_lost_models_total", "",
               static_cast<double>(lost_models_.load(std::memory_order_relaxed)));
  print_family(text, "rkllm_mcp_joined_tokens_total", "counter",
               "Tokens that travelled in the chunk of another, since their client was slow or polls.");
  print_sample(text, "rkllm_mcp_joined_tokens_total", "", static_cast<double>(counts.joined_tokens.load()));
  print_family(text, "rkllm_mcp_dropped_datagrams_total", "counter", "Datagrams that UDP could not or must not send.");
  print_sample(text, "rkllm_mcp_dropped_datagrams_total", "", static_cast<double>(counts.dropped_datagrams.load()));
  print_family(text, "rkllm_mcp_internal_errors_total", "counter",
               "Faults of the server's own, each of which has cost one exchange with a client.");
  print_sample(text, "rkllm_mcp_internal_errors_total", "", static_cast<double>(counts.faults.load()));
  print_family(text, "rkllm_mcp_limit_reached_total", "counter", "How often clients came up against a limit.");
  for (std::size_t limit = 0; limit < counts.reached.size(); ++limit) {
    print_sample(text, "rkllm_mcp_limit_reached_total", label("limit", name_of(static_cast<Limit>(limit))),
                 static_cast<double>(counts.reached.at(limit).load()));
  }
  print_family(text, "rkllm_mcp_queue_wait_seconds", "histogram", "From a run's request until it began.");
  queue_wait.print(text, "rkllm_mcp_queue_wait_seconds");
  print_family(text, "rkllm_mcp_time_to_first_token_seconds", "histogram", "From a run's request to its first token.");
  time_to_first_token.print(text, "rkllm_mcp_time_to_first_token_seconds");
  print_family(text, "rkllm_mcp_turn_time_to_first_token_seconds", "histogram",
               "From a chat turn's request to the first token of its answer, with queue and loading.");
  turn_first_token.print(text, "rkllm_mcp_turn_time_to_first_token_seconds");
  print_family(text, "rkllm_mcp_token_interval_seconds", "histogram", "Between two tokens of a run.");
  token_interval.print(text, "rkllm_mcp_token_interval_seconds");
  return text;
}

void print_family(std::string& text, std::string_view name, std::string_view type, std::string_view help) {
  text.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ");
  text.append(name).append(" ").append(type).append("\n");
}

void print_sample(std::string& text, std::string_view name, std::string_view labels, double value) {
  text.append(name);
  if (!labels.empty()) text.append("{").append(labels).append("}");
  text.append(" ").append(number(value)).append("\n");
}

std::string label(std::string_view key, std::string_view value) {
  std::string text(key);
  text += "=\"";
  for (const char character : value) {
    if (character == '\n') {
      text += "\\n";
      continue;
    }
    if (character == '"' || character == '\\') text += '\\';
    text += character;
  }
  return text + '"';
}

}  // namespace rkllm_mcp
