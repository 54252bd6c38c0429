// The generated stubs of one ABI set, together with the function pointers of one loaded library.
#pragma once

#include <rkllm_mcp/abi_set.hpp>
#include <rkllm_mcp/errors.hpp>

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// Sets `function` to the symbol `name`. Throws RpcError kRuntimeUnavailable if the library has none.
template <class Function>
void find_symbol(const SymbolLookup& lookup, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(lookup(name));
  if (function == nullptr) throw runtime_unavailable("the library has no function " + std::string(name));
}

// One method's stub: decodes, calls, encodes.
template <class Functions>
struct Stub {
  std::string_view name;
  Json (*call)(const Functions& functions, CallContext& call);
};

template <class Functions>
class BoundLibrary final : public Binding {
 public:
  BoundLibrary(const Functions& functions, std::span<const Stub<Functions>> stubs)
      : functions_(functions), stubs_(stubs) {}

  Json call(const Method& method, CallContext& call) const override {
    for (const auto& stub : stubs_) {
      if (stub.name == method.name) return stub.call(functions_, call);
    }
    throw std::logic_error("method of another ABI set: " + std::string(method.name));
  }

 private:
  Functions functions_;
  std::span<const Stub<Functions>> stubs_;
};

}  // namespace rkllm_mcp
