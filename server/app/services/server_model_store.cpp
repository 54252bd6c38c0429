#include "app/services/server_model_store.hpp"

#include "clock.hpp"
#include "model_name.hpp"
#include "pull/hub.hpp"
#include "pull/model_source.hpp"
#include "pull/part_file.hpp"
#include "pull/pull.hpp"
#include "threads/stop_signal.hpp"

#include <asio/post.hpp>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <variant>

namespace rkllm_mcp {
namespace {

namespace fs = std::filesystem;
using chat::ErrorKind;
using chat::PullProgress;
using chat::TurnError;

constexpr std::size_t kMostPulls = 2;  // at once: they share the network, and one disk
constexpr std::chrono::milliseconds kBetweenNews{200};
constexpr const char* kOnThisMachine = "on the server's machine: ";  // what a client is told to do is to be done there

// Tells how far a pull is, on the pull's thread; while bytes come, only now and then (kBetweenNews).
class News {
 public:
  using Tell = std::function<void(const PullProgress&)>;
  explicit News(Tell tell) : tell_(std::move(tell)) {}

  void chosen(const HubFile& file) {
    progress_.file = fs::path(file.name).filename().string();
    progress_.sha256 = file.sha256;
    progress_.total = file.bytes;
  }
  void bytes(std::int64_t done, std::optional<std::int64_t> of) {
    const auto now = Clock::now();
    const bool is_last = of && done == *of;
    if (progress_.step == PullProgress::Step::kFetching && now - told_ < kBetweenNews && !is_last) return;
    told_ = now;
    progress_.step = PullProgress::Step::kFetching;
    progress_.bytes = done;
    if (of) progress_.total = of;
    tell_(progress_);
  }
  void verifying() {
    progress_.step = PullProgress::Step::kVerifying;
    tell_(progress_);
  }

 private:
  const Tell tell_;
  PullProgress progress_;
  Clock::time_point told_{};
};

std::variant<chat::PulledModel, TurnError> pulled(PullRequest request, StopSignal& stop, News::Tell tell,
                                                  std::function<void(const std::string&)> remark) {
  request.board = facts_of_this_board();
  News news(std::move(tell));
  PullEvents events;
  events.remark = std::move(remark);
  events.chosen = [&news](const HubFile& file) { news.chosen(file); };
  events.download.progress = [&news](std::int64_t done, std::optional<std::int64_t> of) { news.bytes(done, of); };
  events.download.verifying = [&news] { news.verifying(); };
  events.download.goes_on = [&stop] { return !stop.is_stopped(); };
  events.on_socket = [&stop](int socket) { stop.watch(socket); };
  try {
    const Pulled got = pull_model(request, events);
    return chat::PulledModel{got.path.stem().string(), got.path.string(), got.bytes, got.sha256,
                             got.is_verified,          got.was_there};
  } catch (const std::invalid_argument& error) {
    return TurnError::bad_field("model", error.what());
  } catch (const UntrustedHost& error) {
    return TurnError(ErrorKind::kUpstream, std::string(kOnThisMachine) + error.what() +
                                               ", or add who has signed it to the certificates that are trusted there "
                                               "(ca-certificates)");
  } catch (const WebFailed& error) {
    return TurnError(ErrorKind::kUpstream, std::string(kOnThisMachine) + error.what());
  } catch (const std::exception& error) {
    return TurnError(ErrorKind::kInternal, std::string(kOnThisMachine) + error.what());
  }
}

// Whether a file is in one of these folders, by the text of its path alone: links are not followed.
bool is_below(const std::vector<std::string>& folders, const fs::path& path) {
  return std::any_of(folders.begin(), folders.end(), [&path](const std::string& each) {
    const fs::path relative = path.lexically_normal().lexically_relative(fs::path(each).lexically_normal());
    return !relative.empty() && *relative.begin() != ".." && relative != ".";
  });
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code error;
  return one == other || fs::equivalent(one, other, error);
}

// What is to be deleted together.
struct FilesToRemove {
  std::vector<std::string> paths{};    // of models
  std::vector<std::string> names{};    // that no model has: perhaps those of unfinished pulls
  std::vector<std::string> folders{};  // where those would be
};

// Throws TurnError: then nothing was deleted, but for what delete_models() says.
void remove_all(const FilesToRemove& wanted, const std::vector<std::string>& loaded) {
  for (const std::string& path : wanted.paths) {
    const bool is_loaded = std::any_of(loaded.begin(), loaded.end(),
                                       [&path](const std::string& each) { return is_same_file(each, path); });
    if (!is_loaded) continue;
    throw TurnError::not_supported(
        "model", path + " is loaded: unload it first (POST /api/generate with keep_alive 0, or rkllm-mcp unload)");
  }
  std::vector<std::unique_ptr<PartFile>> beginnings;
  std::set<std::string> files;
  for (const std::string& name : wanted.names) {
    if (!files.insert(file_of_model(name)).second) continue;  // it was said twice
    std::vector<std::unique_ptr<PartFile>> found;
    try {
      found = unfinished_pulls(wanted.folders, name);
    } catch (const std::exception& error) {
      throw TurnError::not_supported("model", error.what());  // it is being pulled
    }
    if (found.empty()) throw TurnError::unknown_model(name);
    std::ranges::move(found, std::back_inserter(beginnings));
  }
  try {
    delete_models(wanted.paths, beginnings);
  } catch (const std::runtime_error& error) {
    throw TurnError(ErrorKind::kInternal, error.what());
  }
}

}  // namespace

struct ServerModelStore::Work {
  explicit Work(PullRequest wanted) : request(std::move(wanted)) {}

