// A model from the web into the folder of models: what `rkllm-mcp pull` does.
//
// Threads: any; blocks the one that it is called on.
#pragma once

#include "pull/download.hpp"
#include "pull/hub.hpp"
#include "text/url.hpp"

#include <filesystem>
#include <functional>
#include <string>

namespace rkllm_mcp {

struct PullRequest {
  std::string source{};            // see parse_model_source()
  std::filesystem::path folder{};  // is made if it is not there
  Url hub{};                       // runtime.model_hub
  std::string ca_file{};           // empty: the system's certificates
  std::string token{};             // of access to the hub; empty: none
  BoardFacts board{};
};

struct PullEvents {
  // Of several files in a repository one was taken, see words_of_choice(); or one that was named is not for this board.
  // Comes before `chosen`.
  std::function<void(const std::string& words)> remark = [](const std::string&) {};
  std::function<void(const HubFile& chosen)> chosen = [](const HubFile&) {
  };  // name, size and hash as far as they are known
  DownloadEvents download{};
  std::function<void(int socket)> on_socket = [](int) {};  // see WebGet
};

struct Pulled {
  std::filesystem::path path;
  std::int64_t bytes;
  std::string sha256;
  bool is_verified;  // the hub has said what the hash must be
  bool was_there;    // with that hash: nothing was fetched
};

// Throws std::invalid_argument (what was asked for), and what download() throws.
Pulled pull_model(const PullRequest& request, const PullEvents& events);

}  // namespace rkllm_mcp
