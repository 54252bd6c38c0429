// What is different since 1.3.0: rkllm_init, which takes a struct of callbacks, and what rkllm_is_running says.
#include "engine/checked_instance.hpp"
#include "engine/contract.hpp"
#include "exports/convert.hpp"
#include "exports/live_handles.hpp"
#include "exports/make_handle.hpp"

#include <rkllm.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>

namespace {

using namespace rkllm_mcp::sim;

// Whether `address` lies in a part of the process that can be executed. That tells a pointer to a function from one to
// data: programs written for runtimes up to 1.2 pass rkllm_init a function where 1.3 expects a struct. Any thread;
// reads /proc/self/maps.
bool is_code(const void* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"), std::fclose);
  if (!maps) return false;
  // A line is "START-END rwxp ..." in hexadecimal. What can be written is data, such as an executable stack.
  std::array<char, 512> line{};
  while (std::fgets(line.data(), line.size(), maps.get()) != nullptr) {
    unsigned long long start = 0;
    unsigned long long end = 0;
    std::array<char, 5> access{};
    if (std::sscanf(line.data(), "%llx-%llx %4s", &start, &end, access.data()) != 3) continue;
    if (start <= number && number < end) return access[2] == 'x' && access[1] != 'w';
  }
  return false;
}

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

// As 1.3.0 documents it, and does.
int rkllm_is_running(LLMHandle handle) {
  if (handle == nullptr) return -1;
  return instance_of(handle, __func__).is_running() ? 1 : 0;
}
