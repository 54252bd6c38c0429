// Every object of the running server, and the order in which they begin and end.
//
// Begin: runtime, dispatcher, transports. End, each step bounded: accept nobody; stop all runs, so that every stream
// gets its last message; destroy the handles; let slow clients take theirs; flush; leave the loop.
//
// Threads: call everything on the event loop, stop() included (asio's signal_set does). On other threads run
// find_runtime(), when RuntimeLife looks for a library; what the runtime calls when a model is lost or a worker prints,
// which posts to the loop; what WatchedBackend tells of a call; and, while the server ends, the wait for the runtime.
#pragma once

#include "api.hpp"
#include "app/description/status_pages.hpp"
#include "app/endpoints/http_routes.hpp"
#include "app/endpoints/transports.hpp"
#include "app/memory_reserve.hpp"
#include "app/runtime/autoload.hpp"
#include "app/runtime/runtime_life.hpp"
#include "app/services/chat_service.hpp"
#include "app/services/server_model_store.hpp"
#include "app/services/services.hpp"
#include "app/shutdown.hpp"
#include "clock.hpp"
#include "dispatch/dispatcher.hpp"
#include "mcp/catalogue.hpp"
#include "models/named_backend.hpp"
#include "models/server_models.hpp"
#include "page/web_page.hpp"
#include "settings/settings.hpp"
#include "upstreams/upstreams.hpp"
#include "watch/handle_watch.hpp"
#include "watch/metrics.hpp"
#include "watch/watched_backend.hpp"

#include <rkllm_mcp/json.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace rkllm_mcp {

class Server {
 public:
  struct Options {
    std::optional<int> stdio_output;                  // serve standard input, and answer to this descriptor
    bool ends_with_input = false;                     // the end of standard input ends the server
    HandedSockets sockets{};                          // to serve on, instead of opening those of the settings
    std::function<void()> when_stopping{};            // called once, as the end begins; null: nothing is called
    std::function<std::uint64_t()> lost_log_lines{};  // for the metrics, which say 0 if this is null
    const LogTail* log_tail = nullptr;  // for GET /log, which is absent if this is null; outlives the server
    std::function<Json()> settings_report = [] { return Json(); };  // what clients may read of the settings
  };

  // Opens everything. Throws std::runtime_error if a transport cannot be opened. `settings` and `log` outlive the
  // server.
  Server(asio::io_context& loop, const Settings& settings, spdlog::logger& log, const Options& options);
  ~Server();

  // Starts the runtime, and then begins to load the models that the settings name. Returns at once; how it went is
  // logged.
  void start_runtime();
  // Looks whether a runtime library has come, gone, or become another one, and serves what is there now; clients are
  // told. As long as a model is loaded, or being loaded, nothing changes. Returns at once; see RuntimeLife.
  void renew_runtime() {
    if (runs_models(settings_)) runtime_.look_again();
  }
  // To be called after the settings have been read again: uses those that may change while the server runs.
  void settings_changed();
  // Reads the profiles of chat.profiles_dir again.
  void renew_profiles();
  // Begins to end, and returns at once. When everything has ended, or has had its time, the server stops the event
  // loop, so that `loop.run()` returns. Idempotent.
  void stop() { shutdown_.begin(); }
  bool is_stopping() const { return shutdown_.has_begun(); }
  // False if a thread still runs (in the library, a tool, a pull, a provider's answer), or the end has failed: then
  // only leaving the process helps.
  bool ended_cleanly() const { return ended_cleanly_; }
  // A callback of the loop has let an exception through: the log tells of it, and the metrics.
  void note_fault(const std::exception_ptr& fault);
  // See Transports.
  bool renew_certificate() { return transports_->renew_certificate(); }
  Json ports() const { return transports_->status(); }

 private:
  std::unique_ptr<Runtime> find_runtime(const Settings& settings);  // any thread
  ModelRuntime runtime_of_models();
  void runtime_replaced();
  void introduce_runtime();                                       // to the log
  void gather_catalogue();                                        // of the runtime, and of what the upstreams offer
  Dispatcher::Options watched_options(const Settings& settings);  // with metrics and log lines
  AcceptFunction stdio_acceptor(bool ends_with_input);
  std::vector<std::string> loaded_paths() const;
  std::vector<Shutdown::Step> shutdown_steps();
  void stop_new_work();  // ends what new work could come from
  void end_runtime();    // and the services; a thread waits for their end

  asio::io_context& loop_;
  spdlog::logger& log_;
  const Clock::time_point started_ = Clock::now();
  Metrics metrics_;
  const Settings& settings_;
  const std::function<Json()> settings_report_;
  const MemoryBudget memory_;  // of requests, answers and streams
  MemoryReserve memory_reserve_;
  std::atomic<int> waiting_lines_ = 0;  // that workers have printed, and that wait for the loop
  RuntimeLife runtime_;
  ServerModels models_;
  NamedBackend named_;      // hands calls on to the runtime's backend
  WatchedBackend backend_;  // `named_`, with metrics and log lines
  Api api_;
  mcp::Catalogue catalogue_;
  Dispatcher dispatcher_;
  HandleWatch handle_watch_;
  Services services_;
  HttpRoutes routes_;
  std::optional<ServerModelStore> model_store_;  // of the chat host
  std::optional<WebPage> page_;
  std::optional<ChatService> chat_;
  std::optional<ServicesPort> services_port_;
  Autoload autoload_;
  Upstreams upstreams_;
  std::optional<Transports> transports_;
  StatusPages status_pages_;
  Timer after_input_;
  const std::function<void()> when_stopping_;
  std::thread ending_;
  bool has_runtime_ended_ = false;
  bool ended_cleanly_ = true;
  Shutdown shutdown_;
};

}  // namespace rkllm_mcp