  const PullRequest request;
  StopSignal stop{};
};

struct ServerModelStore::Job : std::enable_shared_from_this<Job> {
  struct Waiting {
    chat::PullListener listener;
    std::size_t remarks_heard = 0;
  };

  std::string source;
  std::map<std::uint64_t, Waiting> listeners{};
  std::vector<std::string> remarks{};  // of this run, for whoever comes later
  std::shared_ptr<Work> work{};        // shared with its thread, which may outlive this
  bool is_stopping = false;            // nobody waited for it any more
};

class ServerModelStore::PullPlace final : public chat::QueuePlace {
 public:
  PullPlace(ServerModelStore& store, Job& job, std::uint64_t listener)
      : store_(store), alive_(store.alive_.watch()), job_(job.weak_from_this()), listener_(listener) {}
  PullPlace(const PullPlace&) = delete;
  PullPlace& operator=(const PullPlace&) = delete;
  ~PullPlace() override {
    const auto job = job_.lock();  // gone: its end has been told
    if (job && !alive_.expired()) store_.give_up(*job, listener_);
  }

 private:
  ServerModelStore& store_;
  const std::weak_ptr<const void> alive_;
  const std::weak_ptr<Job> job_;
  const std::uint64_t listener_;
};

// As many pulls may wait as run: a pull that is begun again is queued before its thread is free.
ServerModelStore::ServerModelStore(asio::io_context& loop, const Settings& settings, ServerModels& models,
                                   std::function<std::vector<std::string>()> loaded_paths)
    : loop_(loop),
      settings_(settings),
      models_(models),
      loaded_paths_(std::move(loaded_paths)),
      way_to_loop_(loop),
      threads_({kMostPulls, kMostPulls, kMostPulls, kMostPulls}),
      disk_(loop) {}

ServerModelStore::~ServerModelStore() {
  stop();
  way_to_loop_.close();
}

std::unique_ptr<chat::QueuePlace> ServerModelStore::pull(const std::string& source, chat::PullListener listener) {
  if (stopped_) throw TurnError::try_later(ErrorKind::kNoRoom, "the server is ending", 1);
  auto found = jobs_.find(source);
  if (found == jobs_.end()) {
    PullRequest request;
    request.source = source;
    request.hub = parse_url(settings_.runtime.model_hub);
    try {
      parse_model_source(source, request.hub);
    } catch (const std::invalid_argument& error) {
      throw TurnError::bad_field("model", error.what());
    }
    const auto folders = model_folders(settings_.runtime.model_dirs);
    if (folders.empty()) {
      throw TurnError::not_supported(
          "", "runtime.model_dirs names no folder of models to put it in, and there is no home directory");
    }
    request.folder = folders.front();
    if (const char* const token = std::getenv("HF_TOKEN"); token != nullptr) request.token = token;
    if (jobs_.size() >= kMostPulls) {
      constexpr std::int64_t kSeconds = 60;
      throw TurnError::try_later(ErrorKind::kQueueFull,
                                 std::to_string(jobs_.size()) +
                                     " models are being pulled already, which is as many as "
                                     "may be at once: wait until one of them is there",
                                 kSeconds);
    }
    const auto job = std::make_shared<Job>();
    job->source = source;
    job->work = std::make_shared<Work>(std::move(request));
    found = jobs_.emplace(source, job).first;
    run(*job);
  }
  Job& job = *found->second;
  const std::uint64_t number = ++next_listener_;
  job.listeners.emplace(number, Job::Waiting{std::move(listener)});
  if (!job.remarks.empty()) {
    asio::post(loop_, [alive = alive_.watch(), job = job.shared_from_this()] {
      if (!alive.expired()) tell(*job);
    });
  }
  return std::make_unique<PullPlace>(*this, job, number);
}

void ServerModelStore::run(Job& job) {
  job.is_stopping = false;
  job.remarks.clear();
  for (auto& [number, waiting] : job.listeners) waiting.remarks_heard = 0;
  // The thread does not share the job, whose listeners end on the loop only.
  const auto post = [this, loop = way_to_loop_, weak = job.weak_from_this(), alive = alive_.watch()](auto action) {
    loop.post([this, weak, alive, action] {
      if (alive.expired()) return;
      if (const auto there = weak.lock()) action(*this, *there);
    });
  };
  const auto is_taken = threads_.submit({}, [post, work = job.work] {
    const auto tell_all = [&post](std::function<void(const chat::PullListener&)> news) {
      post([news = std::move(news)](ServerModelStore&, Job& of) { tell(of, news); });
    };
    auto outcome = pulled(
        work->request, work->stop,
        [&tell_all](const PullProgress& progress) {
          tell_all([progress](const chat::PullListener& listener) { listener.progress(progress); });
        },
        [&post](const std::string& words) {
          post([words](ServerModelStore&, Job& of) {
            of.remarks.push_back(words);
            tell(of);
          });
        });
    post([outcome = std::move(outcome)](ServerModelStore& self, Job& of) { self.ended(of, outcome); });
  });
  if (is_taken) return;
  post([](ServerModelStore& self, Job& of) {
    self.ended(of, TurnError::try_later(ErrorKind::kNoRoom, "there is no thread for one more pull", 1));
  });
}

void ServerModelStore::give_up(Job& job, std::uint64_t listener) {
  if (job.listeners.erase(listener) == 0 || !job.listeners.empty() || job.is_stopping) return;
  job.is_stopping = true;
  job.work->stop.stop();
}

void ServerModelStore::tell(Job& job, const std::function<void(const chat::PullListener&)>& news) {
  if (job.is_stopping) return;
  std::vector<std::uint64_t> numbers;  // any of them may go while one is told
  for (const auto& [number, waiting] : job.listeners) numbers.push_back(number);
  for (const std::uint64_t number : numbers) {
    const auto waiting_for_it = [&job, number] {
      const auto found = job.listeners.find(number);
      return found == job.listeners.end() ? nullptr : &found->second;
    };
    for (auto* each = waiting_for_it(); each != nullptr && each->remarks_heard < job.remarks.size();
         each = waiting_for_it()) {
      const auto remark = each->listener.remark;  // outlives the listener
      remark(job.remarks[each->remarks_heard++]);
    }
    const auto* const each = waiting_for_it();
    if (news && each != nullptr) news(chat::PullListener(each->listener));
  }
}

void ServerModelStore::ended(Job& job, const Outcome& outcome) {
  if (stopped_) return;
  const bool is_there = std::holds_alternative<chat::PulledModel>(outcome);
  if (job.is_stopping && !is_there && !job.listeners.empty()) {
    // Somebody has asked for the model after the pull was stopped: the pull goes on from what has come.
    job.work = std::make_shared<Work>(job.work->request);
    return run(job);
  }
  jobs_.erase(job.source);
  if (is_there) {
    const PullProgress progress{.step = PullProgress::Step::kListing};
    tell(job, [&progress](const chat::PullListener& listener) { listener.progress(progress); });
  }
  const auto tell_end = [job = job.shared_from_this(), outcome] {
    // A listener may go while another one is told.
    while (!job->listeners.empty()) {
      const auto first = job->listeners.extract(job->listeners.begin());
      if (const auto* const error = std::get_if<TurnError>(&outcome)) {
        first.mapped().listener.failed(*error);
      } else {
        first.mapped().listener.done(std::get<chat::PulledModel>(outcome));
      }
    }
  };
  if (!is_there) return tell_end();
  models_.look_again(tell_end);  // first, so that those who are told find it in the lists
}

std::string ServerModelStore::path_to_remove(const std::string& name) const {
  if (settings_.models.contains(name)) {
    throw TurnError::not_supported("model", name + " is a preset of the settings (models." + name +
                                                "): models are deleted by the name of their file");
  }
  const auto model = is_model_path(name) ? std::nullopt : models_.find(name, {});
  if (!model) throw TurnError::unknown_model(name);
  if (model->state != chat::ModelState::kOnDisk) {
    throw TurnError::not_supported("model", name + " is " + std::string(chat::word_for(model->state)) +
                                                ": unload it first (POST /api/generate with keep_alive 0, or "
                                                "rkllm-mcp unload)");
  }
  const auto is_alias = std::ranges::find(model->aliases, name) != model->aliases.end();
  if (is_alias || settings_.models.contains(model->name)) {
    throw TurnError::not_supported(
        "model", name + " is another name of " + model->name + ": models are deleted by the name of their file");
  }
  // For a name that no model has, find() may have returned the model that chat.any_model names.
  if (name != model->name && without_latest(name) != model->name) throw TurnError::unknown_model(name);
  if (!model->path.ends_with(".rkllm") || !is_below(model_folders(settings_.runtime.model_dirs), model->path)) {
    throw TurnError::not_supported("model", model->path + " is no .rkllm file in the server's folders of models");
  }
  return model->path;
}

void ServerModelStore::remove(const std::vector<std::string>& names,
                              std::function<void(std::optional<TurnError>)> done) {
  struct Removal {
    std::optional<TurnError> error;
  };
  const auto outcome = std::make_shared<Removal>();  // one step fills it in, the other takes it
  FilesToRemove files;
  files.folders = model_folders(settings_.runtime.model_dirs);
  for (const std::string& name : names) {
    const bool may_be_begun = !models_.find(name, {}) && !name.empty() && name.find('/') == std::string::npos;
    if (may_be_begun) {
      files.names.push_back(name);
    } else {
      files.paths.push_back(path_to_remove(name));
    }
  }
  // A load that begins from here on finds no file, or goes on reading the one that it has opened.
  disk_.run(
      [outcome, files = std::move(files), loaded = loaded_paths_()] {
        try {
          remove_all(files, loaded);
        } catch (const TurnError& error) {
          outcome->error = error;
        }
      },
      [this, outcome, done = std::move(done)] { models_.look_again([outcome, done] { done(outcome->error); }); });
}

void ServerModelStore::stop() {
  stopped_ = true;
  for (const auto& [source, job] : jobs_) job->work->stop.stop();
}

}  // namespace rkllm_mcp
