// A library of the 1.3.0 interface that does nothing but note what it was called with, and a caller of its methods.
#pragma once

#include "recording_sink.hpp"

#include <rkllm_mcp/v1_3_0/methods.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rkllm_mcp::test {

// What the fake functions see and answer. One at a time: the functions are plain C functions and find it by pointer.
struct FakeLibrary {
  FakeLibrary() { current = this; }
  ~FakeLibrary() { current = nullptr; }
  FakeLibrary(const FakeLibrary&) = delete;
  FakeLibrary& operator=(const FakeLibrary&) = delete;

  static FakeLibrary* current;

  std::vector<std::string> calls;  // names, in order
  int status = 0;                  // what functions return
  int running = 0;                 // what rkllm_is_running returns
  void* made = this;               // the handle that rkllm_init makes
  std::string missing;             // the symbol that the library does not have
  v1_3_0::RKLLMParam param{};      // of rkllm_init
  v1_3_0::RKLLMCallback callback{};
  std::string model_path;
  // Called by the functions with what they were given, while it is alive.
  std::function<void(v1_3_0::RKLLMInput*, v1_3_0::RKLLMInferParam*, void*)> on_run;
  std::function<void(int, int*, int*)> on_clear;
  std::function<void(v1_3_0::RKLLMCrossAttnParam*)> on_cross_attention;
  std::function<void(v1_3_0::RKLLMLoraAdapter*)> on_lora;
  std::vector<std::string> texts;  // of the last function that takes texts

  void* find(const std::string& name) const;
};

// Calls methods on one handle, as the backend would.
class Caller {
 public:
  explicit Caller(FakeLibrary& library);

  // The reply; throws what the method throws.
  Json call(const std::string& method, const Json& params);
  // The complaint; "no complaint" if there was none. Anything but an RpcError passes through.
  std::string complaint(const std::string& method, const Json& params);

  FakeLibrary& library;
  HandleRecord handle;
  RecordingSink sink;
  ArrayEncoding encoding = ArrayEncoding::kJson;

 private:
  std::unique_ptr<Binding> binding_;
};

const Method& method_named(const std::string& name);

}  // namespace rkllm_mcp::test
