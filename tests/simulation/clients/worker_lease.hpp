// A lease of a model in a worker: nobody else is served between its beginning and its end.
#pragma once

#include "simulation/server/told_otherwise.hpp"
#include "simulation/world/world.hpp"

#include "backend.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp::simulation {

class WorkerLease final : public CallObserver {
 public:
  WorkerLease(World& world, std::string name, std::string handle)
      : world_(world), name_(std::move(name)), handle_(std::move(handle)) {}

  static CallRequest request(const std::shared_ptr<WorkerLease>& self) {
    CallRequest request;
    request.observer = self;
    request.observer = std::make_shared<ToldOtherwise>(request);
    return request;
  }

  const std::string& handle() const { return handle_; }
  std::string told() const { return "lease " + name_; }
  bool has_ended() const { return has_ended_; }
  bool must_be_waiting() const { return !has_begun_ && !has_ended_ && !may_end_; }
  bool is_held() const { return has_begun_ && !has_ended_ && !may_end_; }
  // Somebody ends it, or takes its model away.
  void may_end() { may_end_ = true; }

  // Whether a worker of its model has failed.
  std::function<bool()> has_lost_worker;
  std::function<void()> ended;
  // Called as the lease begins: whether an earlier call or lease still waits in the same queue, or another one is held.
  std::function<bool()> is_before_its_turn;

  void on_queued(std::size_t /*calls_before*/) noexcept override {}
  void on_begun(std::optional<std::uint64_t> /*token_limit*/) noexcept override {
    World::saw("a model was leased");
    world_.tell(told() + " begins");
    if (std::exchange(has_begun_, true) || has_ended_) complain("it is granted again");
    if (is_before_its_turn()) complain("it is granted before one that has come earlier");
  }
  void on_token(std::size_t /*batch*/, std::optional<std::string_view> /*text*/,
                std::int32_t /*id*/) noexcept override {}
  void on_rows(const FloatRows& /*rows*/) noexcept override {}
  void on_done(CallOutcome outcome) noexcept override {
    world_.tell(told() + " ends");
    if (outcome.error) World::saw("a lease was not granted");
    const bool may_end = !std::exchange(has_ended_, true) && (may_end_ || (!has_begun_ && has_lost_worker()));
    const bool is_told_rightly = (outcome.error == nullptr) == has_begun_;
    if (!may_end || !is_told_rightly)
      complain("the lease ends again, or though nobody wants that, or as if not granted");
    ended();
  }

 private:
  void complain(const std::string& what, Place place = Place::here()) const {
    world_.violates(told() + ": " + what, place);
  }

  World& world_;
  const std::string name_;
  const std::string handle_;
  bool has_begun_ = false;
  bool has_ended_ = false;
  bool may_end_ = false;
};

}  // namespace rkllm_mcp::simulation
