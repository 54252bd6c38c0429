// The SHA-256 of models' files, which Ollama's clients show. A file of some gigabytes is read once, on a thread of the
// lowest priority, and what it gave is kept until the file changes.
//
// Threads: the event loop's.
#pragma once

#include "side_thread.hpp"

#include <asio/io_context.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace rkllm_mcp {

class FileDigests {
 public:
  explicit FileDigests(asio::io_context& loop) : reading_(loop) {}
  ~FileDigests() { stop(); }
  FileDigests(const FileDigests&) = delete;
  FileDigests& operator=(const FileDigests&) = delete;

  // The SHA-256 of this file in hexadecimal. The first call starts the computation; nothing until that is done, or if
  // the file cannot be read. `bytes` and `modified_s` (since 1970) are what the file had when it was looked at last.
  std::optional<std::string> of(const std::string& path, std::int64_t bytes, std::int64_t modified_s);
  // Ends what is being read; nothing is read any more.
  void stop() { stopping_ = true; }

 private:
  struct Digest {
    std::int64_t bytes;
    std::int64_t modified_s;
    std::optional<std::string> text{};
  };

  std::map<std::string, Digest> digests_;  // by path
  std::atomic<bool> stopping_ = false;
  SideThread reading_;  // last: its thread uses the members above, so it has to end first
};

}  // namespace rkllm_mcp
