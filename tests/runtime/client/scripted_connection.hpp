// A connection whose other end is the test: sees what is sent, and says what comes. Threads: any.
#pragma once

#include "client/connection.hpp"
#include "client/mcp/inbox.hpp"
#include "clock.hpp"

#include <rkllm_mcp/json.hpp>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::test {

// The other end; outlives the connection.
class Script {
 public:
  // What to do with each message, on the sender's thread.
  explicit Script(std::function<void(Script&, const Json&)> answer = {}) : answer_(std::move(answer)) {}

  void say(const Json& message) { inbox.put(message.dump()); }
  void result(const Json& request, const Json& result) {
    say({{"jsonrpc", "2.0"}, {"id", request["id"]}, {"result", result}});
  }
  void error(const Json& request, int code, const Json& data = nullptr) {
    say({{"jsonrpc", "2.0"}, {"id", request["id"]}, {"error", {{"code", code}, {"message", "no"}, {"data", data}}}});
  }

  void take(std::string_view text) {
    {
      const std::lock_guard lock(mutex_);
      sent_.emplace_back(text);
      changed_.notify_all();
    }
    if (answer_) answer_(*this, Json::parse(text));
  }
  std::vector<std::string> sent() const {
    const std::lock_guard lock(mutex_);
    return sent_;
  }
  // Waits until so many messages have been sent.
  std::vector<std::string> sent(std::size_t count) {
    std::unique_lock lock(mutex_);
    const bool came = changed_.wait_for(lock, std::chrono::minutes(2), [&] { return sent_.size() >= count; });
    if (!came) throw std::runtime_error("only " + std::to_string(sent_.size()) + " messages were sent");
    return sent_;
  }
  std::size_t count_of(std::string_view method) const {
    std::size_t count = 0;
    for (const std::string& text : sent()) count += Json::parse(text).value("method", "") == method ? 1 : 0;
    return count;
  }

  client::Inbox inbox;  // what comes

 private:
  const std::function<void(Script&, const Json&)> answer_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<std::string> sent_;
};

class ScriptedConnection final : public client::Connection {
 public:
  explicit ScriptedConnection(Script& script) : script_(script) {}

  void send(std::string_view message) override {
    script_.inbox.throw_if_failed();
    script_.take(message);
  }
  std::optional<std::string> receive(Clock::time_point deadline) override { return script_.inbox.take(deadline); }
  void interrupt() override { script_.inbox.fail("interrupted"); }

 private:
  Script& script_;
};

}  // namespace rkllm_mcp::test
