#include "run_loop.hpp"

#include <asio/post.hpp>

#include <utility>

namespace rkllm_mcp {

void run_loop(asio::io_context& loop, const FaultReport& report, const SlowFunction& slow) {
  for (bool is_done = false; !is_done;) {
    try {
      slow ? run_watched(loop, slow) : static_cast<void>(loop.run());
      is_done = true;
    } catch (...) {
      report(std::current_exception());
    }
  }
}

void pass_on(asio::io_context& loop, std::exception_ptr fault) {
  asio::post(loop, [fault = std::move(fault)] { std::rethrow_exception(fault); });
}

std::string text_of_fault(const std::exception_ptr& fault) {
  try {
    std::rethrow_exception(fault);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of an unknown kind";
  }
}

}  // namespace rkllm_mcp
