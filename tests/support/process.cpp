#include "support/process.hpp"

#include "support/eventually.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <stdexcept>
#include <system_error>

extern char** environ;

namespace rkllm_mcp::test {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(errno, "pipe2");
    read_end = ends[0];
    write_end = ends[1];
  }
  int read_end;
  int write_end;
};

std::vector<std::string> child_environment(const Process::Options& options) {
  // No test uses the conversations of whoever runs it.
  std::map<std::string, std::string> variables{{"RKLLM_MCP_MEMORY_DATABASE", ":memory:"}};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string::npos) variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& name : options.unset) variables.erase(name);
  for (const auto& [name, value] : options.env) variables[name] = value;
  std::vector<std::string> result;
  for (const auto& [name, value] : variables) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (auto& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::max<long long>(0, left));
}

}  // namespace

Process::Process(const Options& options) {
  ::signal(SIGPIPE, SIG_IGN);  // a child that has closed its input is told by write(), not by a signal
  Pipe in;
  Pipe out;
  Pipe err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (options.input == Options::Input::kNull) {
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  } else {
    posix_spawn_file_actions_adddup2(&actions, in.read_end, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, out.write_end, 1);
  posix_spawn_file_actions_adddup2(&actions, err.write_end, 2);
  if (!options.directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, options.directory.c_str());

  // The child starts with default signal handling, whatever this test has set for itself.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) sigaddset(&defaults, number);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);

  std::vector<std::string> args = options.args;
  std::vector<std::string> env = child_environment(options);
  const int error = ::posix_spawnp(&pid_, args.at(0).c_str(), &actions, &attributes, pointers_to(args).data(),
                                   pointers_to(env).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  ::close(in.read_end);
  ::close(out.write_end);
  ::close(err.write_end);
  input_ = in.write_end;
  output_ = out.read_end;
  if (options.input == Options::Input::kNull) close_input();
  if (error != 0) {
    close_input();
    close_output();
    ::close(err.read_end);
    fail(error, "cannot start " + args[0]);
  }
  stop_ = ::eventfd(0, EFD_CLOEXEC);
  error_reader_ = std::thread([this, descriptor = err.read_end] { collect_errors(descriptor); });
  waiter_ = std::thread([this] { await_end(); });
}

Process::~Process() {
  signal(SIGKILL);
  close_input();
  close_output();
  waiter_.join();
  ::eventfd_write(stop_, 1);
  error_reader_.join();
  ::close(stop_);
}

void Process::signal(int number) {
  const std::lock_guard lock(mutex_);
  if (!status_) ::kill(pid_, number);
}

bool Process::write(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(input_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void Process::close_input() {
  if (input_ >= 0) ::close(input_);
  input_ = -1;
}

void Process::close_output() {
  if (output_ >= 0) ::close(output_);
  output_ = -1;
}

bool Process::fill(Clock::time_point deadline) {
  for (;;) {
    pollfd ready{output_, POLLIN, 0};
    const int count = ::poll(&ready, 1, milliseconds_until(deadline));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    std::array<char, 65536> buffer;
    const auto size = ::read(output_, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    output_text_.append(buffer.data(), static_cast<std::size_t>(size));
    return true;
  }
}

std::optional<std::string> Process::read_line(Duration patience) {
  const auto deadline = Clock::now() + patience;
  std::size_t searched = 0;
  for (;;) {
    const auto newline = output_text_.find('\n', searched);
    if (newline != std::string::npos) {
      std::string line = output_text_.substr(0, newline);
      output_text_.erase(0, newline + 1);
      return line;
    }
    searched = output_text_.size();
    if (fill(deadline)) continue;
    if (output_text_.empty() || Clock::now() >= deadline) return std::nullopt;
    return std::exchange(output_text_, {});
  }
}

std::string Process::read_rest(Duration patience) {
  const auto deadline = Clock::now() + patience;
  while (fill(deadline)) {
  }
  return std::exchange(output_text_, {});
}

void Process::collect_errors(int descriptor) {
  std::array<char, 4096> buffer;
  for (;;) {
    std::array<pollfd, 2> ready{{{descriptor, POLLIN, 0}, {stop_, POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0) continue;
    const auto size = ready[0].revents != 0 ? ::read(descriptor, buffer.data(), buffer.size()) : 0;
    if (size < 0 && errno == EINTR) continue;
    const std::lock_guard lock(mutex_);
    if (size > 0) error_text_.append(buffer.data(), static_cast<std::size_t>(size));
    if (size <= 0) error_ended_ = true;
    changed_.notify_all();
    if (size <= 0) break;
  }
  ::close(descriptor);
}

void Process::await_end() {
  // First only looked at, then reaped under the lock: signal() must never reach a number that has been given away.
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  const std::lock_guard lock(mutex_);
  int raw = 0;
  ::waitpid(pid_, &raw, 0);
  status_ = WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
  changed_.notify_all();
}

std::string Process::error_text() const {
  const std::lock_guard lock(mutex_);
  return error_text_;
}

bool Process::wait_for_error_text(std::string_view text, Duration patience) {
  std::unique_lock lock(mutex_);
  const auto found = [&] { return error_text_.find(text) != std::string::npos; };
  changed_.wait_for(lock, patience, [&] { return found() || error_ended_; });
  return found();
}

std::optional<int> Process::wait(Duration patience) {
  const auto deadline = Clock::now() + patience;
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [&] { return status_.has_value(); });
  // A grandchild may hold standard error open for longer: that is not waited for beyond the deadline.
  if (status_) changed_.wait_until(lock, deadline, [&] { return error_ended_; });
  return status_;
}

EndedProcess run_to_end(Process::Options options, Process::Duration patience) {
  options.input = Process::Options::Input::kNull;
  Process process(options);
  std::string out = process.read_rest(patience);
  const auto status = process.wait(patience);
  if (!status)
    throw std::runtime_error(options.args[0] + " did not end in time; standard error: " + process.error_text());
  return {*status, std::move(out), process.error_text()};
}

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "rkllm-mcp-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) fail(errno, "mkdtemp");
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

bool wait_for_file(const std::string& path, Process::Duration patience) {
  return eventually([&] { return std::filesystem::exists(path); }, patience);
}

bool wait_for_contents(const std::string& path, Process::Duration patience) {
  std::error_code error;
  const auto has_contents = [&] { return std::filesystem::file_size(path, error) > 0 && !error; };
  return eventually(has_contents, patience);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_file(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace rkllm_mcp::test
