#include "tools/rate_limit.hpp"

#include <algorithm>
#include <cmath>

namespace rkllm_mcp {

std::optional<std::chrono::seconds> RateLimit::take(const std::string& name, Clock::time_point now) {
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
