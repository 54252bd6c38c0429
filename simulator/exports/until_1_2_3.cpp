// What was different before 1.3.0: rkllm_init, and what rkllm_is_running says.
#include "engine/checked_instance.hpp"
#include "exports/convert.hpp"
#include "exports/live_handles.hpp"
#include "exports/make_handle.hpp"

#include <rkllm.h>

#include <memory>

namespace {

using namespace rkllm_mcp::sim;

class ResultFunction final : public Client {
 public:
  explicit ResultFunction(LLMResultCallback function) : result_(function) {}

  int deliver(std::span<const Output> outputs, State state, void* userdata) override {
    return result_.call(outputs, state, userdata);
  }

  bool has_tokenizer() const override { return false; }
  int tokenize(const char*, std::size_t, std::span<TokenId>) override { return 0; }
  bool has_embedder() const override { return false; }
  int embed(std::span<TokenId>, std::span<float>) override { return -1; }

 private:
  ResultCallback result_;
};

}  // namespace

// These sets know one callback: a function for the results.
int rkllm_init(LLMHandle* handle, RKLLMParam* param, LLMResultCallback callback) {
  return make_handle(handle, param, std::make_unique<ResultFunction>(callback));
}

// As the headers before 1.3.0 document it. What those libraries really return is not known.
int rkllm_is_running(LLMHandle handle) {
  if (handle == nullptr) return -1;
  return instance_of(handle, __func__).is_running() ? 0 : 1;
}
