// rkllm_init since 1.3.0, which takes a struct of callbacks.
#include "engine/contract.hpp"
#include "exports/code_address.hpp"
#include "exports/make_handle.hpp"
#include "exports/result_callback.hpp"

#include <cstdint>
#include <memory>

namespace {

using namespace rkllm_mcp::sim;

class CallbackStruct final : public Client {
 public:
  // `callback` may be null. One that points at code is a function, as runtimes up to 1.2 took it; the first run finds
  // out.
  explicit CallbackStruct(const RKLLMCallback* callback)
      : is_function_(callback != nullptr && is_code(callback)),
        callback_(callback == nullptr || is_function_ ? RKLLMCallback{} : *callback),
        result_(callback_.result_callback) {}

  int deliver(std::span<const Output> outputs, State state, void* userdata) override {
    if (is_function_) {
      broken_contract(Death::kSegmentationFault,
                      "rkllm_run: rkllm_init was given a function (the interface of 1.2), not a RKLLMCallback");
    }
    return result_.call(outputs, state, userdata == nullptr ? callback_.result_userdata : userdata);
  }

  bool has_tokenizer() const override { return callback_.tokenizer_callback != nullptr; }
  int tokenize(const char* text, std::size_t length, std::span<TokenId> ids) override {
    return callback_.tokenizer_callback(callback_.tokenizer_userdata, text, static_cast<std::int32_t>(length),
                                        ids.data(), static_cast<std::int32_t>(ids.size()));
  }

  bool has_embedder() const override { return callback_.embed_callback != nullptr; }
  int embed(std::span<TokenId> ids, std::span<float> rows) override {
    return callback_.embed_callback(callback_.embed_userdata, ids.data(), ids.size(), rows.data(), rows.size_bytes());
  }

 private:
  const bool is_function_;
  const RKLLMCallback callback_;
  ResultCallback result_;
};

}  // namespace

int rkllm_init(LLMHandle* handle, RKLLMParam* param, RKLLMCallback* callback) {
  return make_handle(handle, param, std::make_unique<CallbackStruct>(callback));
}
