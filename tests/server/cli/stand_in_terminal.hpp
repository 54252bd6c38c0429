// A terminal that stands in for one of this process's standard streams until the test's end. It does not become the
// controlling one, whose signals would end the tests: openpty() sees to that.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <system_error>

namespace rkllm_mcp::test {

class StandInTerminal {
 public:
  explicit StandInTerminal(int stream) : stream_(stream), before_(::dup(stream)) {
    if (::openpty(&ours_, &theirs_, nullptr, nullptr, nullptr) != 0 || ::dup2(theirs_, stream_) < 0) {
      throw std::system_error(errno, std::generic_category(), "openpty");
    }
  }
  StandInTerminal(const StandInTerminal&) = delete;
  StandInTerminal& operator=(const StandInTerminal&) = delete;
  ~StandInTerminal() {
    ::dup2(before_, stream_);
    for (const int descriptor : {before_, ours_, theirs_}) ::close(descriptor);
  }

  // Whether that is shown, behind what was waited for before.
  bool wait_for(std::string_view text) {
    constexpr int kPatienceMs = 60'000;
    for (;;) {
      if (const auto at = shown_.find(text, seen_); at != std::string::npos) {
        seen_ = at + text.size();
        return true;
      }
      pollfd ready{ours_, POLLIN, 0};
      std::array<char, 4096> bytes{};
      if (::poll(&ready, 1, kPatienceMs) <= 0) return false;
      const auto count = ::read(ours_, bytes.data(), bytes.size());
      if (count <= 0) return false;
      shown_.append(bytes.data(), static_cast<std::size_t>(count));
    }
  }
  const std::string& shown() const { return shown_; }

  bool shows_keys() const { return (settings().c_lflag & ECHO) != 0; }
  termios settings() const {
    termios all{};
    ::tcgetattr(theirs_, &all);
    return all;
  }
  void set(const termios& all) const { ::tcsetattr(theirs_, TCSANOW, &all); }

 private:
  const int stream_;
  const int before_;
  int ours_ = -1;
  int theirs_ = -1;
  std::string shown_;
  std::size_t seen_ = 0;
};

}  // namespace rkllm_mcp::test
