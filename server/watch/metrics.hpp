// What the server counts, as Prometheus reads it. All times in seconds.
//
// Threads: any.
#pragma once

#include "counts.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

// Counts values by the bound that they are below.
class Histogram {
 public:
  static constexpr std::array kBounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                      0.5,   1.0,    2.5,   5.0,  10.0,  30.0, 60.0};

  void add(double value);
  // Appends the sample lines of a histogram called `name`.
  void print(std::string& text, std::string_view name) const;

 private:
  std::array<std::atomic<std::uint64_t>, kBounds.size() + 1> counts_{};  // the last: above all bounds
  std::atomic<std::int64_t> sum_ns_{0};
};

class Metrics {
 public:
  static constexpr std::size_t kMostHandles = 1024;

  // A call has ended: of which method, and how ("ok", "aborted" or an error code).
  void count_call(std::string_view method, std::string_view outcome);
  void count_token() { tokens_.fetch_add(1, std::memory_order_relaxed); }
  // How long the client of the latest run or chat turn on `handle` has waited for its first token.
  void note_first_token(const std::string& handle, double seconds);
  std::optional<double> first_token_of(const std::string& handle) const;
  void forget(const std::string& handle);
  void count_lost_model() { lost_models_.fetch_add(1, std::memory_order_relaxed); }

  Counts counts;  // of the runtime library

  Histogram queue_wait;           // of calls that began
  Histogram time_to_first_token;  // from the request
  Histogram turn_first_token;     // from a chat turn's request; another run may have computed its prompt
  Histogram token_interval;       // between two tokens of a run

  // All of the above, with # HELP and # TYPE lines.
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> calls_;  // by method and outcome
  struct FirstToken {
    double seconds;
    std::uint64_t number;  // grows with each that is noted
  };
  std::map<std::string, FirstToken> first_tokens_;  // by handle; the kMostHandles that were noted last
  std::uint64_t noted_first_tokens_ = 0;
  std::atomic<std::uint64_t> tokens_{0};
  std::atomic<std::uint64_t> lost_models_{0};
};

// One family of samples in Prometheus's text format.
void print_family(std::string& text, std::string_view name, std::string_view type, std::string_view help);
void print_sample(std::string& text, std::string_view name, std::string_view labels, double value);
// key="value", with the characters escaped that need it.
std::string label(std::string_view key, std::string_view value);

}  // namespace rkllm_mcp
