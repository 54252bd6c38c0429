// Limits how often each tool asks the network, whoever has called it. Event loop only.
#pragma once

#include "clock.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <string>

namespace rkllm_mcp {

class RateLimit {
 public:
  explicit RateLimit(int per_minute) : per_minute_(per_minute) {}

  // Counts one question under that name. If there were too many already, counts nothing and returns how long to wait.
  std::optional<std::chrono::seconds> take(const std::string& name, Clock::time_point now);

 private:
  // `left` says how many questions may be asked now. It grows evenly with time, and each question takes one away.
  struct Bucket {
    double left;
    Clock::time_point seen;
  };

  const int per_minute_;
  std::map<std::string, Bucket> buckets_;  // one for each tool
};

inline std::optional<std::chrono::seconds> RateLimit::take(const std::string& name, Clock::time_point now) {
  const double most = per_minute_;
  const double per_second = most / 60;
  Bucket& bucket = buckets_.try_emplace(name, Bucket{most, now}).first->second;
  const std::chrono::duration<double> passed = now - bucket.seen;
  bucket.left = std::min(most, bucket.left + passed.count() * per_second);
  bucket.seen = now;
  if (bucket.left < 1) return std::chrono::seconds(std::lround(std::ceil((1 - bucket.left) / per_second)));
  bucket.left -= 1;
  return std::nullopt;
}

}  // namespace rkllm_mcp
