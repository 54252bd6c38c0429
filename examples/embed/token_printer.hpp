// Prints the tokens of a run as they come.
#pragma once

#include <rkllm_mcp/result_sink.hpp>

#include <iostream>

class TokenPrinter final : public rkllm_mcp::ResultSink {
 public:
  std::size_t batch_size() const noexcept override { return 1; }
  void on_token(std::size_t, std::optional<std::string_view> text, std::int32_t) noexcept override {
    if (text) std::cout << *text << std::flush;
  }
  void on_rows(const rkllm_mcp::FloatRows&) noexcept override {}  // only other modes than generating have rows
  void on_end(std::string_view state, rkllm_mcp::Json) noexcept override { finished_ = state == "RKLLM_RUN_FINISH"; }
  rkllm_mcp::CallbackReturn callback_return() noexcept override { return rkllm_mcp::CallbackReturn::kGoOn; }
  // rkllm_run returns after the end. With rkllm_run_async this would have to wait for on_end, on another thread.
  bool await_end(const std::function<bool()>&) override { return finished_; }

  bool finished() const { return finished_; }

 private:
  bool finished_ = false;
};
