#include "worker/worker_process.hpp"

#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

// How often one looks whether a worker has been stopped; and whether it has ended, where the system does not tell: a
// process that the library has started may hold the log's pipe open after the worker has died.
constexpr std::chrono::milliseconds kOftenLooks{200};
constexpr std::chrono::milliseconds kSeldomLooks{10'000};

// Tells of the end of a process. Empty on Linux older than 5.3.
Descriptor descriptor_of(pid_t process) { return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))); }

class SpawnActions {
 public:
  SpawnActions() { ::posix_spawn_file_actions_init(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }

  // Standard input is empty, the outputs are the log, the control socket is where it is expected; nothing else of ours
  // is open.
  void lay_out(const Descriptor& control, const Descriptor& log) {
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", 0, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, log.number(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, log.number(), STDERR_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, control.number(), WorkerProcess::kControlSocket);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, WorkerProcess::kControlSocket + 1);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

pid_t spawn(const WorkerProcess::Command& command, const Descriptor& control, const Descriptor& log) {
  std::vector<std::string> words{"rkllm-mcp"};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  SpawnActions actions;
  actions.lay_out(control, log);
  pid_t id = -1;
  const int error = ::posix_spawn(&id, command.program.c_str(), actions.get(), nullptr, argv.data(), environ);
  if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start " + command.program);
  return id;
}

}  // namespace

WorkerProcess::WorkerProcess(const Command& command, ProcessOutput::LineFunction line, std::chrono::milliseconds hang)
    : WorkerProcess(command, std::move(line), hang, make_seqpacket_pair(), make_pipe()) {}

WorkerProcess::WorkerProcess(const Command& command, ProcessOutput::LineFunction line, std::chrono::milliseconds hang,
                             DescriptorPair control, DescriptorPair pipe)
    : hang_(hang),
      control_(std::move(control.first)),
      log_(std::move(pipe.first), std::move(line)),
      id_(spawn(command, control.second, pipe.second)),
      watcher_(start_watcher()) {}

// A worker that nobody can watch must not be left behind.
std::thread WorkerProcess::start_watcher() try {
  return std::thread([this] { watch(); });
} catch (...) {
  ::kill(id_, SIGKILL);
  ::waitpid(id_, nullptr, 0);
  throw;
}

WorkerProcess::~WorkerProcess() {
  kill();
  watcher_.join();
}

DescriptorPair WorkerProcess::open(const std::string& id) {
  DescriptorPair turn = make_stream_pair();
  DescriptorPair beside = make_stream_pair();
  const std::lock_guard lock(mutex_);
  pass_sockets(control_, {id, {std::move(turn.second), std::move(beside.second)}});
  return {std::move(turn.first), std::move(beside.first)};
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
  if (!end_) ::kill(id_, SIGKILL);
}

std::optional<WorkerProcess::End> WorkerProcess::wait_for_end(std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, patience, [this] { return end_.has_value(); });
  return end_;
}

void WorkerProcess::when_ended(const void* key, Listener listener) {
  const std::lock_guard listening(listening_);
  if (const auto end = ended()) return listener(*end);
  listeners_[key] = std::move(listener);
}

void WorkerProcess::forget(const void* key) {
  const std::lock_guard listening(listening_);
  listeners_.erase(key);
}

bool WorkerProcess::is_stopped() const {
  siginfo_t news{};
  return ::waitid(P_PID, static_cast<id_t>(id_), &news, WSTOPPED | WNOHANG | WNOWAIT) == 0 && news.si_pid != 0;
}

void WorkerProcess::watch() {
  using Clock = std::chrono::steady_clock;
  siginfo_t news{};
  Descriptor end = descriptor_of(id_);
  bool was_stopped = false;
  auto stopped_since = Clock::now();
  do {
    const auto interval = end.number() < 0 ? kOftenLooks : std::clamp(hang_ / 4, kOftenLooks, kSeldomLooks);
    // One that has ended, and that somebody traces, is told of again and again until that lets it go.
    if (log_.wait(interval, end.number())) end.close();
    const bool is_stopped_now = is_stopped();
    if (is_stopped_now && !std::exchange(was_stopped, true)) stopped_since = Clock::now();
    was_stopped = is_stopped_now;
    if (was_stopped && Clock::now() - stopped_since >= hang_) kill();
    const bool can_write = log_.read() != ProcessOutput::Read::kEnd;
    news.si_pid = 0;
    // It stays a zombie, so that its number is not given to another process before kill() knows.
    const int options = WEXITED | WNOWAIT | (can_write ? WNOHANG : 0);
    if (::waitid(P_PID, static_cast<id_t>(id_), &news, options) != 0 && errno == ECHILD) break;  // reaped by another
  } while (news.si_pid == 0);
  while (log_.read() == ProcessOutput::Read::kMore) {
  }
  note_end();
}

void WorkerProcess::note_end() {
  const std::lock_guard listening(listening_);
  {
    const std::lock_guard lock(mutex_);
    int status = 0;
    ::waitpid(id_, &status, 0);
    end_ = WIFSIGNALED(status) ? End{WTERMSIG(status), 0} : End{0, WEXITSTATUS(status)};
  }
  news_.notify_all();
  for (const auto& [key, listener] : listeners_) listener(*end_);
}

}  // namespace rkllm_mcp
