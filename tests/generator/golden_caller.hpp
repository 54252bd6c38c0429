// Calls the methods of a golden, bound to functions of the test.
#pragma once

#include "include/recording_sink.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/abi_set.hpp>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>

namespace bindgen::test {

using rkllm_mcp::Json;
using rkllm_mcp::test::has_text;

template <class Function>
void* symbol(Function* function) {
  return reinterpret_cast<void*>(function);
}

class GoldenCaller {
 public:
  GoldenCaller(const rkllm_mcp::AbiSet& set, const std::map<std::string, void*>& functions)
      : set_(set), binding_(set.bind([&](const char* name) {
          const auto found = functions.find(name);
          return found == functions.end() ? nullptr : found->second;
        })) {
    handle.id = "it-1";
  }

  // The reply; throws what the method throws.
  Json call(const std::string& name, const Json& params = Json::object()) {
    for (const rkllm_mcp::Method& method : set_.methods) {
      if (method.name != name) continue;
      rkllm_mcp::CallContext context{.params = params, .arena = {}};
      if (method.handle != rkllm_mcp::HandleRole::kNone) context.handle = &handle;
      if (method.streams) context.results = &sink;
      return binding_->call(method, context);
    }
    throw std::logic_error("no method " + name);
  }
  // The complaint; "accepted" if there was none.
  std::string complaint(const std::string& name, const Json& params = Json::object()) {
    try {
      call(name, params);
    } catch (const rkllm_mcp::RpcError& error) {
      return error.what();
    }
    return "accepted";
  }

  rkllm_mcp::HandleRecord handle;
  rkllm_mcp::test::RecordingSink sink;

 private:
  const rkllm_mcp::AbiSet& set_;
  std::unique_ptr<rkllm_mcp::Binding> binding_;
};

}  // namespace bindgen::test
