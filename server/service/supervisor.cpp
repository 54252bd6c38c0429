#include "service/supervisor.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <ctime>

namespace rkllm_mcp {
namespace {

// A service manager that is busy is waited for, but not for ever.
constexpr timeval kPatience{1, 0};

std::uint64_t monotonic_usec() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000;
}

}  // namespace

Supervisor Supervisor::take_from_environment() {
  Supervisor supervisor;
  supervisor.socket_ = take_variable("NOTIFY_SOCKET");
  const auto watchdog = to_number(take_variable("WATCHDOG_USEC"));
  const std::string process = take_variable("WATCHDOG_PID");
  const bool is_for_us = process.empty() || to_number(process) == static_cast<std::uint64_t>(::getpid());
  if (watchdog && is_for_us) supervisor.watchdog_ = std::chrono::microseconds(*watchdog);
  return supervisor;
}

void Supervisor::ready(std::string_view status) { tell("READY=1\nSTATUS=" + std::string(status) + "\n"); }

void Supervisor::reloading() {
  tell("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(monotonic_usec()) + "\nSTATUS=Reading the settings again\n");
}

void Supervisor::stopping() { tell("STOPPING=1\nSTATUS=Ending\n"); }

void Supervisor::watch(asio::io_context& loop) {
  if (socket_.empty() || watchdog_.count() == 0) return;
  timer_.emplace(loop);
  say_alive();
}

void Supervisor::say_alive() {
  timer_->expires_after(watchdog_ / 2);
  timer_->async_wait([this](const asio::error_code& error) {
    if (!error) say_alive();
  });
  tell("WATCHDOG=1\n");
}

void Supervisor::tell(const std::string& lines) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  socket_.copy(address.sun_path, socket_.size());
  if (socket_.front() == '@') address.sun_path[0] = '\0';
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return;
  ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  ::sendto(descriptor, lines.data(), lines.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
  ::close(descriptor);
}

}  // namespace rkllm_mcp
