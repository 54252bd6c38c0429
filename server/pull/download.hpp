// Fetches one large file to its place: whole or not at all, resumed where it had broken off, checked against its hash.
//
// Threads: any; blocks the one that it is called on.
#pragma once

#include "pull/web_get.hpp"
#include "text/url.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

namespace rkllm_mcp {

struct Download {
  Url url;
  std::filesystem::path target;         // does not exist yet; its folder does
  std::optional<std::int64_t> bytes{};  // as announced elsewhere
  std::string sha256{};                 // in hexadecimal; empty: nobody says what it must be
};

struct DownloadEvents {
  // The files that stand beside the target until it is whole: what has come, and the tag of that. They are this
  // download's alone from here on.
  std::function<void(const std::filesystem::path& part, const std::filesystem::path& tag)> opened = [](auto&, auto&) {};
  // `of`: bytes in all, nothing if nobody says. Called after each piece.
  std::function<void(std::int64_t done, std::optional<std::int64_t> of)> progress = [](auto, auto) {};
  std::function<void()> verifying = [] {};
  std::function<bool()> goes_on = [] { return true; };  // false: stop; what has come stays for the next time
};

struct Downloaded {
  std::int64_t bytes;
  std::string sha256;  // of what has come
  bool is_verified;    // somebody had said what it must be
};

class DownloadStopped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws DownloadStopped, WebFailed, std::runtime_error (disk, wrong hash).
Downloaded download(const Download& what, const WebGet& how, const DownloadEvents& events);

}  // namespace rkllm_mcp
