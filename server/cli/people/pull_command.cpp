#include "cli/run_command.hpp"

#include "cli/help/progress_line.hpp"
#include "cli/help/terminal.hpp"
#include "cli/people/offered_models.hpp"
#include "cli/people/server_link.hpp"
#include "cli/serve_options.hpp"
#include "cli/talk/interrupts.hpp"
#include "client/connection.hpp"
#include "clock.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "models/model_files.hpp"
#include "pull/hub.hpp"
#include "pull/pull.hpp"
#include "text/shown.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

namespace fs = std::filesystem;
// How far a download is, and how fast.
class Speed {
 public:
  void show(ProgressLine& line, std::int64_t done, std::optional<std::int64_t> of) {
    if (!line.is_shown()) return;
    line.show(text(done, of), of && done == *of ? ProgressLine::When::kNow : ProgressLine::When::kSometimes);
  }

 private:
  std::string text(std::int64_t done, std::optional<std::int64_t> of) {
    const auto now = Clock::now();
    if (!began_) {
      began_ = now;
      at_first_ = done;
    }
    std::string text = shown_progress(done, of);
    // Of the bytes that came over this connection, and not of those that were there.
    const double seconds = seconds_between(*began_, now);
    constexpr double kEnough = 1;
    if (seconds < kEnough || done <= at_first_) return text;
    const double speed = static_cast<double>(done - at_first_) / seconds;
    text += "  " + shown_bytes(static_cast<std::int64_t>(speed)) + "/s";
    return of ? text + "  " + shown_time_left(static_cast<double>(*of - done) / speed) : text;
  }

  std::optional<Clock::time_point> began_;
  std::int64_t at_first_ = 0;
};

// What stands beside a model until it is whole.
struct Beginning {
  std::string part;
  std::string tag;
};
std::atomic<const Beginning*> beginning_of_now = nullptr;  // for a handler of signals, which may not take memory

// Does not wait, not even for a silent network: a pull may end at any moment, and the next one goes on from there.
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

// The models of the server of the settings; if none runs, or it does not tell them, those that it would have.
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
std::string words_for_a_name(const std::string& name, const OfferedModels& offered, const std::string& place) {
  if (const OfferedModel* const model = offered.find(name)) {
    return model->name + " is " + place + " already: rkllm-mcp chat " + shell_word(model->name) + offered.where +
           "; what is fetched is named hf.co/OWNER/NAME, or by the https address of a .rkllm file";
  }
  return name + " names no model to fetch" + did_you_mean(name, offered.names()) +
         "; what is fetched is named hf.co/OWNER/NAME, or by the https address of a .rkllm file";
}

bool is_one_word(const std::string& place) { return place.find_first_of("/.:") == std::string::npos; }

bool looks_like_folder(const std::string& place) {
  std::error_code error;
  const bool is_path = place.find('/') != std::string::npos && place.find(':') == std::string::npos;
  return is_path || place.starts_with('.') || fs::is_directory(place, error);
}

fs::path folder_for(const PullOptions& options, const SettingsRequest& request, const Settings& settings) {
  if (!options.folder.empty()) return options.folder;
  const auto folders = model_folders(settings.runtime.model_dirs);
  if (!folders.empty()) return folders.front();
  throw std::runtime_error(
      "runtime.model_dirs names no folder of models, and there is no home directory. Say where: "
      "rkllm-mcp pull --folder ./models " +
      shell_word(options.source) + as_options(request));
}

constexpr const char* kVerifying = "Computing its SHA-256";
constexpr const char* kWhole = "success";  // Ollama's word

// What is fetched has an address, or OWNER/NAME.
bool names_a_place(const std::string& source) { return source.find('/') != std::string::npos; }

// `result`: as --json has it. `where`: " on http://board:8080/", or nothing.
std::string words_of_result(const Json& result, const std::string& where) {
  return text_at(result, "path") + (result["was_there"] == Json(true) ? " was there already" : " is there") + where +
         " (" + shown_bytes(result["bytes"].get<std::int64_t>()) + ", SHA-256 " + text_at(result, "sha256") +
         (result["verified"] == Json(true) ? ", as the hub has it" : ", which nobody vouches for") + ")";
}

Pulled pull_or_say_how_to_trust(const PullRequest& wanted, const PullEvents& events) {
  try {
    return pull_model(wanted, events);
  } catch (const UntrustedHost& error) {
    throw std::runtime_error(std::string(error.what()) + ", or name who has signed it: rkllm-mcp pull --cacert FILE");
  }
}

void tell_remark(const std::string& words) { std::fprintf(stderr, "%s\n", words.c_str()); }

