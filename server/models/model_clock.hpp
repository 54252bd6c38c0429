// The time by which models are kept and unloaded. Tests have one that they set. Event loop only.
#pragma once

#include "clock.hpp"

#include <asio/error_code.hpp>
#include <asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

namespace rkllm_mcp {

class ModelClock {
 public:
  using Time = Clock::time_point;

  // Its destruction takes the alarm back.
  class Alarm {
   public:
    virtual ~Alarm() = default;
  };

  virtual ~ModelClock() = default;
  virtual Time now() const = 0;
  // Calls `ring` once, at that time or soon after, on the loop.
  virtual std::unique_ptr<Alarm> alarm_at(Time time, std::function<void()> ring) = 0;
};

class SteadyModelClock final : public ModelClock {
 public:
  explicit SteadyModelClock(asio::io_context& loop) : loop_(loop) {}

  Time now() const override { return Clock::now(); }
  std::unique_ptr<Alarm> alarm_at(Time time, std::function<void()> ring) override {
    auto alarm = std::make_unique<TimerAlarm>(loop_, time);
    alarm->timer.async_wait([ring = std::move(ring)](const asio::error_code& error) {
      if (!error) ring();
    });
    return alarm;
  }

 private:
  struct TimerAlarm final : Alarm {
    TimerAlarm(asio::io_context& loop, Time time) : timer(loop, time) {}
    Timer timer;
  };

  asio::io_context& loop_;
};

}  // namespace rkllm_mcp
