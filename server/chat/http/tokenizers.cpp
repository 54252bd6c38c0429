#include "chat/http/tokenizers.hpp"

#include "chat/tokenizer/tokenizer.hpp"
#include "text/regular_file.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestFile = std::size_t{32} * 1024 * 1024;
constexpr std::size_t kKept = 2;

// In a folder with several models nobody knows whose tokenizer.json it is.
bool is_only_model_of(const fs::path& folder) {
  std::error_code error;
  int models = 0;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".rkllm" && ++models > 1) return false;
  }
  return !error;
}

std::optional<fs::path> file_beside(const fs::path& model) {
  std::error_code error;
  const fs::path own = fs::path(model).replace_extension(".tokenizer.json");
  if (fs::exists(own, error)) return own;
  const fs::path common = model.parent_path() / "tokenizer.json";
  if (fs::exists(common, error) && is_only_model_of(model.parent_path())) return common;
  return std::nullopt;
}

}  // namespace

void Tokenizers::use(std::string model_path, std::function<void(const Tokenizer*)> work, std::function<void()> then) {
  struct Told {
    std::string path, complaint;
  };
  const auto told = std::make_shared<Told>();
  thread_.run([this, told, model_path = std::move(model_path),
               work = std::move(work)] { work(beside(model_path, told->path, told->complaint)); },
              [this, told, then = std::move(then)] {
                if (!told->complaint.empty() && warn_) warn_(told->path, shortened(told->complaint));
                then();
              });
}

const Tokenizer* Tokenizers::beside(const std::string& model_path, std::string& path, std::string& complaint) {
  const auto file = file_beside(model_path);
  if (!file) return nullptr;
  path = file->string();
  try {
    RegularFile opened(path);
    const auto& time = opened.status().st_mtim;
    constexpr std::int64_t kSecond = 1'000'000'000;
    Kept wanted{path, time.tv_sec * kSecond + time.tv_nsec, opened.status().st_size, nullptr};
    const auto found = std::ranges::find_if(kept_, [&wanted](const Kept& kept) {
      return kept.path == wanted.path && kept.modified_ns == wanted.modified_ns && kept.bytes == wanted.bytes;
    });
    if (found != kept_.end()) {
      std::rotate(found, found + 1, kept_.end());
      return kept_.back().tokenizer.get();
    }
    std::erase_if(kept_, [&path](const Kept& kept) { return kept.path == path; });
    if (kept_.size() == kKept) kept_.erase(kept_.begin());  // before there is one more
    try {
      wanted.tokenizer = std::make_unique<const Tokenizer>(read_tokenizer(opened.read(kLargestFile)));
    } catch (const std::runtime_error& error) {
      complaint = error.what();
    }
    kept_.push_back(std::move(wanted));
    return kept_.back().tokenizer.get();
  } catch (const std::runtime_error& error) {
    if (path != unreadable_) complaint = error.what();  // once, not for each request
    unreadable_ = path;
    return nullptr;
  }
}

}  // namespace rkllm_mcp::chat
