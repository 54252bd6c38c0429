#include "models/file_digests.hpp"

#include "text/hexadecimal.hpp"
#include "text/sha256.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <memory>
#include <vector>

namespace rkllm_mcp {
namespace {

std::optional<std::string> digest_of_file(const std::string& path, const std::atomic<bool>& stopping) {
  // Models run beside it. In Linux this is a property of the thread.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), 19);
  std::ifstream file(path, std::ios::binary);
  Sha256Sum sum;
  std::vector<char> piece(std::size_t{1} << 20U);
  while (file && !stopping) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    sum.add({piece.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (stopping || !file.eof()) return std::nullopt;
  return in_hexadecimal(sum.finish());
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
