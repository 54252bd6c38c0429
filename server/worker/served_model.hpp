// One model as a worker serves it: calls come over one socket, to be made one after the other, and over another one, to
// be made beside them. When the server closes these, the run is stopped and the model destroyed.
//
// Threads: one for each socket, and the one of the TokenWriter, which sends late tokens; end() and wait_for_end() from
// any. A frame that is not understood ends the process.
#pragma once

#include "backend/engine.hpp"
#include "clock.hpp"
#include "process/descriptor.hpp"
#include "worker/frame_socket.hpp"
#include "worker/token_writer.hpp"

#include <rkllm_mcp/method.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>

namespace rkllm_mcp {

class ServedModel {
 public:
  // Hears the name of the model's file, without folder and ending, before it is loaded.
  using NamedFunction = std::function<void(const std::string& name)>;
  // `sockets`: for calls that go in order, and for those beside them. `engine` and `methods` outlive this, and so does
  // what `named` uses, which is called on the thread that makes the calls in order.
  ServedModel(Engine& engine, std::span<const Method> methods, const std::string& id, DescriptorPair sockets,
              NamedFunction named);
  ~ServedModel();  // waits for the end
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  // As if the server had closed its ends.
  void end();
  bool has_ended() const { return wait_for_end({}); }
  bool wait_for_end(Clock::time_point deadline) const;

 private:
  struct ReceivedCall;
  void serve_in_order();
  void serve_beside();
  ReceivedCall take_call(FrameSocket& socket, const Frame& first) const;
  CallOutcome make(const ReceivedCall& received);
  void begin_run(std::uint32_t call, CallObserver& observer);
  void end_run();
  void stop(std::uint32_t call);
  void stop_running();
  void synchronize();
  void destroy();

  Engine& engine_;
  const std::span<const Method> methods_;
  const std::unique_ptr<Model> model_;
  const NamedFunction named_;
  const std::shared_ptr<TokenWriter> tokens_;  // shared with the runs that the library has not ended
  FrameSocket& in_order_;                      // of `tokens_`
  FrameSocket beside_;

  static constexpr std::uint32_t kNone = 0;
  std::mutex stopping_;
  std::uint32_t running_ = kNone;  // the call whose run is going on; guarded by stopping_
  std::uint32_t stopped_ = kNone;  // the call whose run is to be stopped; guarded by stopping_

  mutable std::mutex ending_;
  mutable std::condition_variable ended_news_;
  bool ended_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace rkllm_mcp
