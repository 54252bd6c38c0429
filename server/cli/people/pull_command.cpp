#include "cli/people/pull_command.hpp"

#include "cli/exit_codes.hpp"
#include "cli/help/progress_line.hpp"
#include "cli/help/terminal.hpp"
#include "cli/people/server_link.hpp"
#include "client/connection.hpp"
#include "models/model_files.hpp"
#include "pull/part_file.hpp"
#include "pull/pull.hpp"
#include "pull/this_board.hpp"
#include "text/shown_bytes.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace rkllm_mcp {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// How far a download is, and how fast.
class Speed {
 public:
  std::string text(std::int64_t done, std::optional<std::int64_t> of) {
    const auto now = Clock::now();
    if (!began_) {
      began_ = now;
      at_first_ = done;
    }
    std::string text = shown_progress(done, of);
    // Of the bytes that came over this connection, and not of those that were there.
    const double seconds = std::chrono::duration<double>(now - *began_).count();
    constexpr double kEnough = 1;
    if (seconds < kEnough || done <= at_first_) return text;
    const double speed = static_cast<double>(done - at_first_) / seconds;
    text += "  " + shown_bytes(static_cast<std::int64_t>(speed)) + "/s";
    return of ? text + "  " + shown_time_left(static_cast<double>(*of - done) / speed) : text;
  }

 private:
  std::optional<Clock::time_point> began_;
  std::int64_t at_first_ = 0;
};

// Nothing has to be waited for, a silent network least of all: a pull may end at any moment, and the next one goes on.
void end_at_once(int) {
  constexpr std::string_view kWords =
      "\nrkllm-mcp: stopped; what has come is kept, and the same command goes on from there\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kWords.data(), kWords.size());
  std::_Exit(kExitFailed);
}

// What to do with a model that has come: the server finds by its name what lies in a folder of its settings.
std::string words_of_next_step(const fs::path& model, const Settings& settings) {
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(model.parent_path(), error);
  for (const std::string& each : settings.runtime.model_dirs) {
    if (fs::equivalent(each, folder, error)) return "Talk to it: rkllm-mcp chat " + model.stem().string();
  }
  return "Load it: rkllm-mcp load " + fs::absolute(model, error).lexically_normal().string() +
         "\nThen talk to it: rkllm-mcp chat";
}

fs::path folder_for(const PullOptions& options, const Settings& settings) {
  if (!options.folder.empty()) return options.folder;
  if (!settings.runtime.model_dirs.empty()) return settings.runtime.model_dirs.front();
  throw std::runtime_error("runtime.model_dirs names no folder of models. Say where: rkllm-mcp pull --to ./models " +
                           options.source +
                           "; rkllm-mcp settings path tells in which file runtime.model_dirs can be set for good");
}

Url hub_of(const Settings& settings) {
  try {
    return parse_url(settings.runtime.model_hub);
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error("runtime.model_hub: " + std::string(error.what()));
  }
}

bool is_called(const ModelFile& file, const std::string& name) {
  return file.name == name || file.path == name || fs::path(file.path).filename() == name;
}

const ModelFile& file_called(const std::vector<ModelFile>& files, const std::string& name) {
  const auto found =
      std::find_if(files.begin(), files.end(), [&name](const ModelFile& each) { return is_called(each, name); });
  if (found != files.end()) return *found;
  std::vector<std::string_view> names;
  for (const ModelFile& each : files) names.push_back(each.name);
  throw std::runtime_error("no model " + name + " is in the folders of runtime.model_dirs" + did_you_mean(name, names) +
                           "; what there is: rkllm-mcp models");
}

// What pulls that nobody went on with have left.
bool remove_unfinished(const std::vector<std::string>& folders, const std::string& name) {
  if (name.find('/') != std::string::npos) return false;
  const std::string file = name.ends_with(".rkllm") ? name : name + ".rkllm";
  bool is_removed = false;
  for (const std::string& folder : folders) {
    if (!fs::exists(fs::path(folder) / file)) is_removed = PartFile::remove(fs::path(folder) / file) || is_removed;
  }
  return is_removed;
}

