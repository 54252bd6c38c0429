// Waits for what another process or thread makes true, where nothing tells of it that a test could wait for.
#pragma once

#include <chrono>
#include <thread>

namespace rkllm_mcp::test {

// Asks `condition` again and again. False if it has not become true in time.
template <class Condition>
bool eventually(const Condition& condition, std::chrono::milliseconds patience = std::chrono::seconds(60)) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace rkllm_mcp::test
