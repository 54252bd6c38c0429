// One ABI set: the bindings generated from one version of the header. The backend picks a set by the version that it
// reads from the library file, binds it to the loaded library, and calls methods through it.
#pragma once

#include <rkllm_mcp/call_context.hpp>
#include <rkllm_mcp/facts.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/method.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace rkllm_mcp {

// Finds a symbol of the loaded library by name; null if it has none.
using SymbolLookup = std::function<void*(const char* name)>;

// A loaded library, spoken to through one ABI set. Stateless but for the function pointers: which threads may call
// which functions at the same time is the library's contract, kept by the backend.
class Binding {
 public:
  virtual ~Binding() = default;

  // Decodes `call.params`, calls the C function, encodes what it returned. Throws RpcError (InvalidParams with the JSON
  // path, CallFailed, ...) without having called anything if the parameters are bad. `method` is one of the set's own.
  virtual Json call(const Method& method, CallContext& call) const = 0;
};

struct AbiSet {
  std::string_view version;                      // of the header, e.g. "1.3.0"
  std::span<const std::string_view> stands_for;  // every version with this interface, oldest first
  std::span<const Method> methods;               // in header order
  std::span<const Fact> facts;                   // constants, enums and structs by name
  std::span<const Elsewhere> elsewhere;          // functions, constants and types that only other versions have
  // Fills the function table. Throws RpcError kRuntimeUnavailable naming the first symbol that is missing.
  std::unique_ptr<Binding> (*bind)(const SymbolLookup& lookup);
};

}  // namespace rkllm_mcp
