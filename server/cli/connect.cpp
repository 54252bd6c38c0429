#include "cli/run_command.hpp"
#include "clock.hpp"

#include "cli/exit_codes.hpp"
#include "cli/serve_options.hpp"
#include "cli/target.hpp"
#include "client/connection.hpp"
#include "client/endpoint.hpp"
#include "client/mcp/message_facts.hpp"
#include "log_output.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

using namespace std::chrono_literals;
constexpr auto kConnectPatience = 5s;
constexpr auto kLastAnswers = 500ms;   // after the end of input
constexpr auto kFarewell = 300ms;      // after that; together less than a second
constexpr auto kFirstRequest = 500ms;  // of a host that is to be told that the server cannot be reached
constexpr std::size_t kLongestLine = std::size_t{256} << 20U;

// Standard input, line by line, until something else wants attention. One thread; wake() from any.
class InputLines {
 public:
  enum class Event { kLine, kEnd, kWoken, kSilence };

  InputLines() : wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (wakeup_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  InputLines(const InputLines&) = delete;
  InputLines& operator=(const InputLines&) = delete;
  ~InputLines() { ::close(wakeup_); }

  void wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wakeup_, &one, sizeof one);
  }

  // A line that has been read goes first, whatever else there is.
  Event next(std::chrono::milliseconds patience, std::string& line) {
    for (;;) {
      if (take_line(line)) return Event::kLine;
      if (ended_) return Event::kEnd;
      std::array<pollfd, 2> ready{pollfd{wakeup_, POLLIN, 0}, pollfd{STDIN_FILENO, POLLIN, 0}};
      const int count = ::poll(ready.data(), ready.size(), static_cast<int>(patience.count()));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw std::system_error(errno, std::generic_category(), "poll");
      if (count == 0) return Event::kSilence;
      if (ready[0].revents != 0) return Event::kWoken;
      fill();
    }
  }
  void forget_wakeup() const {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto taken = ::read(wakeup_, &count, sizeof count);
  }

 private:
  bool take_line(std::string& line) {
    const auto end = text_.find('\n', searched_);
    if (end == std::string::npos && !(ended_ && taken_ < text_.size())) {
      text_.erase(0, std::exchange(taken_, 0));
      searched_ = text_.size();
      return false;
    }
    const auto stop = std::min(end, text_.size());  // the last line may have no end
    line = text_.substr(taken_, stop - taken_);
    taken_ = searched_ = std::min(stop + 1, text_.size());
    return true;
  }

  void fill() {
    std::array<char, 65536> bytes = {};  // GCC 11 takes them for uninitialised else
    const auto count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) {
      ended_ = true;
      return;
    }
    text_.append(bytes.data(), static_cast<std::size_t>(count));
    if (text_.size() > kLongestLine) throw std::runtime_error("a line of standard input is too long");
  }

  const int wakeup_;
  std::string text_;
  std::size_t taken_ = 0;     // of it has been handed out
  std::size_t searched_ = 0;  // of it is known to hold no further line end
  bool ended_ = false;
};

