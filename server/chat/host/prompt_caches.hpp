// KV caches of conversations in files, so that a model that goes back to one need not compute it again. A bounded
// folder of this server's own, from which the file goes first that was used longest ago. Which text a file belongs to
// is known only in this object: so all files go when it is made, and when it ends. All of them also go when a
// conversation is deleted, since what several conversations have in common is in one file.
//
// Event loop only. Files are small in number; their names, sizes and ends are all that is touched here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

class PromptCaches {
 public:
  // `folder` is made with the first file; empty or `most_bytes` of 0: nothing is ever kept.
  PromptCaches(std::string folder, std::uint64_t most_bytes);
  PromptCaches(const PromptCaches&) = delete;
  PromptCaches& operator=(const PromptCaches&) = delete;
  ~PromptCaches();

  struct Found {
    std::string path;
    std::string text;
  };
  // The cache that shares the longest beginning with `prompt`, if that is longer than `known` bytes, which the model
  // has already. `identity`: ModelFacts::cache_identity.
  std::optional<Found> best_for(std::string_view identity, std::string_view prompt, std::size_t known);
  // Where the cache of `text` is to be written; empty: it is not.
  std::string path_for(std::string_view identity, std::string_view text);
  // The run that was to write the file has ended. Looks whether it is there, as the runtime does not tell. Then caches
  // of beginnings of the same text are removed: they are not needed any more.
  void written(const std::string& path, std::string_view identity, std::string text);
  // It could not be loaded, or is not to be kept.
  void forget(const std::string& path);
  void forget_all();
  // How often forget_all() was called. A turn that sees another number than at its beginning must not keep its cache
  // either: the conversation that was deleted may be its own.
  std::uint64_t times_forgotten() const { return times_forgotten_; }

  std::size_t files() const { return entries_.size(); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Entry {
    std::string identity;
    std::string text;
    std::string path;
    std::uint64_t bytes;
  };
  using Entries = std::list<Entry>;

  Entries::iterator drop(Entries::iterator entry);
  bool make_folder();

  const std::string folder_;
  const std::uint64_t most_bytes_;
  Entries entries_;  // the one used last is the first
  std::uint64_t bytes_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t times_forgotten_ = 0;
  bool has_folder_ = false;
};

}  // namespace rkllm_mcp::chat
