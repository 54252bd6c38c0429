// The service manager that has started this program, if one has (systemd, or whoever speaks its protocol): it is told
// when the server is ready, reads its settings again, ends, and that it is alive. And how what it has put into the
// environment is taken out of there.
//
// No libsystemd: the protocol (sd_notify(3)) is lines of NAME=VALUE in a datagram to the socket that $NOTIFY_SOCKET
// names, is documented, promised to be stable, and takes less code than a dependency that not every system has.
//
// Threads: belongs to the main thread, which is the event loop's.
#pragma once

#include "clock.hpp"

#include <asio/io_context.hpp>

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

class Supervisor {
 public:
  // Takes the variables that are meant for this process out of the environment, so that no child believes itself
  // spoken to. To be called before there are threads.
  static Supervisor take_from_environment();

  // Each does nothing without a service manager, and never fails: there is nothing that the server could do about it. A
  // service manager that does not read may hold the caller, which is the event loop, for a second. The `status` is a
  // line for people.
  void ready(std::string_view status);  // also after reloading
  void reloading();
  void stopping();

  // Says from now on that the loop is alive, twice as often as was asked for; never, if it was not.
  void watch(asio::io_context& loop);
  void stop_watching() { timer_.reset(); }

 private:
  void tell(const std::string& lines) const;
  void say_alive();

  std::string socket_;  // a path, or @NAME of an abstract socket; empty: nobody is there
  std::chrono::microseconds watchdog_{0};
  std::optional<Timer> timer_;
};

// Takes a variable out of the environment, so that children do not get it, and returns its value; empty if there is
// none. To be called before there are threads.
inline std::string take_variable(const char* name) {
  const char* const value = std::getenv(name);
  std::string taken = value == nullptr ? "" : value;
  ::unsetenv(name);
  return taken;
}

// What such a variable says, if it is a number.
inline std::optional<std::uint64_t> to_number(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace rkllm_mcp
