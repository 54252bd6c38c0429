// The server's end of one of a worker's sockets, and what is said on it: a call, what a run produces, and how it ended.
//
// Threads: one at a time, but for stop().
#pragma once

#include "clock.hpp"
#include "worker/frame_socket.hpp"
#include "worker/reply_reader.hpp"
#include "worker/worker_process.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

class WorkerConnection {
 public:
  // `process` outlives it. `hang`: a worker that says nothing for so long, on this line and in its log, while a call is
  // in progress is killed. `loop` reads what runs produce.
  WorkerConnection(WorkerProcess& process, Descriptor socket, std::chrono::milliseconds hang, asio::io_context& loop);

  using Run = ReplyReader::Run;
  using End = ReplyReader::End;
  // Makes a call and waits for its end. Errors of the runtime carry the error lines that it has printed meanwhile, if
  // any, as `data.log`. Throws kRuntimeUnavailable if the worker has gone, or goes meanwhile, and kills it if its reply
  // cannot be read to its end. A worker that closes this line instead of answering its first call, and serves others
  // on, is left alone: it has no file descriptors or threads for one more.
  // The observer of a run gets its tokens on the loop; rows, and what comes after them, on this thread, and tokens,
  // too, where too many files are open.
  End call(const CallRequest& request, Run* run = nullptr);
  // Waits until the worker answers, which it does once its library is loaded. Throws as call() does.
  void ping() { call({nullptr, Json::object()}); }
  // What the worker has said last, in an answer here, of the model that it serves.
  const Model::Values& handle_values() const { return handle_values_; }
  // The number of a run that is going to be made here, once.
  std::uint32_t new_number() { return ++number_; }
  // The error lines that the worker has printed since the latest call began.
  std::vector<std::string> logged_errors() const { return process_.log().errors_since(log_lines_); }

  // Stops the run with this number, which is or will be made on the worker's other line. Any thread; does not wait:
  // false if the worker could not be told.
  bool stop(std::uint32_t run);

 private:
  End await_end(ReplyReader& reader, bool is_run);
  Frame pump_tokens(ReplyReader& reader);  // the first frame that holds none, if they can be read on the loop
  void look();
  [[noreturn]] void worker_gone(const std::string& suspicion);

  WorkerProcess& process_;
  const std::chrono::milliseconds hang_;
  asio::io_context& loop_;
  FrameSocket socket_;
  bool has_answered_ = false;  // the worker has made a call here: it has the room for this line
  Model::Values handle_values_{};
  std::uint32_t number_ = 0;       // the latest call's
  std::uint64_t log_lines_ = 0;    // that the worker had printed before it
  Clock::time_point last_sign_{};  // of life: a frame, or a line of the log
  std::uint64_t lines_at_last_sign_ = 0;
};

// How a worker ended, as the error of the calls that it was making.
RpcError worker_died(const WorkerProcess::End& end, const std::vector<std::string>& last_errors);

}  // namespace rkllm_mcp
