// A runtime library in this process: loaded, bound to the ABI set that its version asks for.
#pragma once

#include "library/library_file.hpp"

#include <rkllm_mcp/abi_set.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// The ABI sets compiled into this program, oldest first.
std::span<const AbiSet* const> abi_sets();

struct AbiChoice {
  const AbiSet* set = nullptr;
  std::string warning;  // empty unless the choice is a guess that deserves a log line
};

// The set for a library of `version`, or the one named by `forced`. Throws RpcError kRuntimeUnavailable that says why
// no set fits and how to force one.
AbiChoice choose_abi_set(std::string_view version, std::string_view forced);

class LoadedLibrary {
 public:
  // Loads `file` and finds its functions. Throws RpcError kRuntimeUnavailable.
  LoadedLibrary(LibraryFile file, const AbiSet& set);

  const LibraryFile& file() const { return file_; }
  const AbiSet& abi() const { return set_; }
  const Binding& binding() const { return *binding_; }

 private:
  LibraryFile file_;
  const AbiSet& set_;
  // Never unloaded: the vendor's library starts threads (OpenMP) that outlive its last handle.
  void* native_ = nullptr;
  std::unique_ptr<Binding> binding_;
};

}  // namespace rkllm_mcp