// The paths of what the running server has loaded; nothing if none runs.
std::vector<std::string> loaded_paths(ServerLink& server) {
  std::vector<std::string> paths;
  try {
    const Json health = server.health();
    for (const Json& each : health.value("models", Json::array())) {
      if (each.contains("path") && each["path"].is_string()) paths.push_back(each["path"].get<std::string>());
    }
  } catch (const client::Unreachable&) {
    // Then nobody has it open.
  }
  return paths;
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code error;
  return one == other || fs::equivalent(one, other, error);
}

}  // namespace

int run_pull(const PullOptions& options, const SettingsRequest& request) {
  const LoadedSettings settings = load_settings(request);
  PullRequest wanted;
  wanted.source = options.source;
  wanted.folder = folder_for(options, settings.values);
  wanted.hub = hub_of(settings.values);
  wanted.ca_file = options.ca_file;
  if (const char* const token = std::getenv("HF_TOKEN"); token != nullptr) wanted.token = token;
  wanted.board = facts_of_this_board();

  std::signal(SIGINT, end_at_once);
  ProgressLine line;
  Speed speed;
  PullEvents events;
  events.took_one_of = [](const std::string& words) { std::fprintf(stderr, "%s\n", words.c_str()); };
  events.chosen = [&](const HubFile& file) {
    line.say(file.name + (file.bytes ? ", " + shown_bytes(*file.bytes) : "") + " from " + file.url.host);
  };
  events.download.progress = [&](std::int64_t done, std::optional<std::int64_t> of) {
    if (!line.is_shown()) return;
    line.show(speed.text(done, of), of && done == *of ? ProgressLine::When::kNow : ProgressLine::When::kSometimes);
  };
  events.download.verifying = [&line] { line.say("Computing its SHA-256"); };
  const Pulled pulled = pull_model(wanted, events);
  const std::string name = pulled.path.stem().string();
  if (options.json) {
    const Json result{{"model", name},           {"path", pulled.path.string()},   {"bytes", pulled.bytes},
                      {"sha256", pulled.sha256}, {"verified", pulled.is_verified}, {"was_there", pulled.was_there}};
    print_json(result);
    return kExitOk;
  }
  std::printf("%s %s (%s, SHA-256 %s%s)\n%s\n", pulled.path.c_str(),
              pulled.was_there ? "was there already" : "is there", shown_bytes(pulled.bytes).c_str(),
              pulled.sha256.c_str(), pulled.is_verified ? ", as the hub has it" : ", which nobody vouches for",
              words_of_next_step(pulled.path, settings.values).c_str());
  return kExitOk;
}

int run_remove(const RemoveOptions& options, const SettingsRequest& request) {
  ServerLink server(options.remote, request);
  const FoundModels found = find_models(server.settings().runtime.model_dirs, SimulatedModels::kLeftOut);
  const auto loaded = loaded_paths(server);
  std::vector<ModelFile> files;
  for (const std::string& name : options.models) {
    if (remove_unfinished(server.settings().runtime.model_dirs, name)) {
      if (!options.json) std::printf("%s: what an unfinished pull has left is deleted\n", name.c_str());
      continue;
    }
    const ModelFile& file = file_called(found.files, name);
    const bool is_loaded = std::any_of(loaded.begin(), loaded.end(),
                                       [&file](const std::string& each) { return is_same_file(each, file.path); });
    if (is_loaded) throw std::runtime_error(file.name + " is loaded; first: rkllm-mcp unload " + file.name);
    files.push_back(file);
  }
  Json removed = Json::array();
  for (const ModelFile& file : files) {
    std::error_code error;
    fs::remove(file.path, error);
    if (error) throw std::runtime_error(file.path + " cannot be deleted: " + error.message());
    removed.push_back(Json{{"model", file.name}, {"path", file.path}, {"bytes", file.bytes}});
    if (!options.json) std::printf("%s is deleted (%s)\n", file.path.c_str(), shown_bytes(file.bytes).c_str());
  }
  if (options.json) print_json(removed);
  return kExitOk;
}

}  // namespace rkllm_mcp
