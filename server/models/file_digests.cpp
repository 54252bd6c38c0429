#include "models/file_digests.hpp"

#include "text/ascii.hpp"
#include "text/sha256.hpp"
#include "thread.hpp"

#include <memory>

namespace rkllm_mcp {
namespace {

std::optional<std::string> digest_of_file(const std::string& path, const std::atomic<bool>& stopping) {
  constexpr int kNicest = 19;
  yield_to_others(kNicest);  // models run beside it
  const auto sum = sha256_of_file(path, [&stopping] { return !stopping; });
  if (!sum) return std::nullopt;
  return in_hexadecimal(*sum);
}

}  // namespace

std::optional<std::string> FileDigests::of(const std::string& path, std::int64_t bytes, std::int64_t modified_s) {
  const auto known = digests_.find(path);
  if (known != digests_.end() && known->second.bytes == bytes && known->second.modified_s == modified_s) {
    return known->second.text;
  }
  if (stopping_ || !reading_.start()) return std::nullopt;
  digests_.insert_or_assign(path, Digest{bytes, modified_s});
  const auto computed = std::make_shared<std::optional<std::string>>();
  reading_.run([this, computed, path] { *computed = digest_of_file(path, stopping_); },
               [this, computed, path, bytes, modified_s] {
                 Digest& digest = digests_.at(path);
                 if (digest.bytes == bytes && digest.modified_s == modified_s) digest.text = *computed;
               });
  return std::nullopt;
}

}  // namespace rkllm_mcp