// Standard output, in whole lines from any thread; false when nobody reads it any more.
class OutputLines {
 public:
  bool print(std::string line) {
    line += '\n';
    const std::lock_guard lock(mutex_);
    for (std::string_view rest = line; !rest.empty();) {
      const auto count = ::write(STDOUT_FILENO, rest.data(), rest.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return false;
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

 private:
  std::mutex mutex_;
};

// The requests that have been sent and are not answered. From any thread.
class RequestsInFlight {
 public:
  void note_sent(const client::MessageFacts& facts) {
    const std::lock_guard lock(mutex_);
    ids_.insert(ids_.end(), facts.requests.begin(), facts.requests.end());
    if (!facts.cancels.is_null()) std::erase(ids_, facts.cancels);  // nobody answers it now
    changed_.notify_all();
  }
  void note_received(const client::MessageFacts& facts) {
    const std::lock_guard lock(mutex_);
    for (const Json& id : facts.answers) std::erase(ids_, id);
    changed_.notify_all();
  }
  void await_none(Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [this] { return ids_.empty() || given_up_; });
  }
  std::vector<Json> give_up() {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
    changed_.notify_all();
    return std::exchange(ids_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Json> ids_;
  bool given_up_ = false;
};

class Bridge {
 public:
  explicit Bridge(client::Endpoint endpoint) : endpoint_(std::move(endpoint)) {}
  Bridge(const Bridge&) = delete;
  Bridge& operator=(const Bridge&) = delete;
  ~Bridge() {
    if (!connection_) return;
    connection_->interrupt();
    receiver_.join();
  }

  int run() {
    try {
      connection_ = client::connect_mcp(endpoint_, Clock::now() + kConnectPatience);
    } catch (const client::ConnectionError& error) {
      return fail(words(error), kFirstRequest);
    }
    receiver_ = std::thread([this] { receive_all(); });
    try {
      send_all();
    } catch (const client::ConnectionError& error) {
      note_loss(words(error));
    }
    in_flight_.await_none(Clock::now() + kLastAnswers);
    const std::lock_guard lock(mutex_);
    if (!loss_) return kExitOk;
    refuse(in_flight_.give_up(), *loss_);  // what was sent after the loss had been noted
    return fail(*loss_, 0ms);
  }

 private:
  std::string words(const client::ConnectionError& error) const {
    SettingsRequest request;
    request.environment = current_environment();
    return words_of(error, serve_options_for(endpoint_.url(), endpoint_.protocol, request));
  }

  // Until the input ends, the server has gone, or nobody reads the output.
  void send_all() {
    std::string line;
    while (input_.next(-1ms, line) == InputLines::Event::kLine) {
      if (line.ends_with('\r')) line.pop_back();
      if (line.empty()) continue;
      const auto facts = client::facts_of(line);
      in_flight_.note_sent(facts);
      try {
        connection_->send(line);
      } catch (const std::invalid_argument& refused) {
        in_flight_.note_received({.answers = facts.requests});
        refuse(facts.requests, refused.what());
      }
    }
  }

  void receive_all() {
    try {
      for (;;) {
        const auto message = connection_->receive(Clock::now() + 1h);
        if (!message) continue;
        in_flight_.note_received(client::facts_of(*message));
        if (output_.print(client::on_one_line(*message))) continue;
        in_flight_.give_up();
        return input_.wake();
      }
    } catch (const client::ConnectionError& error) {
      note_loss(words(error));
    }
  }

  void note_loss(const std::string& reason) {
    {
      const std::lock_guard lock(mutex_);
      if (!loss_) loss_ = reason;
    }
    refuse(in_flight_.give_up(), reason);
    input_.wake();
  }

  // Tells the person, and the host for each of its requests; it may just be about to send the first.
  int fail(const std::string& reason, std::chrono::milliseconds patience) {
    say_on_standard_error("rkllm-mcp: " + reason);
    input_.forget_wakeup();
    std::string line;
    while (input_.next(patience, line) == InputLines::Event::kLine) {
      refuse(client::facts_of(line).requests, reason);
      patience = 0ms;
    }
    return kExitFailed;
  }

  void refuse(const std::vector<Json>& requests, const std::string& reason) {
    for (const Json& id : requests) output_.print(client::error_in_place(id, reason, {{"url", endpoint_.url()}}));
  }

  const client::Endpoint endpoint_;
  InputLines input_;
  OutputLines output_;
  RequestsInFlight in_flight_;
  std::mutex mutex_;  // guards what follows
  std::optional<std::string> loss_;
  std::unique_ptr<client::Connection> connection_;
  std::thread receiver_;
};

// To take leave of the server may need the network; the host does not wait for that.
int leave(std::unique_ptr<Bridge> bridge, int exit_code) {
  std::promise<void> left;
  auto has_left = left.get_future();
  std::thread([bridge = std::move(bridge), left = std::move(left)]() mutable {
    bridge.reset();
    left.set_value();
  }).detach();
  if (has_left.wait_for(kFarewell) != std::future_status::ready) std::_Exit(exit_code);
  return exit_code;
}

}  // namespace

int run_connect(const ConnectOptions& options) {
  client::Endpoint endpoint;
  try {
    endpoint = target_of(options.url, Settings{}, client::Protocol::kTcp, "/mcp");
  } catch (const std::invalid_argument& error) {
    say_on_standard_error(std::string("rkllm-mcp: ") + error.what());
    return kExitUsage;
  }
  endpoint.token = options.token;
  endpoint.ca_file = options.ca_file;
  std::signal(SIGPIPE, SIG_IGN);
  auto bridge = std::make_unique<Bridge>(std::move(endpoint));
  const int exit_code = bridge->run();
  return leave(std::move(bridge), exit_code);
}

}  // namespace rkllm_mcp
