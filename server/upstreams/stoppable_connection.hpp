// A connection that another thread can end at any moment, also before it has been made: it then ends at once.
//
// Threads: as client/connection.hpp says; Stop is for any, and holds its mutex while it interrupts the connection,
// which takes its own.
#pragma once

#include "client/connection.hpp"
#include "clock.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

class StoppableConnection final : public client::Connection {
 public:
  // Ends the connection that uses it, one at a time, and those that would come later; outlives each of them.
  class Stop {
   public:
    // Interrupts the connection that there is, and refuses all that come later.
    void stop() {
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
      if (connection_ != nullptr) connection_->interrupt();
    }

   private:
    friend class StoppableConnection;

    std::mutex mutex_;
    bool is_stopped_ = false;
    client::Connection* connection_ = nullptr;  // null: there is none
  };

  // Throws ConnectionError once it is stopped.
  StoppableConnection(Stop& stop, std::unique_ptr<client::Connection> connection)
      : stop_(stop), connection_(std::move(connection)) {
    const std::lock_guard lock(stop_.mutex_);
    if (stop_.is_stopped_) throw client::ConnectionError("this server is ending");
    stop_.connection_ = connection_.get();
  }
  ~StoppableConnection() override {
    const std::lock_guard lock(stop_.mutex_);
    stop_.connection_ = nullptr;
  }
  StoppableConnection(const StoppableConnection&) = delete;
  StoppableConnection& operator=(const StoppableConnection&) = delete;

  void send(std::string_view message) override { connection_->send(message); }
  std::optional<std::string> receive(Clock::time_point deadline) override { return connection_->receive(deadline); }
  bool reliable() const override { return connection_->reliable(); }
  void interrupt() override { connection_->interrupt(); }

 private:
  Stop& stop_;
  const std::unique_ptr<client::Connection> connection_;
};

}  // namespace rkllm_mcp
