// The runtime that this server fronts: the library that was found (or why none could be used), where it runs, and the
// backend that makes its calls.
//
// Threads: built on the main thread; the queries from the event loop.
#pragma once

#include "backend.hpp"
#include "backend/loaded_library.hpp"
#include "backend/queued_backend.hpp"
#include "backend/standard_error_tap.hpp"
#include "settings/settings.hpp"

#include <rkllm_mcp/abi_set.hpp>
#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <spdlog/logger.h>

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

class RuntimeHost {
 public:
  // Never fails: without a usable library every call is answered with error 4005. What the library prints in a worker
  // process goes to `log`, which outlives the host.
  // `printed` hears of each such line; any thread, null: nobody does.
  using PrintedFunction = std::function<void(spdlog::level::level_enum level, pid_t worker, std::string_view line)>;
  RuntimeHost(const Settings& settings, spdlog::logger& log, Counts& counts, PrintedFunction printed = {});

  const std::shared_ptr<Backend>& backend() { return backend_; }
  // The set of the library; without one, the newest, so that clients can still read what they could call.
  const AbiSet& abi() const { return *abi_; }
  // Of the library; without one, of the newest set.
  std::string version() const { return file_ ? file_->version : std::string(abi().version); }
  bool simulated() const { return file_ && file_->simulated; }
  // {"path","version","abi","simulated"}, or {"path":null,...,"reason"}; and the handles.
  Json status() const;
  std::vector<QueuedBackend::HandleStatus> handles() const;
  // For the log: how it went, worst first. The first is "" if all is well.
  const std::string& trouble() const { return trouble_; }
  const std::string& warning() const { return warning_; }
  std::string description() const;  // one line: "runtime 1.3.0 (/usr/lib/librkllmrt.so, ...)", SIMULATED if so

  // Whether a library has come, gone, or become another since, and no model would be lost by using what is there now.
  bool is_outdated(const Settings& settings) const;

  // See QueuedBackend; both do nothing without a library.
  void when_lost(QueuedBackend::LostFunction lost);
  bool shut_down(std::chrono::steady_clock::time_point deadline);

 private:
  void do_without(const RpcError& reason);
  std::unique_ptr<Engine> make_engine(const Settings& settings, spdlog::logger& log, PrintedFunction printed);

  std::optional<LibraryFile> file_;
  const AbiSet* abi_;
  std::optional<LoadedLibrary> library_;    // if it runs in this process
  std::unique_ptr<StandardErrorTap> tap_;   // likewise
  QueuedBackend* queued_ = nullptr;
  std::shared_ptr<Backend> backend_;
  std::string trouble_;
  std::string warning_;
};

}  // namespace rkllm_mcp
