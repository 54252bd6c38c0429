#include "library/standard_error_tap.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kReadAtOnce = 4096;  // PIPE_BUF: a pipe that poll() calls writable takes so much without waiting
constexpr int kMostReads = 64;             // who prints without end does not delay a call, or a crash, for ever

// For the signal handler, which gets no arguments.
struct LastWords {
  static constexpr std::array kFatal{SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
  int pipe = -1;
  int standard_error = -1;
  std::array<struct sigaction, kFatal.size()> before{};
};
LastWords last_words;

// At a crash the thread that passes lines on stops. So the last lines, which may tell why, are passed on here; then the
// process crashes as it would have without the tap. What nobody reads does not hold that up. Calls only what a signal
// handler may.
void pass_on_last_words(int signal, siginfo_t* info, void*) {
  ::dup2(last_words.standard_error, STDERR_FILENO);
  std::array<char, kReadAtOnce> bytes;
  for (int reads = 0; reads < kMostReads; ++reads) {
    const ssize_t size = ::read(last_words.pipe, bytes.data(), bytes.size());
    pollfd wanted{STDERR_FILENO, POLLOUT, 0};
    if (size <= 0 || ::poll(&wanted, 1, 0) <= 0 || (wanted.revents & POLLOUT) == 0) break;
    if (::write(STDERR_FILENO, bytes.data(), static_cast<std::size_t>(size)) < 0) break;
  }
  for (std::size_t at = 0; at < LastWords::kFatal.size(); ++at) {
    if (LastWords::kFatal.at(at) == signal) ::sigaction(signal, &last_words.before.at(at), nullptr);
  }
  if (info->si_code <= 0) ::raise(signal);  // sent by somebody: it does not come again by itself
}

bool standard_output_is_standard_error() {
  struct stat output {};
  struct stat error {};
  return ::fstat(STDOUT_FILENO, &output) == 0 && ::fstat(STDERR_FILENO, &error) == 0 && output.st_dev == error.st_dev &&
         output.st_ino == error.st_ino;
}

Descriptor descriptor_or_throw(int descriptor, const char* what) {
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), what);
  return Descriptor(descriptor);
}

}  // namespace

StandardErrorTap::StandardErrorTap()
    : standard_error_(descriptor_or_throw(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0), "standard error")),
      pipe_(make_pipe()),
      wake_up_(descriptor_or_throw(::eventfd(0, EFD_CLOEXEC), "eventfd")),
      log_([](std::string_view) {}) {
  ::fcntl(pipe_.first.number(), F_SETFL, O_NONBLOCK);
  thread_ = std::thread([this] { work(); });  // before the process is changed: it may be that none can be started
  last_words.pipe = pipe_.first.number();
  last_words.standard_error = standard_error_.number();
  struct sigaction action {};
  action.sa_sigaction = pass_on_last_words;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (std::size_t at = 0; at < LastWords::kFatal.size(); ++at) {
    ::sigaction(LastWords::kFatal.at(at), &action, &last_words.before.at(at));
  }
  if (standard_output_is_standard_error()) {  // what the library prints comes here, too
    standard_output_ = Descriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    ::dup2(pipe_.second.number(), STDOUT_FILENO);
  }
  ::dup2(pipe_.second.number(), STDERR_FILENO);
  pipe_.second.close();
}

StandardErrorTap::~StandardErrorTap() {
  ::dup2(standard_error_.number(), STDERR_FILENO);
  if (standard_output_.number() >= 0) ::dup2(standard_output_.number(), STDOUT_FILENO);
  for (std::size_t at = 0; at < LastWords::kFatal.size(); ++at) {
    ::sigaction(LastWords::kFatal.at(at), &last_words.before.at(at), nullptr);
  }
  const std::uint64_t one = 1;
  while (::write(wake_up_.number(), &one, sizeof one) < 0 && errno == EINTR) {
  }
  thread_.join();
  catch_up();
}

std::uint64_t StandardErrorTap::line_count() {
  catch_up();
  return log_.line_count();
}

std::vector<std::string> StandardErrorTap::errors_since(std::uint64_t lines) {
  catch_up();
  return log_.errors_since(lines);
}

void StandardErrorTap::work() {
  std::array<pollfd, 2> wanted{pollfd{pipe_.first.number(), POLLIN, 0}, pollfd{wake_up_.number(), POLLIN, 0}};
  while (wanted[1].revents == 0) {
    if (::poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) return;
    if ((wanted[0].revents & POLLHUP) != 0) wanted[0].fd = -1;  // somebody has closed standard error
    catch_up();
  }
}

void StandardErrorTap::catch_up() {
  const std::lock_guard lock(reading_);
  std::array<char, kReadAtOnce> bytes;
  for (int rounds = 0; rounds < kMostReads; ++rounds) {
    const ssize_t size = ::read(pipe_.first.number(), bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    const std::string_view read(bytes.data(), static_cast<std::size_t>(size));
    log_.take(read);
    pass_on(read);
  }
}

void StandardErrorTap::pass_on(std::string_view bytes) {
  if (dropped_ > 0) {
    if (!try_to_pass_on("\n(" + std::to_string(dropped_) + " bytes of standard error were dropped)\n")) {
      dropped_ += bytes.size();
      return;
    }
    dropped_ = 0;
  }
  if (!try_to_pass_on(bytes)) dropped_ += bytes.size();
}

bool StandardErrorTap::try_to_pass_on(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd wanted{standard_error_.number(), POLLOUT, 0};
    if (::poll(&wanted, 1, 0) <= 0 || (wanted.revents & POLLOUT) == 0) return false;
    const ssize_t size = ::write(standard_error_.number(), bytes.data(), bytes.size());
    if (size < 0 && errno != EINTR) return false;
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  }
  return true;
}

}  // namespace rkllm_mcp
