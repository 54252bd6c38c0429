// A runtime library that this process has loaded, spoken to through the ABI set that its version calls for.
#pragma once

#include <rkllm_mcp/abi_set.hpp>

#include <memory>
#include <string>
#include <string_view>

class RuntimeLibrary {
 public:
  // Throws std::runtime_error if the file is no RKLLM runtime, or one of a version that no ABI set stands for. The
  // version is read from the file before anything of it is executed: the functions have the same names in all versions.
  explicit RuntimeLibrary(const std::string& path);

  const std::string& version() const { return version_; }
  // Calls the function `name` on this thread. rkllm_init fills in the handle, later calls use it; `results` receives
  // the tokens of a run. Throws rkllm_mcp::RpcError: InvalidParams before the library is called, CallFailed if it
  // refuses.
  rkllm_mcp::Json call(std::string_view name, const rkllm_mcp::Json& params, rkllm_mcp::HandleRecord& handle,
                       rkllm_mcp::ResultSink* results = nullptr) const;

 private:
  std::string version_;
  const rkllm_mcp::AbiSet* set_;
  std::unique_ptr<rkllm_mcp::Binding> binding_;
};
