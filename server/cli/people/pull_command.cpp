#include "cli/people/pull_command.hpp"

#include "cli/exit_codes.hpp"
#include "cli/help/progress_line.hpp"
#include "cli/help/terminal.hpp"
#include "cli/people/first_model.hpp"
#include "cli/people/offered_models.hpp"
#include "cli/people/server_link.hpp"
#include "cli/serve_options.hpp"
#include "cli/target.hpp"
#include "models/model_files.hpp"
#include "pull/part_file.hpp"
#include "pull/pull.hpp"
#include "pull/this_board.hpp"
#include "text/shell_word.hpp"
#include "text/shown_bytes.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
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

// What stands beside a model until it is whole.
struct Beginning {
  std::string part;
  std::string tag;
};
std::atomic<const Beginning*> beginning_of_now = nullptr;  // for a handler of signals, which may not take memory

// Nothing has to be waited for, a silent network least of all: a pull may end at any moment, and the next one goes on.
void end_at_once(int) {
  constexpr std::string_view kKept =
      "\nrkllm-mcp: stopped; what has come is kept, and the same command goes on from there\n";
  constexpr std::string_view kNothing = "\nrkllm-mcp: stopped before anything had come\n";
  constexpr std::string_view kStopped = "\nrkllm-mcp: stopped\n";  // before it had looked, or when all had come
  const Beginning* const beginning = beginning_of_now.load();
  struct stat part {};
  const bool is_there = beginning != nullptr && ::stat(beginning->part.c_str(), &part) == 0;
  const bool is_empty = is_there && part.st_size == 0;
  if (is_empty) {
    ::unlink(beginning->part.c_str());
    ::unlink(beginning->tag.c_str());
  }
  const std::string_view words = is_empty ? kNothing : is_there ? kKept : kStopped;
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, words.data(), words.size());
  std::_Exit(kExitInterrupted);
}

// What the server of the settings has; where none runs, or none that tells, what it would have.
OfferedModels models_here(const SettingsRequest& request) {
  ServerLink server(RemoteOptions{}, request);
  try {
    if (auto offered = offered_where_one_runs(server, {})) return *std::move(offered);
  } catch (const std::exception&) {
    // It wants an access token, say.
  }
  return models_of_settings(server.settings(), server.settings_options());
}

// What to do with a model that has come: the server finds by its name what lies in one of its folders.
std::string words_of_next_step(const fs::path& model, const SettingsRequest& request) {
  const std::string path = fs::absolute(model).lexically_normal().string();
  const OfferedModels offered = models_here(request);
  const OfferedModel* const found = offered.find(path);
  if (found != nullptr) return "Talk to it: rkllm-mcp chat " + shell_word(found->name) + offered.where;
  return "Load it: rkllm-mcp load " + shell_word(path) + offered.where + "\nThen talk to it: rkllm-mcp chat" +
         offered.where;
}

// Ollama's models have names of one word; here that can only be one that has come already.
std::string words_for_a_name(const std::string& name, const SettingsRequest& request) {
  const OfferedModels offered = models_here(request);
  if (const OfferedModel* const model = offered.find(name)) {
    return model->name + " is here already: rkllm-mcp chat " + shell_word(model->name) + offered.where +
           "; what is fetched is named hf.co/OWNER/NAME, or by the https address of a .rkllm file";
  }
  return name + " names no model to fetch" + did_you_mean(name, offered.names()) +
         "; what is fetched is named hf.co/OWNER/NAME, or by the https address of a .rkllm file";
}

// Other commands are told by --to where the server is: http://board:8081, board:8081.
bool looks_like_server(const std::string& folder) {
  const auto colon = folder.rfind(':');
  if (colon == std::string::npos || fs::exists(folder)) return false;
  const bool is_port =
      colon + 1 < folder.size() && folder.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  return folder.find("://") != std::string::npos || (is_port && folder.find('/') == std::string::npos);
}

// Pulls are asked for over HTTP.
client::Endpoint http_of(const std::string& server, const Settings& settings) {
  client::Endpoint place = target_of(server, settings, client::Protocol::kHttp);
  if (place.protocol == client::Protocol::kUnix) return http_place(settings);
  const bool is_http = place.protocol == client::Protocol::kHttp || place.protocol == client::Protocol::kHttps;
  const auto protocol = place.speaks_tls() ? client::Protocol::kHttps : client::Protocol::kHttp;
  if (!is_http) place = {protocol, place.host, defaults::kHttpPort, {}};
  place.path = "/";
  return place;
}

