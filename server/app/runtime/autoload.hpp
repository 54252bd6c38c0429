// Loads the models that the settings want loaded, and loads them again when their worker has died: at once the first
// time, then after a pause that grows each time.
//
// Threads: belongs to the event loop.
#pragma once

#include "backend.hpp"
#include "clock.hpp"
#include "lifetime.hpp"

#include <rkllm_mcp/json.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <set>
#include <string>
#include <utility>

namespace rkllm_mcp {

class Autoload {
 public:
  // `models` as in the settings; `backend` knows them by name.
  Autoload(asio::io_context& loop, Backend& backend, const Json& models, spdlog::logger& log);

  // `begun` is called when a loading begins, `ended` when it has ended; `handle` is empty if it has failed.
  struct Listener {
    std::function<void(const std::string& model)> begun;
    std::function<void(const std::string& model, const std::string& handle)> ended;
  };
  void listen(Listener listener) { listener_ = std::move(listener); }

  // To be called when a runtime is there that has no models yet, also when it has replaced another one. `init` is the
  // method that creates a handle; null if the API has none.
  void start(const Method* init);
  void lost(const std::string& handle);  // the model of this handle is gone although nobody destroyed it
  void stop();                           // loads nothing until it is started again

 private:
  struct Model {
    Model(asio::io_context& loop, std::string model_name) : name(std::move(model_name)), timer(loop) {}

    const std::string name;
    std::string handle;  // empty while it is not loaded
    bool loading = false;
    std::chrono::milliseconds pause{0};
    Clock::time_point loaded_at;
    Timer timer;
  };

  void load(Model& model);
  void loaded(Model& model, const CallOutcome& outcome);
  void load_later(Model& model);

  asio::io_context& loop_;
  Backend& backend_;
  const Method* init_ = nullptr;  // null: stopped
  std::size_t runtimes_ = 0;      // counts runtimes: the end of a load in an earlier one is ignored
  spdlog::logger& log_;
  std::list<Model> models_;  // none is ever taken out
  Listener listener_{[](const std::string&) {}, [](const std::string&, const std::string&) {}};
  std::set<std::string> lost_early_;  // handles that were lost, perhaps of models whose loading has not ended yet
  const Lifetime alive_;              // gone: the end of a load does nothing
};

}  // namespace rkllm_mcp
