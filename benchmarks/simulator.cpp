// How many callbacks the simulator makes per second, beside what calling an empty callback costs on this machine.
//
// The two are measured in turns, so that a machine that slows down slows down both. Printed are medians.
#include "generator/headers/rkllm_1.3.0.h"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace {

constexpr int kRounds = 7;
constexpr std::int64_t kTokens = 2'000'000;
constexpr std::int64_t kFloorCalls = 50'000'000;
constexpr int kBatch = 8;

// What all rows call. Counts, so that no compiler can leave it out.
int on_result(RKLLMResult*, void* userdata, LLMCallState) {
  ++*static_cast<std::int64_t*>(userdata);
  return 0;
}

// Counts as well, and tells when an asynchronous run has ended.
struct Waiter {
  std::int64_t calls = 0;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
};

int on_async_result(RKLLMResult*, void* userdata, LLMCallState state) {
  Waiter& waiter = *static_cast<Waiter*>(userdata);
  ++waiter.calls;
  if (state != RKLLM_RUN_FINISH) return 0;
  const std::lock_guard lock(waiter.mutex);
  waiter.ended = true;
  waiter.changed.notify_one();
  return 0;
}

LLMHandle make(const char* model, LLMResultCallback on_call, int n_batch, bool is_async) {
  RKLLMParam param = rkllm_createDefaultParam();
  param.model_path = model;
  param.is_async = is_async;
  param.extend_param.enabled_cpus_mask = 0x0F;
  param.extend_param.n_batch = static_cast<std::uint8_t>(n_batch);
  RKLLMCallback callback{};
  callback.result_callback = on_call;
  LLMHandle handle = nullptr;
  if (rkllm_init(&handle, &param, &callback) != 0) std::exit(1);
  return handle;
}

std::vector<RKLLMInput> inputs(int count, const std::string& prompt) {
  RKLLMInput input{};
  input.input_type = RKLLM_INPUT_PROMPT;
  input.prompt_input = prompt.c_str();
  return std::vector<RKLLMInput>(static_cast<std::size_t>(count), input);
}

std::int64_t call_empty_callback() {
  std::int64_t calls = 0;
  RKLLMResult result{};
  // Through a pointer that the compiler has to read each time, as a library has to.
  LLMResultCallback volatile callback = on_result;
  for (std::int64_t i = 0; i < kFloorCalls; ++i) callback(&result, &calls, RKLLM_RUN_NORMAL);
  return calls;
}

std::int64_t run(LLMHandle handle, int n_batch) {
  const std::string prompt = "@n=" + std::to_string(kTokens);
  std::vector<RKLLMInput> input = inputs(n_batch, prompt);
  RKLLMInferParam infer{};
  std::int64_t calls = 0;
  rkllm_run(handle, input.data(), &infer, &calls);
  return calls;
}

std::int64_t run_async(LLMHandle handle) {
  const std::string prompt = "@n=" + std::to_string(kTokens);
  std::vector<RKLLMInput> input = inputs(1, prompt);
  RKLLMInferParam infer{};
  Waiter waiter;
  rkllm_run_async(handle, input.data(), &infer, &waiter);
  std::unique_lock lock(waiter.mutex);
  waiter.changed.wait(lock, [&] { return waiter.ended; });
  return waiter.calls;
}

struct Row {
  const char* name;
  std::function<std::int64_t()> measure;
  std::vector<double> rates{};  // calls per second, one for each round

  double median() {
    std::sort(rates.begin(), rates.end());
    return rates[rates.size() / 2];
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s simulator/models/fast.json\n", argv[0]);
    return 2;
  }
  // The simulator's log goes to stdout, as the vendor's does; the table has it to itself.
  const int table = dup(1);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, 1);

  auto* const one = make(argv[1], on_result, 1, false);
  auto* const batch = make(argv[1], on_result, kBatch, false);
  auto* const async = make(argv[1], on_async_result, 1, true);
  std::vector<Row> rows{
      {"empty callback, called in a loop (floor)", call_empty_callback},
      {"rkllm_run", [one] { return run(one, 1); }},
      {"rkllm_run_async", [async] { return run_async(async); }},
      {"rkllm_run, n_batch 8 (8 tokens a callback)", [batch] { return run(batch, kBatch); }},
  };
  for (int round = 0; round < kRounds; ++round) {
    for (Row& row : rows) {
      const auto begun = std::chrono::steady_clock::now();
      const std::int64_t calls = row.measure();
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begun;
      row.rates.push_back(static_cast<double>(calls) / time.count());
    }
  }
  for (auto* const handle : {one, batch, async}) rkllm_destroy(handle);

  dprintf(table, "%-45s %14s %10s %9s\n", "", "callbacks/s", "ns each", "of floor");
  for (Row& row : rows) {
    const double rate = row.median();
    dprintf(table, "%-45s %14.0f %10.1f %8.1f%%\n", row.name, rate, 1e9 / rate, 100 * rate / rows[0].median());
  }
  return 0;
}