fs::path folder_for(const PullOptions& options, const SettingsRequest& request, const Settings& settings) {
  if (looks_like_server(options.folder)) {
    throw std::invalid_argument("--to " + options.folder +
                                ": pull fetches into a folder of this machine, which --to names; to have a server "
                                "fetch it: " +
                                command_to_pull(http_of(options.folder, settings), options.source));
  }
  if (!options.folder.empty()) return options.folder;
  const auto folders = model_folders(settings.runtime.model_dirs);
  if (!folders.empty()) return folders.front();
  throw std::runtime_error(
      "runtime.model_dirs names no folder of models, and there is no home directory. Say where: "
      "rkllm-mcp pull --to ./models " +
      shell_word(options.source) + as_options(request));
}

Url hub_of(const Settings& settings) {
  try {
    return parse_url(settings.runtime.model_hub);
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error("runtime.model_hub: " + std::string(error.what()));
  }
}

// A name as it was said, and the model; null: it was the beginning of one.
using RemovedFunction = std::function<void(const std::string& name, const OfferedModel* model)>;

// The model of that name, if it may be deleted; null: there is none.
const OfferedModel* model_to_remove(const OfferedModels& offered, const std::string& name) {
  const OfferedModel* const model = offered.find(name);
  if (model == nullptr) return nullptr;
  if (std::ranges::find(model->aliases, name) != model->aliases.end()) {
    throw std::runtime_error(name + " is another name of " + model->name +
                             ": models are deleted by the name of their file");
  }
  if (model->is_loaded)
    throw std::runtime_error(model->name + " is loaded; first: rkllm-mcp unload " + shell_word(model->name) +
                             offered.where);
  return model;
}

struct Meant {
  std::string name;           // as it was said
  const OfferedModel* model;  // null: perhaps the beginning of one
};

// What these names mean, each thing once, whatever it is called by: a, a.rkllm. Beginnings first.
std::vector<Meant> meant_by(const std::vector<std::string>& names, const OfferedModels& offered) {
  std::vector<Meant> all;
  for (const std::string& name : names) {
    const OfferedModel* const model = model_to_remove(offered, name);
    const bool is_said_twice = std::ranges::any_of(all, [&](const Meant& each) {
      return each.model == model && (model != nullptr || file_of_model(each.name) == file_of_model(name));
    });
    if (!is_said_twice) all.push_back({name, model});
  }
  std::ranges::stable_partition(all, [](const Meant& each) { return each.model == nullptr; });
  return all;
}

void ask_to_delete(ServerLink& server, const OfferedModels& offered, std::span<const Meant> all) {
  Json sent = Json::array();
  for (const auto& [name, model] : all) sent.push_back(model != nullptr ? model->name : name);
  try {
    server.send("DELETE", "/api/delete", sent.size() == 1 ? Json{{"model", sent[0]}} : Json{{"models", sent}});
  } catch (const ServerRefuses& refusal) {
    if (refusal.status() != 404) throw;
    for (const auto& [name, model] : all) {
      const bool is_it = std::string_view(refusal.what()).find("'" + name + "'") != std::string_view::npos;
      if (model == nullptr && is_it) throw std::runtime_error(offered.no_such_model(name));
    }
    throw;
  }
}

// Deletes what the server has, and nothing of this machine's. What it does not know it may have the beginning of. All
// at once, so that nothing is deleted if one name is wrong; a server of an older version, which takes one name alone,
// and has said so, deletes one after the other.
void remove_from_server(ServerLink& server, const OfferedModels& offered, const std::vector<std::string>& names,
                        const RemovedFunction& removed) {
  if (!offered.has_chat) {
    throw std::runtime_error(server.url() +
                             " deletes no models: it runs with chat.enabled=false. On its machine: rkllm-mcp rm, "
                             "without --to");
  }
  const std::vector<Meant> all = meant_by(names, offered);
  try {
    ask_to_delete(server, offered, all);
  } catch (const ServerRefuses& refusal) {
    const bool takes_one_alone = std::string_view(refusal.what()) == "model: missing";
    if (all.size() == 1 || !takes_one_alone) throw;
    for (const Meant& each : all) {
      ask_to_delete(server, offered, {&each, 1});
      removed(each.name, each.model);
    }
    return;
  }
  for (const auto& [name, model] : all) removed(name, model);
}

