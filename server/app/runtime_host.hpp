// The runtime that this server fronts: the library that was found (or why none could be used) and the backend that
// makes its calls.
//
// Threads: built on the main thread; status() from the event loop.
#pragma once

#include "backend.hpp"
#include "backend/loaded_library.hpp"
#include "backend/local_backend.hpp"
#include "settings/settings.hpp"

#include <rkllm_mcp/abi_set.hpp>
#include <rkllm_mcp/json.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp {

class RuntimeHost {
 public:
  // Never fails: without a usable library every call is answered with error 4005.
  explicit RuntimeHost(const Settings& settings);

  const std::shared_ptr<Backend>& backend() { return backend_; }
  // The set of the loaded library; without one, the newest, so that clients can still read what they could call.
  const AbiSet& abi() const;
  // Of the loaded library; without one, of the newest set.
  std::string version() const { return library_ ? library_->file().version : std::string(abi().version); }
  bool simulated() const { return library_ && library_->file().simulated; }
  // {"path","version","abi","simulated"}, or {"path":null,...,"reason"}; and the handles.
  Json status() const;
  // For the log: how it went, worst first. The first is "" if all is well.
  const std::string& trouble() const { return trouble_; }
  const std::string& warning() const { return warning_; }
  std::string description() const;  // one line: "librkllmrt 1.3.0 (/usr/lib/librkllmrt.so)", SIMULATED if so

  // Stops all runs and destroys all handles; false if the library still hangs at `deadline`.
  bool shut_down(std::chrono::steady_clock::time_point deadline);

 private:
  std::optional<LoadedLibrary> library_;
  LocalBackend* local_ = nullptr;
  std::shared_ptr<Backend> backend_;
  std::string trouble_;
  std::string warning_;
};

}  // namespace rkllm_mcp
