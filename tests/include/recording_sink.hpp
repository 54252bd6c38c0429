// A ResultSink that writes down what it is told.
#pragma once

#include <rkllm_mcp/result_sink.hpp>

#include <string>
#include <vector>

namespace rkllm_mcp::test {

class RecordingSink final : public ResultSink {
 public:
  std::size_t batch_size() const noexcept override { return batch; }
  void on_token(std::size_t entry, std::optional<std::string_view> text, std::int32_t token_id) noexcept override {
    events.push_back("token " + std::to_string(entry) + " " + (text ? "'" + std::string(*text) + "'" : "-") + " " +
                     std::to_string(token_id));
  }
  void on_rows(const FloatRows& rows) noexcept override {
    events.push_back("rows " + std::string(rows.field) + "." + std::string(rows.values_name) + " " +
                     std::string(rows.rows_name) + "=" + std::to_string(rows.rows) + " " +
                     std::string(rows.columns_name) + "=" + std::to_string(rows.columns));
  }
  void on_end(std::string_view state, Json values) noexcept override {
    events.push_back("end " + std::string(state) + " " + values.dump());
  }
  CallbackReturn callback_return() noexcept override { return answer; }
  bool await_end(const std::function<bool()>& still_running) override {
    was_running = still_running();
    return end_is_seen;
  }

  std::size_t batch = 1;
  CallbackReturn answer = CallbackReturn::kGoOn;
  bool end_is_seen = true;
  bool was_running = false;
  std::vector<std::string> events;
};

}  // namespace rkllm_mcp::test
