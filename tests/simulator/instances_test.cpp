// Section "several instances" of the runtime's contract, and what many of them, one after the other, leave behind.
#include "simulated.hpp"

#include <malloc.h>
#include <array>
#include <chrono>

using namespace simulated;

namespace {

struct Footprint {
  std::size_t heap_bytes = 0;  // in use; with a sanitizer, whose own check this is, 0
  std::size_t descriptors = 0;
  std::size_t threads = 0;
};

Footprint footprint() {
  Footprint now;
  const struct mallinfo2 heap = ::mallinfo2();
  now.heap_bytes = heap.uordblks + heap.hblkhd;
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "Threads:") status >> now.threads;
  }
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) now.descriptors += entry.exists();
  return now;
}

}  // namespace

TEST_CASE("10,000 cycles of init, run and destroy leave nothing behind") {
  const std::string path = model("fast");
  RKLLMParam param = param_for(path);
  RKLLMInput input = prompt("Hello");
  RKLLMInferParam params = infer(2);
  int failures = 0;
  const auto cycle = [&](int number) {
    param.is_async = number % 10 == 0;  // has a thread of its own
    LLMHandle handle = nullptr;
    failures += rkllm_init(&handle, &param, nullptr) != 0;
    failures += rkllm_run(handle, &input, &params, nullptr) != 0;
    failures += rkllm_destroy(handle) != 0;
  };
  Footprint before;
  Footprint after;
  written_by([&] {
    for (int i = 0; i < 500; ++i) cycle(i);
    before = footprint();
    for (int i = 0; i < 10'000; ++i) cycle(i);
    after = footprint();
  });
  CHECK(failures == 0);
  CHECK(after.descriptors == before.descriptors);
  CHECK(after.threads == before.threads);
  CHECK(after.heap_bytes < before.heap_bytes + 50'000);  // 5 bytes per cycle would show
}

TEST_CASE("the NPU computes one thing at a time: two handles with a pace share it") {
  const Directory directory;
  const std::string path = directory.model({{"decode_tokens_per_s", 200}, {"prefill_tokens_per_s", 1000}});
  Llm first(path);
  Llm second(path);
  const auto begun = std::chrono::steady_clock::now();
  std::thread other([&] { second.run("@n=21"); });
  first.run("@n=21");
  other.join();
  // Each alone takes 20 steps of 5 ms.
  CHECK(std::chrono::steady_clock::now() - begun >= std::chrono::milliseconds(195));
  CHECK(first.token_count() == 21);
  CHECK(second.token_count() == 21);
}

TEST_CASE("handles on different threads do not disturb each other") {
  std::array<Llm, 4> handles;
  std::vector<std::thread> threads;
  for (Llm& llm : handles) threads.emplace_back([&llm] { llm.run("@n=3000"); });
  for (std::thread& thread : threads) thread.join();
  CHECK(handles[0].token_count() == 3000);
  for (const Llm& llm : handles) CHECK(llm.text() == handles[0].text());
}
