#include "support/terminal_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

namespace rkllm_mcp::test {
namespace {

int left_until(std::chrono::steady_clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::max<long long>(left, 0));
}

}  // namespace

TerminalProcess::TerminalProcess(const Process::Options& options, unsigned short columns) {
  winsize size{};
  size.ws_row = 40;
  size.ws_col = columns;
  std::vector<char*> arguments;
  for (const std::string& argument : options.args) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "forkpty");
  if (pid_ > 0) {
    ::fcntl(terminal_, F_SETFD, FD_CLOEXEC);
    return;
  }
  if (!options.directory.empty() && ::chdir(options.directory.c_str()) != 0) ::_exit(127);
  for (const std::string& name : options.unset) ::unsetenv(name.c_str());
  for (const auto& [name, value] : options.env) ::setenv(name.c_str(), value.c_str(), 1);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

TerminalProcess::~TerminalProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (terminal_ >= 0) ::close(terminal_);
}

void TerminalProcess::type(std::string_view keys) {
  while (!keys.empty()) {
    const auto count = ::write(terminal_, keys.data(), keys.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw std::system_error(errno, std::generic_category(), "the terminal takes no keys");
    keys.remove_prefix(static_cast<std::size_t>(count));
  }
}

bool TerminalProcess::read_some(std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    pollfd ready{terminal_, POLLIN, 0};
    const int count = ::poll(&ready, 1, left_until(deadline));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    std::array<char, 4096> bytes = {};
    const auto size = ::read(terminal_, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;  // EIO: nobody has the terminal any more
    shown_.append(bytes.data(), static_cast<std::size_t>(size));
    return true;
  }
}

bool TerminalProcess::wait_for(std::string_view text, Duration patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto at = shown_.find(text, seen_);
    if (at != std::string::npos) {
      seen_ = at + text.size();
      return true;
    }
    if (!read_some(deadline)) return false;
  }
}

std::optional<int> TerminalProcess::wait(Duration patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (read_some(deadline)) {
  }
  if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace rkllm_mcp::test
