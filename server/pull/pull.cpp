#include "pull/pull.hpp"

#include "pull/model_source.hpp"
#include "text/ascii.hpp"
#include "text/sha256.hpp"
#include "text/shown.hpp"

#include <stdexcept>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

namespace fs = std::filesystem;

HubFile find_file(const PullRequest& request, const PullEvents& events, const WebGet& how) {
  ModelSource source = parse_model_source(request.source, request.hub);
  const auto warn = [&](const HubFile& file) {
    const std::string reason = why_not(file, request.board);
    if (!reason.empty()) events.remark("warning: " + file.name + " is " + reason + ", and not for this board");
  };
  if (source.url) {
    HubFile file{file_name_of(source.url->target), {}, {}, *std::move(source.url)};
    warn(file);
    return file;
  }
  const auto files = models_in_repository(request.hub, source.repository, source.revision, how);
  const HubFile& chosen = choose_model(files, source.file, request.board, source.repository);
  if (source.file.empty() && files.size() > 1) {
    events.remark(words_of_choice(files, chosen, request.board, source.repository));
  }
  if (!source.file.empty()) warn(chosen);
  return chosen;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder)) {
    throw std::runtime_error(folder.string() +
                             " cannot be made: " + (error ? error.message() : "a file is in its place"));
  }
}

}  // namespace

Pulled pull_model(const PullRequest& request, const PullEvents& events) {
  WebGet how;
  how.ca_file = request.ca_file;
  how.token = request.token;
  how.trusted = request.hub;
  how.goes_on = events.download.goes_on;
  how.on_socket = events.on_socket;
  HubFile file;
  try {
    file = find_file(request, events, how);
  } catch (const WebStopped&) {
    throw DownloadStopped("stopped");
  }
  events.chosen(file);
  make_folder(request.folder);
  const fs::path target = request.folder / file_name_of(file.name);
  std::error_code error;
  if (fs::exists(target, error)) {
    const bool may_be_it =
        !file.sha256.empty() && file.bytes && fs::file_size(target, error) == static_cast<std::uintmax_t>(*file.bytes);
    if (may_be_it) {
      events.download.verifying();
      const auto sum = sha256_of_file(target.string(), events.download.goes_on);
      if (sum && in_hexadecimal(*sum) == file.sha256) return {target, *file.bytes, file.sha256, true, true};
    }
    throw std::runtime_error(target.string() + " is there already" + (may_be_it ? ", with other contents" : "") +
                             "; remove it first: rm " + shell_word(target.string()));
  }
  const Downloaded got = download({file.url, target, file.bytes, file.sha256}, how, events.download);
  return {target, got.bytes, got.sha256, got.is_verified, false};
}

}  // namespace rkllm_mcp
