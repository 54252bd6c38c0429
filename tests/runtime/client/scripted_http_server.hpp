// An HTTP server that does what the test wants, and remembers what it was asked. Its answers are made by cpp-httplib,
// on a thread for each connection. Threads: any.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <httplib.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {

class ScriptedHttpServer {
 public:
  using Answer = std::function<void(const httplib::Request&, httplib::Response&)>;

  explicit ScriptedHttpServer(Answer answer) : answer_(std::move(answer)) {
    server_.new_task_queue = [this] {  // the first that it does when it runs, and so can be stopped
      const std::lock_guard lock(mutex_);
      is_running_ = true;
      changed_.notify_all();
      return new httplib::ThreadPool(120);
    };
    server_.set_tcp_nodelay(true);
    server_.set_keep_alive_timeout(1);
    const auto handler = [this](const httplib::Request& request, httplib::Response& response) {
      {
        const std::lock_guard lock(mutex_);
        asked_.push_back(request);
        changed_.notify_all();
      }
      answer_(request, response);
    };
    server_.Post("/mcp", handler);
    server_.Get("/mcp", handler);
    server_.Delete("/mcp", handler);
    port_ = static_cast<std::uint16_t>(server_.bind_to_any_port("127.0.0.1"));
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    std::unique_lock lock(mutex_);
    await(
        lock, [this] { return is_running_; }, "the HTTP server does not start");
  }
  ~ScriptedHttpServer() { stop(); }

  // Ends all that it is doing, and listens no more.
  void stop() {
    release();
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }
  std::uint16_t port() const { return port_; }

  std::vector<httplib::Request> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  // Waits until it has been asked so often.
  std::vector<httplib::Request> asked(std::size_t count) {
    std::unique_lock lock(mutex_);
    await(
        lock, [&] { return asked_.size() >= count; }, "too few requests came: " + std::to_string(asked_.size()));
    return asked_;
  }

  // For answers that wait until the test says so, or ends.
  void hold() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::minutes(2), [this] { return released_; });
  }
  void release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }
  // How often a client has closed a response of follow_until_closed(); waits for it.
  void await_closed(int count) {
    std::unique_lock lock(mutex_);
    await(
        lock, [&] { return closed_ >= count; }, "the response was not closed");
  }
  // Server-sent events: these, and then comments until the client closes the response.
  void send_until_closed(httplib::Response& response, std::string events) {
    response.set_chunked_content_provider(
        "text/event-stream", [this, events = std::move(events)](std::size_t offset, httplib::DataSink& sink) {
          if (offset == 0 && !events.empty()) return sink.write(events.data(), events.size());
          std::unique_lock lock(mutex_);
          changed_.wait_for(lock, std::chrono::milliseconds(5), [this] { return released_; });
          if (released_) {
            sink.done();
            return true;
          }
          lock.unlock();
          if (sink.write(":\n", 2)) return true;
          lock.lock();
          ++closed_;
          changed_.notify_all();
          return false;
        });
  }

 private:
  template <typename Condition>
  void await(std::unique_lock<std::mutex>& lock, Condition condition, const std::string& complaint) {
    if (!changed_.wait_for(lock, std::chrono::minutes(2), condition)) throw std::runtime_error(complaint);
  }

  const Answer answer_;
  httplib::Server server_;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool is_running_ = false;
  std::vector<httplib::Request> asked_;
  bool released_ = false;
  int closed_ = 0;
  std::thread thread_;
};

}  // namespace rkllm_mcp::test
