#include "worker/child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace rkllm_mcp {
namespace {

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
    ::posix_spawn_file_actions_adddup2(&actions_, control.number(), ChildProcess::kControlSocket);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, ChildProcess::kControlSocket + 1);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

pid_t spawn(const ChildProcess::Command& command, const Descriptor& control, const Descriptor& log) {
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

ChildProcess::ChildProcess(const Command& command, const Descriptor& control, const Descriptor& log)
    : id_(spawn(command, control, log)) {}

Descriptor ChildProcess::end_news() const { return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, id_, 0))); }

bool ChildProcess::is_stopped() const {
  siginfo_t news{};
  return ::waitid(P_PID, static_cast<id_t>(id_), &news, WSTOPPED | WNOHANG | WNOWAIT) == 0 && news.si_pid != 0;
}

bool ChildProcess::has_ended(Wait wait) const {
  siginfo_t news{};
  const int options = WEXITED | WNOWAIT | (wait == Wait::kNo ? WNOHANG : 0);
  if (::waitid(P_PID, static_cast<id_t>(id_), &news, options) != 0)
    return errno == ECHILD;  // it has been reaped already
  return news.si_pid != 0;
}

void ChildProcess::kill() const { ::kill(id_, SIGKILL); }

ChildProcess::End ChildProcess::reap() const {
  int status = 0;
  ::waitpid(id_, &status, 0);
  return WIFSIGNALED(status) ? End{WTERMSIG(status), 0} : End{0, WEXITSTATUS(status)};
}

}  // namespace rkllm_mcp
