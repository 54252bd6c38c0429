#include "app/runtime/runtime.hpp"

#include "app/from_settings.hpp"
#include "backend/file_rules.hpp"
#include "backend/guarded_engine.hpp"
#include "backend/handle_resources.hpp"
#include "backend/unavailable_backend.hpp"
#include "clock.hpp"
#include "library/library_engine.hpp"
#include "worker/worker_engine.hpp"
#include "worker/worker_main.hpp"

#include <rkllm_mcp/errors.hpp>

#include <string_view>
#include <utility>

namespace rkllm_mcp {
namespace {

// The library's own lines begin with their level: "E rkllm: ...".
spdlog::level::level_enum level_of_line(std::string_view line) {
  if (line.starts_with("E ")) return spdlog::level::err;
  if (line.starts_with("W ")) return spdlog::level::warn;
  return spdlog::level::info;
}

FileRules::Directories directories_of(const Settings& settings) {
  return {settings.runtime.model_dirs, settings.runtime.cache_dir, settings.runtime.cache_bytes};
}

constexpr const char* kThisProgram = "/proc/self/exe";

}  // namespace

Runtime::Runtime(asio::io_context& loop, const Settings& settings, spdlog::logger& log, Counts& counts,
                 PrintedFunction printed)
    : abi_(abi_sets().back()) {
  try {
    file_ = find_library(library_search(settings));
    const AbiChoice choice = choose_abi_set(file_->version, settings.runtime.abi);
    warning_ = choice.warning;
    abi_ = choice.set;
    auto queued = std::make_unique<QueuedBackend>(
        std::make_unique<GuardedEngine>(make_engine(loop, settings, log, std::move(printed))), abi_->methods,
        QueuedBackend::Limits{settings.limits.max_handles, settings.queue.max_per_handle, &counts,
                              settings.queue.max_per_token});
    queued->identify_files_by(
        [rules = FileRules(directories_of(settings))](const std::string& path) { return file_identity(rules, path); });
    QueuedBackend* const made = queued.get();
    backend_ = std::move(queued);
    queued_ = made;  // now that nothing can fail any more
  } catch (const RpcError& error) {
    do_without(error);
  } catch (const std::exception& error) {
    do_without(runtime_unavailable(error.what()));
  }
}

Runtime::Runtime(const RpcError& reason) : abi_(abi_sets().back()) { do_without(reason); }

void Runtime::do_without(const RpcError& reason) {
  file_.reset();
  tap_.reset();
  library_.reset();
  workers_ = nullptr;
  queued_ = nullptr;
  abi_ = abi_sets().back();
  trouble_ = reason.what();
  backend_ = std::make_shared<UnavailableBackend>(reason);
}

std::unique_ptr<Engine> Runtime::make_engine(asio::io_context& loop, const Settings& settings, spdlog::logger& log,
                                             PrintedFunction printed) {
  const FileRules::Directories files = directories_of(settings);
  if (settings.runtime.isolation == Isolation::kThread) {
    library_.emplace(*file_, *abi_);
    tap_ = std::make_unique<StandardErrorTap>();
    return std::make_unique<LibraryEngine>(*library_, FileRules(files), tap_.get());
  }
  WorkerEngine::Options options{
      .loop = loop,
      .command = {kThisProgram, to_arguments({file_->path, file_->version, std::string(abi_->version), files})},
      .one_for_all = settings.runtime.workers == Workers::kShared,
      .hang = settings.runtime.hang_s};
  options.line = [&log, printed = std::move(printed)](pid_t worker, std::string_view line) {
    log.log(level_of_line(line), "worker {}: {}", worker, line);
    if (printed) printed(level_of_line(line), worker, line);
  };
  auto engine = std::make_unique<WorkerEngine>(std::move(options));
  workers_ = engine.get();
  return engine;
}

void Runtime::try_out() {
  if (workers_ == nullptr) return;
  workers_->try_out();
  tried_out_ = true;
}

bool Runtime::is_outdated(const std::optional<LibraryFile>& served, const Settings& settings) {
  try {
    const LibraryFile found = find_library(library_search(settings));
    return !served || found != *served;
  } catch (const std::exception&) {
    return served.has_value();
  }
}

std::string Runtime::description() const {
  if (!file_) return "no runtime: " + trouble_;
  return std::string(file_->simulated ? "SIMULATED runtime " : "runtime ") + file_->version + " (" + file_->path +
         ", ABI set " + std::string(abi_->version) + (library_ ? ", in this process)" : ", in worker processes)");
}

std::vector<QueuedBackend::HandleStatus> Runtime::handles() const {
  if (queued_ == nullptr) return {};
  auto all = queued_->handles();
  for (auto& handle : all) handle.simulated = simulated();
  return all;
}

Json Runtime::status() const {
  if (!file_) {
    return Json{
        {"path", nullptr}, {"version", nullptr}, {"abi", nullptr}, {"simulated", nullptr}, {"reason", trouble_}};
  }
  // If the file has changed, somebody is upgrading the library, or has forgotten to restart the server.
  Json reason = nullptr;
  if (const auto change = change_of(*file_); !change.empty()) {
    reason = file_->asked + " " + std::string(change) + " since version " + file_->version + " was taken from it: " +
             (library_ ? "restart the server"
                       : "unload all models and send the server SIGHUP (systemctl reload), or restart it") +
             ", to use what is there now";
  }
  Json all = Json::array();
  for (const auto& handle : handles()) all.push_back(brief_of(handle));
  return Json{{"path", file_->path},
              {"version", file_->version},
              {"abi", abi_->version},
              {"simulated", file_->simulated},
              {"note", file_->simulated ? Json("SIMULATED: no model runs, the answers are made up") : Json(nullptr)},
              {"isolation", library_ ? "thread" : "process"},
              {"reason", std::move(reason)},
              {"handles", std::move(all)}};
}

void Runtime::when_lost(QueuedBackend::LostFunction lost) {
  if (queued_ != nullptr) queued_->when_lost(std::move(lost));
}

bool Runtime::shut_down(Clock::time_point deadline) {
  const bool works = tried_out_ || (queued_ != nullptr && queued_->use() == QueuedBackend::Use::kModels);
  if (workers_ != nullptr && !works) workers_->kill();
  const bool has_ended = queued_ == nullptr || queued_->shut_down(deadline);
  if (workers_ != nullptr) workers_->kill();  // one that is being tried out
  return has_ended;
}

}  // namespace rkllm_mcp
