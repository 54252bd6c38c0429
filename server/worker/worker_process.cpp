#include "worker/worker_process.hpp"

#include "worker/control_socket.hpp"

#include <poll.h>

#include <algorithm>
#include <utility>

namespace rkllm_mcp {
namespace {

// How often one looks whether a worker has been stopped; and whether it has ended, where the system does not tell: a
// process that the library has started may hold the log's pipe open after the worker has died.
constexpr std::chrono::milliseconds kOftenLooks{200};
constexpr std::chrono::milliseconds kSeldomLooks{10'000};

}  // namespace

WorkerProcess::WorkerProcess(const Command& command, ProcessOutput::LineFunction line, std::chrono::milliseconds hang)
    : WorkerProcess(command, std::move(line), hang, make_seqpacket_pair(), make_pipe()) {}

WorkerProcess::WorkerProcess(const Command& command, ProcessOutput::LineFunction line, std::chrono::milliseconds hang,
                             DescriptorPair control, DescriptorPair pipe)
    : hang_(hang),
      control_(std::move(control.first)),
      log_(std::move(pipe.first), std::move(line)),
      child_(command, control.second, pipe.second),
      watcher_(start_watcher()) {}

// A worker that nobody can watch must not be left behind.
Thread WorkerProcess::start_watcher() try {
  return Thread([this] { watch(); });
} catch (...) {
  child_.kill();
  child_.reap();
  throw;
}

WorkerProcess::~WorkerProcess() {
  kill();
  watcher_.join();
}

DescriptorPair WorkerProcess::open(const std::string& id) {
  DescriptorPair in_order = make_stream_pair();
  DescriptorPair beside = make_stream_pair();
  const std::lock_guard lock(mutex_);
  pass_sockets(control_, {id, {std::move(in_order.second), std::move(beside.second)}});
  return {std::move(in_order.first), std::move(beside.first)};
}

bool WorkerProcess::takes_models() const {
  const std::lock_guard lock(mutex_);
  pollfd control{control_.number(), 0, 0};
  return control_.number() >= 0 && ::poll(&control, 1, 0) == 0;  // which would tell of a closed end
}

void WorkerProcess::end(std::chrono::milliseconds patience) {
  {
    const std::lock_guard lock(mutex_);
    control_.close();
  }
  if (!wait_for_end(patience)) kill();
}

void WorkerProcess::kill() {
  const std::lock_guard lock(mutex_);
  if (!end_) child_.kill();
}

std::optional<WorkerProcess::End> WorkerProcess::ended() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

std::optional<WorkerProcess::End> WorkerProcess::wait_for_end(std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, patience, [this] { return end_.has_value(); });
  return end_;
}

void WorkerProcess::when_ended(const void* key, Listener listener) {
  const std::lock_guard listening(listening_);
  if (const auto end = ended()) return listener(*end);
  listeners_.emplace_back(key, std::move(listener));
}

void WorkerProcess::forget(const void* key) {
  const std::lock_guard listening(listening_);
  std::erase_if(listeners_, [key](const auto& each) { return each.first == key; });
}

void WorkerProcess::watch() {
  Descriptor end = child_.end_news();
  bool was_stopped = false;
  auto stopped_since = Clock::now();
  bool has_ended = false;
  while (!has_ended) {
    const auto interval = end.number() < 0 ? kOftenLooks : std::clamp(hang_ / 4, kOftenLooks, kSeldomLooks);
    // While a debugger holds a process that has ended, `end` stays readable: it is looked at no more.
    if (log_.wait(interval, end.number())) end.close();
    const bool is_stopped = child_.is_stopped();
    if (is_stopped && !std::exchange(was_stopped, true)) stopped_since = Clock::now();
    was_stopped = is_stopped;
    if (was_stopped && Clock::now() - stopped_since >= hang_) kill();
    log_.read();
    has_ended = child_.has_ended(ChildProcess::Wait::kNo);
  }
  log_.read_rest();
  note_end();
}

void WorkerProcess::note_end() {
  const std::lock_guard listening(listening_);
  {
    const std::lock_guard lock(mutex_);
    end_ = child_.reap();
  }
  news_.notify_all();
  for (const auto& [key, listener] : listeners_) listener(*end_);
}

}  // namespace rkllm_mcp
