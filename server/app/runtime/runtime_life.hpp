// The life of the runtime that this server fronts. It is found, started and tried out beside the event loop, and
// replaced by another one when told to look again; a model that is loaded, or being loaded, is never ended by that.
//
// Finding: looks for a library, there is none yet. Starting: a library was found, its worker has not answered yet;
// calls wait for it. Ready. Replacing: ready, while another one is started. Gone: there is none, calls fail with error
// 4005.
//
// Threads: the event loop's, but for shut_down(); what takes time is done on a runner.
#pragma once

#include "app/runtime/runtime.hpp"
#include "backend/runner.hpp"
#include "clock.hpp"
#include "settings/settings.hpp"

#include <rkllm_mcp/errors.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace rkllm_mcp {

class RuntimeLife {
 public:
  enum class State { kFinding, kStarting, kReady, kReplacing, kGone };

  // `make` finds the library that there is now; see Runtime. Any thread.
  using MakeFunction = std::function<std::unique_ptr<Runtime>(const Settings& settings)>;
  RuntimeLife(asio::io_context& loop, const Settings& settings, spdlog::logger& log, MakeFunction make);

  Runtime& now() const { return *now_; }
  State state() const;
  Json status() const;  // now().status() and the state

  // Starts the runtime, if one was found. `ready` is called when calls may be made: at once, since they wait, and after
  // each replacement by one that works; `replaced` when now() has become another one, before `ready`.
  void start(std::function<void()> ready, std::function<void()> replaced);
  // Looks whether a library has come, gone, or become another one, and uses what is there now.
  void look_again();
  // From here on now() is not replaced. To be called before shut_down().
  void settle();
  // See Runtime; any thread. False also if the search for another runtime, or the end of an earlier one, hangs.
  bool shut_down(Clock::time_point deadline);

 private:
  enum class Step { kNone, kLooking, kStartingFirst, kStartingNext };

  void look(const std::optional<LibraryFile>& served, const Settings& settings);  // on the runner
  void looked(std::unique_ptr<Runtime> next);                                     // null: nothing has changed
  void try_out(Runtime& runtime);
  void tried_out(const std::optional<RpcError>& trouble);
  void replace_when_idle(std::unique_ptr<Runtime> next);
  void replace(std::unique_ptr<Runtime> next);
  void retire(std::unique_ptr<Runtime> runtime);
  void end_step();

  asio::io_context& loop_;
  const Settings& settings_;
  spdlog::logger& log_;
  const MakeFunction make_;
  std::function<void()> ready_ = [] {};
  std::function<void()> replaced_ = [] {};
  Step step_ = Step::kNone;
  bool look_again_ = false;  // look_again() is to be called when the step under way has ended
  bool settled_ = false;
  std::unique_ptr<Runtime> now_;
  std::unique_ptr<Runtime> next_;  // is being started, or waits until it can replace now_; null: there is none
  Timer until_idle_;
  Runner runner_;  // last: what it does uses the above
};

// As /health has it: "finding", "starting", ...
std::string_view name_of(RuntimeLife::State state);

}  // namespace rkllm_mcp
