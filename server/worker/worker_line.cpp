#include "worker/worker_line.hpp"

#include "backend/logged_errors.hpp"
#include "jsonrpc/envelope.hpp"

#include <csignal>
#include <cstring>
#include <utility>

namespace rkllm_mcp {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kForItsEnd{1};
constexpr int kLooksForItsEnd = 5;

// The worker is looked at so often while nothing arrives: it may have printed something.
constexpr std::chrono::milliseconds kLook{250};

struct Hanging {};

std::string name_of_signal(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : "SIG" + std::string(name);
}

RpcError to_error(const Json& error) {
  return {static_cast<ErrorCode>(error.value("code", static_cast<int>(ErrorCode::kInternalError))),
          error.value("message", std::string("the worker gave no reason")), error.value("data", Json())};
}

// What a worker that cannot work says before it exits; empty if it has not.
std::string own_words(const std::vector<std::string>& last_errors) {
  constexpr std::string_view kWorker = "E worker: ";
  for (const std::string& line : last_errors) {
    if (line.starts_with(kWorker)) return line.substr(kWorker.size());
  }
  return {};
}

}  // namespace

RpcError worker_died(const WorkerProcess::End& end, std::vector<std::string> last_errors) {
  const std::string words = end.signal == 0 ? own_words(last_errors) : std::string();
  const std::string how = end.signal != 0 ? "was killed by " + name_of_signal(end.signal)
                                          : "has exited with code " + std::to_string(end.exit_code);
  const RpcError error = runtime_unavailable(words.empty() ? "the process that ran the model " + how : words);
  Json data = error.data();
  if (end.signal != 0) data["signal"] = name_of_signal(end.signal);
  data["log"] = std::move(last_errors);
  return {error.code(), error.what(), std::move(data)};
}

WorkerLine::WorkerLine(std::shared_ptr<WorkerProcess> process, std::chrono::milliseconds hang)
    : process_(std::move(process)), hang_(hang), connection_(process_->connect().release(), "worker") {}

Json WorkerLine::call(std::string_view method, Json params) { return exchange(method, std::move(params), nullptr); }

Json WorkerLine::stream(std::string_view method, Json params, const ChunkFunction& chunk) {
  params["stream"] = true;
  return exchange(method, std::move(params), &chunk);
}

Json WorkerLine::exchange(std::string_view method, Json params, const ChunkFunction* chunk) {
  const std::uint64_t log_lines = log_lines_ = process_->log().lines();
  try {
    {
      const std::lock_guard lock(cancelling_);
      ++id_;
      in_progress_ = false;
    }
    connection_.send(to_text(Json{{"jsonrpc", "2.0"}, {"id", id_}, {"method", method}, {"params", std::move(params)}}));
    {
      const std::lock_guard lock(cancelling_);
      in_progress_ = chunk != nullptr;
      if (in_progress_ && cancelled_) send_cancel();
    }
    while (true) {
      Json message = receive();
      if (const auto id = message.find("id"); id != message.end() && *id != id_) continue;
      if (const auto error = message.find("error"); error != message.end()) fail(to_error(*error), log_lines);
      if (const auto result = message.find("result"); result != message.end()) {
        if (chunk != nullptr) continue;  // the stream has been accepted
        give_on_log();
        return std::move(*result);
      }
      if (chunk == nullptr || !message.contains("params")) throw Json::other_error::create(0, "no reply", nullptr);
      Json& step = message["params"];
      const bool last = step.value("end", false);
      if (const auto error = step.find("error"); error != step.end()) fail(to_error(*error), log_lines);
      (*chunk)(step);
      if (!last) continue;
      give_on_log();
      const std::lock_guard lock(cancelling_);
      in_progress_ = false;
      return std::move(step);
    }
  } catch (const client::ConnectionError&) {
    worker_gone(log_lines, {});
  } catch (const Json::exception&) {
    process_->kill();
    worker_gone(log_lines, "it did not speak as it should");
  } catch (const Hanging&) {
    process_->kill();
    worker_gone(log_lines, "it gave no sign of life for " + std::to_string(hang_.count() / 1000) + " s");
  }
}

// What was printed before the call returned has arrived; those who hear it belong to the call, and end with it.
void WorkerLine::give_on_log() { process_->log().read(); }

Json WorkerLine::receive() {
  auto last_sign = Clock::now();
  std::uint64_t signs = process_->log().lines();
  while (true) {
    if (const auto line = connection_.receive(Clock::now() + kLook)) {
      return Json::parse(*line);
    }
    const std::uint64_t now = process_->log().lines() + connection_.unfinished_bytes();
    if (std::exchange(signs, now) != now) last_sign = Clock::now();
    send_late_cancel();
    if (Clock::now() - last_sign >= hang_) throw Hanging();
  }
}

void WorkerLine::cancel() {
  const std::lock_guard lock(cancelling_);
  if (std::exchange(cancelled_, true) || !in_progress_) return;
  try {
    send_cancel();
  } catch (const client::ConnectionError&) {
    // The worker has gone, and with it the run.
  }
}

void WorkerLine::renew() {
  const std::lock_guard lock(cancelling_);
  cancelled_ = false;
  cancel_is_due_ = false;
}

void WorkerLine::send_cancel() {
  cancel_is_due_ = !connection_.try_send(notification_message("notifications/cancelled", Json{{"requestId", id_}}));
}

void WorkerLine::send_late_cancel() {
  const std::lock_guard lock(cancelling_);
  if (in_progress_ && cancel_is_due_) send_cancel();
}

void WorkerLine::fail(RpcError error, std::uint64_t log_lines) {
  {
    const std::lock_guard lock(cancelling_);
    in_progress_ = false;
  }
  if (error.code() != ErrorCode::kCallFailed) throw error;
  give_on_log();
  auto errors = process_->log().errors_since(log_lines);
  if (errors.empty()) throw error;
  throw with_log(error, std::move(errors));
}

void WorkerLine::worker_gone(std::uint64_t log_lines, const std::string& suspicion) {
  auto end = process_->wait_for_end(kForItsEnd);
  if (!end) process_->kill();  // it does not speak as it should
  for (int looks = 0; !end && looks < kLooksForItsEnd; ++looks) end = process_->wait_for_end(kForItsEnd);
  if (!end) end = WorkerProcess::End{SIGKILL, 0};  // a driver holds it; it goes when that lets it
  const RpcError died = worker_died(*end, process_->log().errors_since(log_lines));
  if (suspicion.empty()) throw died;
  Json data = died.data();
  data["reason"] = data["reason"].get<std::string>() + ": " + suspicion;
  throw RpcError(died.code(), std::string(died.what()) + ": " + suspicion, std::move(data));
}

}  // namespace rkllm_mcp
