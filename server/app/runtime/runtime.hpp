// One runtime: the library that was found (or why none could be used), where it runs, and the
// backend that makes its calls.
//
// Threads: built on any; try_out(), shut_down() and is_outdated() on any, beside the rest, which is the event loop's.
#pragma once

#include "backend.hpp"
#include "backend/queued_backend.hpp"
#include "clock.hpp"
#include "library/loaded_library.hpp"
#include "library/standard_error_tap.hpp"
#include "settings/settings.hpp"

#include <rkllm_mcp/abi_set.hpp>
#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

class WorkerEngine;

class Runtime {
 public:
  // Never fails: without a usable library every call is answered with error 4005. What the library prints in a worker
  // process goes to `log`, which outlives this. `printed` is called for each such line, on any thread; null: it is
  // not. Tokens of workers are read on `loop`.
  using PrintedFunction = std::function<void(spdlog::level::level_enum level, pid_t worker, std::string_view line)>;
  Runtime(asio::io_context& loop, const Settings& settings, spdlog::logger& log, Counts& counts,
          PrintedFunction printed = {});
  // One without a library; calls end with `reason`.
  explicit Runtime(const RpcError& reason);

  // Starts a worker and asks it whether it is well, if the library is to run in workers. Takes its time; calls that
  // come meanwhile wait for the worker. Throws RpcError kRuntimeUnavailable.
  void try_out();
  // Marks the runtime as tried out without asking a worker, since a model is loaded with it: shut_down() then gives its
  // workers time, instead of killing them at once.
  void count_as_tried_out() { tried_out_ = true; }

  const std::shared_ptr<Backend>& backend() { return backend_; }
  // The object that backend() is, for those who lease handles; null without a library.
  QueuedBackend* queued() const { return queued_; }
  // The set of the library; without one, the newest, so that clients can still read what they could call.
  const AbiSet& abi() const { return *abi_; }
  // The library's version; without a library, that of the newest set.
  std::string version() const { return file_ ? file_->version : std::string(abi().version); }
  bool simulated() const { return file_ && file_->simulated; }
  // {"path","version","abi","simulated","reason",...}, and the handles; without a library the path is null. The reason
  // says why that is so, or that the file is another one by now; null: all is well.
  Json status() const;
  std::vector<QueuedBackend::HandleStatus> handles() const;
  // For the log. trouble(): why there is no library; warning(): what is doubtful about the one that there is; or "".
  const std::string& trouble() const { return trouble_; }
  const std::string& warning() const { return warning_; }
  std::string description() const;  // one line: "runtime 1.3.0 (/usr/lib/librkllmrt.so, ...)", SIMULATED if so

  QueuedBackend::Use use() const { return queued_ == nullptr ? QueuedBackend::Use::kIdle : queued_->use(); }
  // Whether the library is a part of this process, until its end.
  bool is_bound() const { return library_.has_value(); }
  // The library that it serves; nothing: none.
  const std::optional<LibraryFile>& file() const { return file_; }
  // Whether what is found now is another library than `served`, or another file. Reads files; any thread.
  static bool is_outdated(const std::optional<LibraryFile>& served, const Settings& settings);

  // See QueuedBackend; both do nothing without a library. shut_down() also ends try_out(); any thread.
  void when_lost(QueuedBackend::LostFunction lost);
  bool shut_down(Clock::time_point deadline);

 private:
  void do_without(const RpcError& reason);
  std::unique_ptr<Engine> make_engine(asio::io_context& loop, const Settings& settings, spdlog::logger& log,
                                      PrintedFunction printed);

  std::optional<LibraryFile> file_;
  const AbiSet* abi_;
  std::optional<LoadedLibrary> library_;   // if it runs in this process
  std::unique_ptr<StandardErrorTap> tap_;  // if it runs in this process
  WorkerEngine* workers_ = nullptr;        // the backend's engine, if it is one of worker processes
  std::atomic<bool> tried_out_{false};
  QueuedBackend* queued_ = nullptr;
  std::shared_ptr<Backend> backend_;
  std::string trouble_;
  std::string warning_;
};

}  // namespace rkllm_mcp
