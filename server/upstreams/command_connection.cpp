#include "upstreams/command_connection.hpp"

#include "clock.hpp"
#include "process/descriptor.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace rkllm_mcp {
namespace {

using namespace std::chrono_literals;

// The first two together must be less than Upstreams::stop() waits (300 ms). A process that takes longer is killed by
// the kernel when this program ends.
constexpr auto kToEndByItself = 150ms;
constexpr auto kToEndWhenAsked = 100ms;
constexpr auto kBetweenChecks = 2ms;
constexpr auto kStatusPatience = 100ms;
constexpr auto kCheckForEnd = 100ms;  // what it has started may hold its standard error open

std::vector<std::string> environment_of(const ServerCommand& command) {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    const std::string name(variable.substr(0, variable.find('=')));
    // This server's own settings and token are not the other one's, which may be an rkllm-mcp, too.
    if (!name.starts_with("RKLLM_MCP_") && !command.environment.contains(name)) all.emplace_back(variable);
  }
  for (const auto& [name, value] : command.environment) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// In the new process, of which only this thread exists: nothing that allocates or locks.
[[noreturn]] void become(char* const* words, char* const* environment, int both, int errors, int news, pid_t parent) {
  ::setpgid(0, 0);  // so that what it starts can be killed with it
  for (const int number : {SIGPIPE, SIGCHLD, SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  restore_file_limit();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it ended meanwhile
  close_on_exec_from(STDERR_FILENO + 1);    // a library may have opened some carelessly
  if (::dup2(both, STDIN_FILENO) >= 0 && ::dup2(both, STDOUT_FILENO) >= 0 && ::dup2(errors, STDERR_FILENO) >= 0) {
    ::execvpe(words[0], words, environment);
  }
  const int why = errno;
  [[maybe_unused]] const auto told = ::write(news, &why, sizeof why);
  ::_exit(127);
}

pid_t start(const ServerCommand& command, const Descriptor& both, const Descriptor& errors) {
  std::vector<std::string> words{command.program};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  std::vector<std::string> variables = environment_of(command);
  const std::vector<char*> argv = pointers_to(words);
  const std::vector<char*> envp = pointers_to(variables);
  DescriptorPair news = make_pipe();
  const pid_t parent = ::getpid();
  const pid_t id = ::fork();
  if (id == 0) become(argv.data(), envp.data(), both.number(), errors.number(), news.second.number(), parent);
  if (id < 0) throw client::ConnectionError("cannot start " + command.program + ": " + std::strerror(errno));
  news.second.close();
  int why = 0;
  ssize_t size = 0;
  do {
    size = ::read(news.first.number(), &why, sizeof why);
  } while (size < 0 && errno == EINTR);
  if (size != sizeof why) return id;  // it runs: the pipe was closed by exec
  ::waitpid(id, nullptr, 0);
  throw client::ConnectionError("cannot start " + command.program + ": " + std::strerror(why));
}

}  // namespace

std::string ServerCommand::text() const {
  std::string all = program;
  for (const std::string& argument : arguments) all += " " + argument;
  return all;
}

CommandConnection::CommandConnection(const ServerCommand& command, ProcessOutput::LineFunction line)
    : CommandConnection(command, std::move(line), make_stream_pair(), make_pipe()) {}

CommandConnection::CommandConnection(const ServerCommand& command, ProcessOutput::LineFunction line,
                                     DescriptorPair ends, DescriptorPair errors)
    : program_(command.program),
      line_(std::move(line)),
      connection_(ends.first.release(), command.program, client::kLongestMessage),
      errors_(std::move(errors.first), [this](std::string_view text) { pass_on(text); }),
      id_(start(command, ends.second, errors.second)),
      reader_(start_reader()) {}

// A command whose errors nobody can read must not be left behind.
std::thread CommandConnection::start_reader() try {
  return std::thread([this] { read_errors(); });
} catch (...) {
  end_group();
  throw;
}

// Processes that it has started may be left in its group. Nobody else can get the group's number before waitpid().
void CommandConnection::end_group() const {
  ::kill(-id_, SIGKILL);
  ::waitpid(id_, nullptr, 0);
}

CommandConnection::~CommandConnection() {
  interrupt();
  if (!await_end(kToEndByItself)) {
    ::kill(-id_, SIGTERM);
    await_end(kToEndWhenAsked);
  }
  end_group();
  closing_ = true;
  reader_.join();
}

void CommandConnection::send(std::string_view message) { connection_.send(message); }

std::optional<std::string> CommandConnection::receive(Clock::time_point deadline) {
  try {
    return connection_.receive(deadline);
  } catch (const client::ConnectionError& error) {
    if (!await_end(kStatusPatience)) throw;
    throw client::ConnectionError(how_it_ended());
  }
}

void CommandConnection::interrupt() {
  {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
  }
  connection_.interrupt();
}

void CommandConnection::pass_on(std::string_view line) {
  const std::lock_guard lock(mutex_);
  last_line_ = line;
  if (!interrupted_) line_(line);
}

void CommandConnection::read_errors() {
  while (errors_.read() != ProcessOutput::Read::kEnd) {
    if (closing_) return;
    errors_.wait(kCheckForEnd);
  }
}

bool CommandConnection::await_end(std::chrono::milliseconds patience) const {
  const auto until = Clock::now() + patience;
  while (!ending()) {
    if (Clock::now() >= until) return false;
    std::this_thread::sleep_for(kBetweenChecks);
  }
  return true;
}

// It stays a zombie until the destructor has ended its group.
std::optional<siginfo_t> CommandConnection::ending() const {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return {};
  return info;
}

std::string CommandConnection::how_it_ended() {
  errors_.read();  // what its thread has not read yet
  const auto info = ending();
  std::string text = program_ + " has ended";
  if (info)
    text += (info->si_code == CLD_EXITED ? " with exit code " : " by signal ") + std::to_string(info->si_status);
  const std::lock_guard lock(mutex_);
  return last_line_.empty() ? text : text + ": " + last_line_;
}

}  // namespace rkllm_mcp
