// A call that is made in a worker: what must come of it, whatever befalls the worker.
#pragma once

#include "simulation/world/world.hpp"

#include "backend.hpp"

#include <rkllm_mcp/errors.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::simulation {

class WorkerCall final : public CallObserver {
 public:
  static constexpr std::size_t kEndless = 1'000'000;  // tokens: more than any schedule takes

  // `tokens`: how many a run generates.
  WorkerCall(World& world, const Method& method, std::string name, std::string handle, std::size_t tokens)
      : world_(world), method_(method), name_(std::move(name)), handle_(std::move(handle)), tokens_(tokens) {}

  CallRequest request(const std::shared_ptr<WorkerCall>& self);
  // Whether the server still keeps the call's observer.
  bool is_held() const { return !held_.expired(); }

  const Method& method() const { return method_; }
  const std::string& handle() const { return handle_; }  // that the call names, or has created; empty: not yet
  bool has_ended() const { return has_ended_; }
  bool has_succeeded() const { return has_succeeded_; }
  // Whether it is a run that has not begun and that nothing can have taken out of the queue.
  bool must_be_waiting() const { return method_.streams && !has_begun_ && !has_ended_ && !may_be_stopped_; }
  bool is_endless() const { return tokens_ == kEndless; }
  std::string told() const { return std::string(method_.name) + " " + name_; }

  void set_reading(bool reading);
  // From now on the call may end before it is complete.
  void may_be_stopped() { may_be_stopped_ = true; }
  // Its model may be gone.
  void may_find_no_model() { may_find_no_model_ = true; }
  // Asked when it ends because of its worker: whether there is one that has failed.
  std::function<bool(const std::string& handle)> has_lost_worker;
  std::function<void()> ended;
  // Called as the call begins: whether an earlier call or lease still waits in the same queue, or a lease is held.
  std::function<bool()> is_before_its_turn;

  void on_queued(std::size_t calls_before) noexcept override;
  void on_begun(std::optional<std::uint64_t> token_limit) noexcept override;
  void on_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t id) noexcept override;
  bool offer_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t id,
                   const std::function<void()>& on_room) noexcept override;
  void on_rows(const FloatRows& rows) noexcept override;
  void on_done(CallOutcome outcome) noexcept override;
  void stop() noexcept override { is_stopped_ = true; }

 private:
  void take_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t id);
  void take_error(const RpcError& error);
  void complain(const std::string& what, Place place = Place::here()) const {
    world_.violates(told() + ": " + what, place);
  }

  World& world_;
  const Method& method_;
  const std::string name_;
  std::string handle_;
  const std::size_t tokens_;
  std::weak_ptr<void> held_;  // expires when the server has let go of the call's observer
  std::size_t given_ = 0;
  std::size_t rows_ = 0;
  bool has_begun_ = false;
  bool has_ended_ = false;
  bool has_succeeded_ = false;
  bool reads_ = true;
  bool is_stopped_ = false;
  bool may_be_stopped_ = false;
  bool may_find_no_model_ = false;
  std::function<void()> on_room_;
};

}  // namespace rkllm_mcp::simulation
