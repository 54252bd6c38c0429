#include "chat/host/prompt_caches.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::string_view kCacheEnding = ".kvcache";

std::size_t common_bytes(std::string_view left, std::string_view right) {
  const auto [behind, unused] = std::ranges::mismatch(left, right);
  return static_cast<std::size_t>(behind - left.begin());
}

// Caches of an earlier process: their texts are not known, so they are of no use.
void remove_caches(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (auto file = std::filesystem::directory_iterator(folder, ignored); file != std::filesystem::directory_iterator();
       file.increment(ignored)) {
    if (ignored) return;
    std::error_code stays;
    if (file->path().extension() == kCacheEnding) std::filesystem::remove(file->path(), stays);
  }
}

}  // namespace

PromptCaches::PromptCaches(std::string folder, std::uint64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(folder_.empty() ? 0 : most_bytes) {
  if (most_bytes_ > 0) remove_caches(folder_);
}

PromptCaches::~PromptCaches() { forget_all(); }

bool PromptCaches::make_folder() {
  if (has_folder_) return true;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) return false;
  // Conversations are nobody else's business.
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, error);
  return has_folder_ = !error;
}

std::optional<PromptCaches::Found> PromptCaches::best_for(std::string_view identity, std::string_view prompt,
                                                          std::size_t known) {
  auto best = entries_.end();
  std::size_t most = known;
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->identity != identity) continue;
    const std::size_t common = common_bytes(entry->text, prompt);
    if (common <= most) continue;
    most = common;
    best = entry;
  }
  if (best == entries_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, best);
  return Found{best->path, best->text};
}

std::string PromptCaches::path_for(std::string_view identity, std::string_view text) {
  const auto is_same = [&](const Entry& each) { return each.text == text && each.identity == identity; };
  if (most_bytes_ == 0 || std::ranges::any_of(entries_, is_same) || !make_folder()) return "";
  return folder_ + "/" + std::to_string(::getpid()) + "-" + std::to_string(++next_) + std::string(kCacheEnding);
}

void PromptCaches::written(const std::string& path, std::string_view identity, std::string text) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;
  if (status.st_size == 0 || ::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0) {
    ::unlink(path.c_str());
    return;
  }
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const bool is_beginning = entry->identity == identity && text.starts_with(entry->text);
    entry = is_beginning ? drop(entry) : std::next(entry);
  }
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  entries_.push_front({std::string(identity), std::move(text), path, bytes});
  bytes_ += bytes;
  while (bytes_ > most_bytes_ && !entries_.empty()) drop(std::prev(entries_.end()));
}

void PromptCaches::forget(const std::string& path) {
  const auto entry = std::ranges::find(entries_, path, &Entry::path);
  if (entry != entries_.end()) drop(entry);
  ::unlink(path.c_str());  // also a file that is no entry yet
}

void PromptCaches::forget_all() {
  while (!entries_.empty()) drop(entries_.begin());
  ++times_forgotten_;
}

PromptCaches::Entries::iterator PromptCaches::drop(Entries::iterator entry) {
  ::unlink(entry->path.c_str());
  bytes_ -= entry->bytes;
  return entries_.erase(entry);
}

}  // namespace rkllm_mcp::chat
