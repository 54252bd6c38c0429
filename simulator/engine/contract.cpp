#include "engine/contract.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

namespace rkllm_mcp::sim {

void broken_contract(Death death, std::string_view what) {
  const std::string message = "E rkllm: broken contract: " + std::string(what) + " (rkllm simulator)\n";
  std::fputs(message.c_str(), stderr);
  const char* strict = std::getenv("RKLLM_SIM_STRICT");
  const std::string_view mode = strict == nullptr ? "" : strict;
  if (mode == "hang") hang();
  if (mode == "crash") die(death, what);
  std::abort();
}

void die(Death death, std::string_view what) {
  switch (death) {
    // A handler that the program has installed sees the signal, as it would with the vendor's library.
    case Death::kSegmentationFault: std::raise(SIGSEGV); break;
    case Death::kException: throw std::logic_error(std::string(what));
    case Death::kHang: hang();
    case Death::kAbort: break;
  }
  std::abort();
}

void hang() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace rkllm_mcp::sim