int pull_here(const PullOptions& options, const SettingsRequest& request) {
  const LoadedSettings settings = load_settings(request);
  if (!names_a_place(options.source)) {
    throw std::invalid_argument(words_for_a_name(options.source, models_here(request), "here"));
  }
  PullRequest wanted;
  wanted.source = options.source;
  wanted.folder = folder_for(options, request, settings.values);
  wanted.hub = parse_url(settings.values.runtime.model_hub);
  wanted.ca_file = options.remote.ca_file;
  if (const char* const token = std::getenv("HF_TOKEN"); token != nullptr) wanted.token = token;
  wanted.board = facts_of_this_board();

  static Beginning beginning;  // the handler may come when this has returned
  std::signal(SIGINT, end_at_once);
  ProgressLine line;
  Speed speed;
  PullEvents events;
  events.remark = tell_remark;
  events.chosen = [&](const HubFile& file) {
    line.say(file.name + (file.bytes ? ", " + shown_bytes(*file.bytes) : "") + " from " + file.url.authority());
  };
  events.download.opened = [&](const fs::path& part, const fs::path& tag) {
    beginning_of_now = nullptr;  // the handler must not read what changes
    beginning = {part.string(), tag.string()};
    beginning_of_now = &beginning;
  };
  events.download.progress = [&](std::int64_t done, std::optional<std::int64_t> of) { speed.show(line, done, of); };
  events.download.verifying = [&line] { line.say(kVerifying); };
  const Pulled pulled = pull_or_say_how_to_trust(wanted, events);
  std::signal(SIGINT, SIG_DFL);
  const std::string name = pulled.path.stem().string();
  const Json result{{"model", name},           {"path", pulled.path.string()},   {"bytes", pulled.bytes},
                    {"sha256", pulled.sha256}, {"verified", pulled.is_verified}, {"was_there", pulled.was_there}};
  if (options.json) {
    print_json(result);
  } else {
    std::printf("%s\n%s\n", words_of_result(result, {}).c_str(), words_of_next_step(pulled.path, request).c_str());
  }
  return kExitOk;
}

// A server's word on how far it is, as Ollama's have it.
void show_pull(const Json& news, ProgressLine& line, Speed& speed) {
  const auto bytes = [&news](const char* key) -> std::optional<std::int64_t> {
    constexpr std::int64_t kMost = std::int64_t{1} << 53;
    const Json value = news.value(key, Json());
    if (!value.is_number_integer()) return std::nullopt;
    return std::clamp<std::int64_t>(value.get<std::int64_t>(), 0, kMost);
  };
  const auto done = bytes("completed");
  if (!done) return line.say(text_at(news, "status"));
  speed.show(line, *done, bytes("total"));
}

// What came of it: what the server says in its last line, as --json has it. Nothing where Ctrl-C has ended it. Throws
// as ServerLink does.
std::optional<Json> pulled_there(ServerLink& server, const std::string& source) {
  const Interrupts interrupts;
  ProgressLine line;
  Speed speed;
  Json last;  // the server repeats it as a sign of life
  const auto take = [&](const std::string& text) {
    const Json news = parse_bounded(text).value_or(Json());
    if (!news.is_object() || news == last) return;
    if (news.contains("error")) throw ServerRefuses(200, text_at(news, "error"));
    last = news;
    if (text_at(news, "status") == kWhole) return;
    // A remark is printed also where standard error is no terminal, as pull_here() does.
    const bool is_remark = news.contains("rkllm") && news["rkllm"].is_object() && news["rkllm"].contains("remark");
    if (is_remark) return tell_remark(text_at(news, "status"));
    show_pull(news, line, speed);
  };
  const bool is_whole =
      server.lines("/api/pull", Json{{"model", source}}, take, [&interrupts] { return interrupts.taken(); });
  if (!is_whole) return std::nullopt;
  if (!last.is_object() || text_at(last, "status") != kWhole)
    throw client::ConnectionError(server.url() + ": its answer ends before the model is there");
  Json result{{"model", nullptr},  {"path", nullptr},     {"bytes", nullptr},
              {"sha256", nullptr}, {"verified", nullptr}, {"was_there", nullptr}};  // of Ollama, say
  const Json told = last.value("rkllm", Json());
  if (told.is_object() && told.value("model", Json()).is_string() && told.value("bytes", Json()).is_number_unsigned()) {
    result.update(told);
  }
  return result;
}

// To whoever has meant a folder by --to.
std::string words_for_folder(const PullOptions& options) {
  return "; a folder is named by --folder: rkllm-mcp pull " + shell_word(options.source) + " --folder " +
         shell_word(options.remote.to);
}

int pull_there(const PullOptions& options, const SettingsRequest& request) {
  const std::string& to = options.remote.to;
  if (looks_like_folder(to)) {
    throw std::invalid_argument("--to " + to + ": it names the server that is to fetch the model" +
                                words_for_folder(options) +
                                (is_one_word(to) ? "; a server of that name: --to http://" + to : ""));
  }
  ServerLink server(options.remote, request);
  if (!names_a_place(options.source)) {
    throw std::invalid_argument(words_for_a_name(options.source, offered_models(server), "there"));
  }
  std::optional<Json> result;
  try {
    result = pulled_there(server, options.source);
  } catch (const client::UnknownHost& error) {
    if (!is_one_word(to)) throw;
    throw std::runtime_error(error.what() + words_for_folder(options));
  } catch (const ServerRefuses& refusal) {
    if (refusal.status() != 404) throw;
    throw std::runtime_error(server.url() +
                             " fetches no models: it runs with chat.enabled=false, or is an older "
                             "version. On its machine: rkllm-mcp pull " +
                             shell_word(options.source));
  }
  if (!result) {
    std::fprintf(stderr, "rkllm-mcp: stopped; what had come is kept there, and the same command goes on from there\n");
    return kExitInterrupted;
  }
  if (options.json) {
    print_json(*result);
  } else if ((*result)["model"].is_string()) {
    std::printf("%s\nTalk to it: rkllm-mcp chat %s%s\n", words_of_result(*result, " on " + server.url()).c_str(),
                shell_word(text_at(*result, "model")).c_str(), server.where().c_str());
  } else {
    std::printf("%s is there. What it is called: rkllm-mcp models%s\n", options.source.c_str(), server.where().c_str());
  }
  return kExitOk;
}

}  // namespace

int run_pull(const PullOptions& options, const SettingsRequest& request) {
  return options.remote.to.empty() ? pull_here(options, request) : pull_there(options, request);
}

}  // namespace rkllm_mcp
