#include "app/runtime_host.hpp"

#include "backend/unavailable_backend.hpp"

#include <rkllm_mcp/errors.hpp>

namespace rkllm_mcp {
namespace {

LibrarySearch search_of(const RuntimeSettings& settings) {
  using Simulator = LibrarySearch::Simulator;
  if (settings.library == kSimulatorLibrary) return {{}, Simulator::kAlways};
  return {settings.library, settings.fallback == Fallback::kSimulator ? Simulator::kAsFallback : Simulator::kNever};
}

}  // namespace

RuntimeHost::RuntimeHost(const Settings& settings) {
  try {
    LibraryFile file = find_library(search_of(settings.runtime));
    const AbiChoice choice = choose_abi_set(file.version, settings.runtime.abi);
    warning_ = choice.warning;
    library_.emplace(std::move(file), *choice.set);
    auto local = std::make_unique<LocalBackend>(
        *library_, LocalBackend::Limits{settings.limits.max_handles, settings.queue.max_per_handle});
    local_ = local.get();
    backend_ = std::move(local);
  } catch (const RpcError& error) {
    library_.reset();
    trouble_ = error.what();
    backend_ = std::make_shared<UnavailableBackend>(error);
  }
}

const AbiSet& RuntimeHost::abi() const { return library_ ? library_->abi() : *abi_sets().back(); }

std::string RuntimeHost::description() const {
  if (!library_) return "no runtime: " + trouble_;
  const LibraryFile& file = library_->file();
  return std::string(file.simulated ? "SIMULATED runtime " : "runtime ") + file.version + " (" + file.path +
         ", ABI set " + std::string(library_->abi().version) + ")";
}

Json RuntimeHost::status() const {
  if (!library_) {
    return Json{
        {"path", nullptr}, {"version", nullptr}, {"abi", nullptr}, {"simulated", nullptr}, {"reason", trouble_}};
  }
  const LibraryFile& file = library_->file();
  Json handles = Json::array();
  for (const auto& handle : local_->handles()) {
    handles.push_back(Json{{"id", handle.id}, {"running", handle.running}, {"queued", handle.queued}});
  }
  return Json{{"path", file.path},
              {"version", file.version},
              {"abi", library_->abi().version},
              {"simulated", file.simulated},
              {"note", file.simulated ? Json("SIMULATED: no model runs, the answers are made up") : Json(nullptr)},
              {"handles", std::move(handles)}};
}

bool RuntimeHost::shut_down(std::chrono::steady_clock::time_point deadline) {
  return local_ == nullptr || local_->shut_down(deadline);
}

}  // namespace rkllm_mcp
