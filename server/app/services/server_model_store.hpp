// The folders of the settings (runtime.model_dirs) as a place that models are pulled into and deleted from while the
// server runs: behind POST /api/pull and DELETE /api/delete.
//
// A pull waits for the network and the disk, on a thread of its own; the loop hears of it. Whoever asks for what is
// being pulled shares that pull, which is stopped when nobody waits for it any more.
//
// Threads: event loop, but for end().
#pragma once

#include "chat/turn/model_store.hpp"
#include "clock.hpp"
#include "lifetime.hpp"
#include "models/server_models.hpp"
#include "run_loop.hpp"
#include "settings/settings.hpp"
#include "side_thread.hpp"
#include "threads/fair_threads.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace rkllm_mcp {

class ServerModelStore final : public chat::ModelStore {
 public:
  // All that is passed outlives it. `loaded_paths`: the files of what is loaded now.
  ServerModelStore(asio::io_context& loop, const Settings& settings, ServerModels& models,
                   std::function<std::vector<std::string>()> loaded_paths);
  ServerModelStore(const ServerModelStore&) = delete;
  ServerModelStore& operator=(const ServerModelStore&) = delete;
  ~ServerModelStore() override;

  std::unique_ptr<chat::QueuePlace> pull(const std::string& source, chat::PullListener listener) override;
  void remove(const std::vector<std::string>& names, std::function<void(std::optional<chat::TurnError>)> done) override;

  // All pulls stop, and nobody is told of it.
  void stop();
  // After stop(), and on any thread: whether the pulls have come to their end in time.
  bool end(Clock::time_point deadline) { return threads_.end(deadline); }

 private:
  class PullPlace;
  using Outcome = std::variant<chat::PulledModel, chat::TurnError>;
  struct Work;  // one run of a pull, shared with its thread
  struct Job;   // a pull, and who waits for it; its places and its thread look whether it is still there

  void run(Job& job);
  void give_up(Job& job, std::uint64_t listener);
  // Tells each listener that waits for the pull now the remarks that it has not heard yet, and then calls `news`, if it
  // is given, with that listener.
  static void tell(Job& job, const std::function<void(const chat::PullListener&)>& news = {});
  void ended(Job& job, const Outcome& outcome);
  std::string path_to_remove(const std::string& name) const;

  asio::io_context& loop_;
  const Settings& settings_;
  ServerModels& models_;
  const std::function<std::vector<std::string>()> loaded_paths_;
  std::map<std::string, std::shared_ptr<Job>> jobs_;  // by source
  std::uint64_t next_listener_ = 0;
  bool stopped_ = false;
  const Lifetime alive_;         // gone: what was posted does nothing
  const WayToLoop way_to_loop_;  // of the threads, which may outlive this
  FairThreads threads_;
  SideThread disk_;
};

}  // namespace rkllm_mcp