void remove_from_settings(const Settings& settings, const OfferedModels& known, const std::vector<std::string>& names,
                          const RemovedFunction& removed) {
  const std::vector<Meant> all = meant_by(names, known);
  std::vector<std::string> paths;
  std::vector<std::unique_ptr<PartFile>> beginnings;
  for (const auto& [name, model] : all) {
    if (model != nullptr && (settings.models.contains(model->name) || !model->path.ends_with(".rkllm"))) {
      throw std::runtime_error(model->name + " is no .rkllm file in a folder of runtime.model_dirs");
    }
    if (model != nullptr) {
      paths.push_back(model->path);
      continue;
    }
    auto found = unfinished_pulls(model_folders(settings.runtime.model_dirs), name);
    if (found.empty()) throw std::runtime_error(known.no_such_model(name));
    std::ranges::move(found, std::back_inserter(beginnings));
  }
  delete_models(paths, beginnings);
  for (const auto& [name, model] : all) removed(name, model);
}

}  // namespace

int run_pull(const PullOptions& options, const SettingsRequest& request) {
  const LoadedSettings settings = load_settings(request);
  if (options.source.find('/') == std::string::npos) {
    throw std::invalid_argument(words_for_a_name(options.source, request));
  }
  PullRequest wanted;
  wanted.source = options.source;
  wanted.folder = folder_for(options, request, settings.values);
  wanted.hub = hub_of(settings.values);
  wanted.ca_file = options.ca_file;
  if (const char* const token = std::getenv("HF_TOKEN"); token != nullptr) wanted.token = token;
  wanted.board = facts_of_this_board();

  static Beginning beginning;  // the handler may come when this has returned
  std::signal(SIGINT, end_at_once);
  ProgressLine line;
  Speed speed;
  PullEvents events;
  events.took_one_of = [](const std::string& words) { std::fprintf(stderr, "%s\n", words.c_str()); };
  events.chosen = [&](const HubFile& file) {
    line.say(file.name + (file.bytes ? ", " + shown_bytes(*file.bytes) : "") + " from " + file.url.authority());
  };
  events.download.opened = [&](const fs::path& part, const fs::path& tag) {
    beginning = {part.string(), tag.string()};
    beginning_of_now = &beginning;
  };
  events.download.progress = [&](std::int64_t done, std::optional<std::int64_t> of) {
    if (!line.is_shown()) return;
    line.show(speed.text(done, of), of && done == *of ? ProgressLine::When::kNow : ProgressLine::When::kSometimes);
  };
  events.download.verifying = [&line] { line.say("Computing its SHA-256"); };
  const Pulled pulled = pull_model(wanted, events);
  std::signal(SIGINT, SIG_DFL);
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
              words_of_next_step(pulled.path, request).c_str());
  return kExitOk;
}

int run_remove(const RemoveOptions& options, const SettingsRequest& request) {
  ServerLink server(options.remote, request);
  Json all = Json::array();
  const auto removed = [&](const std::string& name, const OfferedModel* model) {
    all.push_back(Json{{"model", model != nullptr ? model->name : name},
                       {"path", model != nullptr ? Json(model->path) : Json(nullptr)},
                       {"bytes", model != nullptr ? model->bytes : Json(nullptr)},
                       {"unfinished", model == nullptr}});
    if (options.json) return;
    if (model == nullptr) {
      std::printf("%s: what an unfinished pull has left is deleted\n", name.c_str());
    } else {
      std::printf("%s is deleted (%s%s)\n", model->name.c_str(), model->path.c_str(),
                  model->bytes.is_number() ? (", " + shown_bytes(model->bytes.get<std::int64_t>())).c_str() : "");
    }
  };
  try {
    const auto offered = offered_where_one_runs(server, options.remote);
    if (offered && (offered->has_chat || !options.remote.to.empty())) {
      remove_from_server(server, *offered, options.models, removed);
    } else {
      const OfferedModels known = offered ? *offered : models_of_settings(server.settings(), server.settings_options());
      remove_from_settings(server.settings(), known, options.models, removed);
    }
  } catch (const std::exception&) {
    if (options.json && !all.empty()) print_json(all);  // these are gone
    throw;
  }
  if (options.json) print_json(all);
  return kExitOk;
}

}  // namespace rkllm_mcp
