// rkllm_init of the sets before 1.3.0, which know one callback: a function for the results.
#include "exports/make_handle.hpp"
#include "exports/result_callback.hpp"

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

int rkllm_init(LLMHandle* handle, RKLLMParam* param, LLMResultCallback callback) {
  return make_handle(handle, param, std::make_unique<ResultFunction>(callback));
}
