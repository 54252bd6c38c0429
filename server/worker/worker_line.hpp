// One connection to a worker, and what is said on it: a request, and its reply or its stream.
//
// Threads: one at a time, but for cancel().
#pragma once

#include "client/tcp_connection.hpp"
#include "worker/worker_process.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace rkllm_mcp {

class WorkerLine {
 public:
  // `hang`: a worker that says nothing for so long, on this line and in its log, while a call is in progress is killed.
  WorkerLine(std::shared_ptr<WorkerProcess> process, std::chrono::milliseconds hang);

  // Executes a call and gives its result. Throws the worker's RpcError; kRuntimeUnavailable if the worker is or goes
  // away. Errors of the runtime carry the error lines that it has printed meanwhile, if any, as `data.log`.
  Json call(std::string_view method, Json params);

  // Likewise of a call that streams. `chunk` is called with each message of the stream, the last one included, whose
  // content is the result as well.
  using ChunkFunction = std::function<void(const Json& chunk)>;
  Json stream(std::string_view method, Json params, const ChunkFunction& chunk);
  // The error lines that the worker has printed since the latest request.
  std::vector<std::string> logged_errors() const { return process_->log().errors_since(log_lines_); }

  // Stops the stream that is in progress, or the next one if none is. Any thread; never waits.
  void cancel();
  // Before the next stream: cancel() of the last one is forgotten.
  void renew();

 private:
  Json exchange(std::string_view method, Json params, const ChunkFunction* chunk);
  void give_on_log();
  Json receive();
  [[noreturn]] void fail(RpcError error, std::uint64_t log_lines);
  [[noreturn]] void worker_gone(std::uint64_t log_lines, const std::string& suspicion);
  void send_cancel();  // with cancelling_ held; never waits
  void send_late_cancel();

  const std::shared_ptr<WorkerProcess> process_;
  const std::chrono::milliseconds hang_;
  client::TcpConnection connection_;
  std::uint64_t id_ = 0;         // of the latest request
  std::uint64_t log_lines_ = 0;  // that the worker had printed before it

  std::mutex cancelling_;
  bool cancelled_ = false;
  bool in_progress_ = false;
  bool cancel_is_due_ = false;  // the worker was not reading when it should have been sent
};

// How a worker ended, as the error of the calls that it was making.
RpcError worker_died(const WorkerProcess::End& end, std::vector<std::string> last_errors);

}  // namespace rkllm_mcp
