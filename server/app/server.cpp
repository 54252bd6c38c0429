#include "app/server.hpp"

#include "app/description/api_description.hpp"
#include "app/from_settings.hpp"
#include "app/memory_limit.hpp"
#include "backend/handle_resources.hpp"
#include "log.hpp"
#include "mcp/tools/method_tools.hpp"
#include "models/model_presets.hpp"
#include "models/model_resources.hpp"
#include "run_loop.hpp"
#include "settings/table.hpp"
#include "watch/watched_backend.hpp"

#include <asio/post.hpp>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

namespace rkllm_mcp {
namespace {

// How long each step of the end waits; together below two seconds. Workers that have to be killed, and upstreams that
// do not end, may take some 300 ms more each.
constexpr std::chrono::milliseconds kForConversations{400};
constexpr std::chrono::milliseconds kForTheRuntime{1000};
constexpr std::chrono::milliseconds kForStreams{300};
constexpr std::chrono::milliseconds kForFlushing{200};
// How long calls of an MCP host that are in progress when it closes standard input may take to answer. Closing it is
// how such a host ends a server; one that does not end soon gets signals, and is taken for broken.
constexpr std::chrono::milliseconds kAfterInput{500};

// Longest message of a client that has not presented a token yet: enough for presenting one.
constexpr std::size_t kStrangersMessageBytes = 16 * 1024;

Json fields_of(const RequestNote& note) {
  Json fields = fields_of(note.source);
  fields["method"] = note.method.empty() ? Json(nullptr) : Json(shortened(note.method));
  fields["total_ms"] = static_cast<double>(note.time.count()) / 1000;
  fields["outcome"] = note.error ? std::to_string(static_cast<int>(*note.error)) : "ok";
  return fields;
}

mcp::Severity severity_of(spdlog::level::level_enum level) {
  if (level >= spdlog::level::err) return mcp::Severity::kError;
  return level == spdlog::level::warn ? mcp::Severity::kWarning : mcp::Severity::kInfo;
}

std::set<mcp::Listed> listed(const std::set<Offered>& kinds) {
  std::set<mcp::Listed> lists;
  for (const Offered kind : kinds) {
    if (kind == Offered::kTools) {
      lists.insert(mcp::Listed::kTools);
    } else {
      lists.insert(kind == Offered::kPrompts ? mcp::Listed::kPrompts : mcp::Listed::kResources);
    }
  }
  return lists;
}

std::optional<HttpRoutes::Server> described(const Settings& settings, std::function<bool()> is_simulated) {
  if (!runs_models(settings)) return std::nullopt;
  return HttpRoutes::Server{settings.server.name, Json{{"tools", true}, {"resources", true}, {"prompts", true}},
                            std::move(is_simulated)};
}

}  // namespace

Server::Server(asio::io_context& loop, const Settings& settings, spdlog::logger& log, const Options& options)
    : loop_(loop),
      log_(log),
      settings_(settings),
      settings_report_(options.settings_report),
      memory_(memory_limit(settings.limits)),
      memory_reserve_(loop, memory_),
      runtime_(loop, settings, log, [this](const Settings& now) { return find_runtime(now); }),
      models_(loop, log, model_choices(settings),
              {.stream = stream_options(settings, metrics_.counts, memory_),
               .changed = [this] { dispatcher_.mcp().resource_updated(std::string(kModelsUri)); },
               .resolved = [&settings](const std::string& path) { return path_for_library(settings, path); },
               .counts = &metrics_.counts}),
      named_(loop, models_, [this]() -> Backend& { return *runtime_.now().backend(); }),
      backend_(
          named_, metrics_,
          [&log, format = settings.log.format](const auto& fields) { log_event(log, format, "call", fields); },
          [this](std::string_view handle) { handle_watch_.note_change(handle); }),
      api_(runs_models(settings) ? describe_api(runtime_.now()) : Api{}),
      catalogue_(describe_server(runtime_.now(), settings, settings_report_)),
      dispatcher_(loop, api_, catalogue_, backend_, watched_options(settings)),
      handle_watch_(loop, dispatcher_.mcp(), [this] { return runtime_.now().handles(); }),
      services_(
          loop, settings, log,
          [this](const std::function<void(mcp::Server&)>& tell) {
            tell(dispatcher_.mcp());
            if (services_port_) tell(services_port_->mcp());
          },
          [this] {
            if (chat_) chat_->forget_caches();
          }),
      routes_(
          dispatcher_, settings.http.session_idle_s, described(settings, [this] { return runtime_.now().simulated(); }),
          [this] { return status_pages_.health(); }, [this] { return status_pages_.metrics(); }),
      autoload_(loop, backend_, settings.models, log),
      upstreams_(loop, settings.upstreams, log,
                 {.on_changed =
                      [this](const std::set<Offered>& kinds) {
                        gather_catalogue();
                        for (const mcp::Listed list : listed(kinds)) dispatcher_.mcp().announce(list);
                      },
                  .on_log = [this](mcp::Severity level, const std::string& logger,
                                   const Json& data) { dispatcher_.mcp().log(level, logger, data); }}),
      status_pages_({.settings = settings_,
                     .runtime = runtime_,
                     .models = models_.known(),
                     .services = services_,
                     .upstreams = upstreams_,
                     .chat = chat_,
                     .transports = transports_,
                     .catalogue = catalogue_,
                     .metrics = metrics_,
                     .memory = memory_,
                     .lost_log_lines = options.lost_log_lines,
                     .started = started_}),
      after_input_(loop),
      when_stopping_(options.when_stopping),
      shutdown_(loop, shutdown_steps()) {
  name_limits(kSettingOfLimit);
  autoload_.listen({.begun = [this](const std::string& model) { models_.autoload_begun(model); },
                    .ended = [this](const std::string& model,
                                    const std::string& handle) { models_.autoload_ended(model, handle); }});
  if (runs_models(settings)) introduce_runtime();
  if (runs_models(settings) && settings.chat.enabled) {
    chat::ChatTools::Options tools;
    tools.is_simulated = [this] { return runtime_.now().simulated(); };
    tools.trouble = [this] { return runtime_.now().trouble(); };
    if (const auto memory = services_.memory_server()) tools.memory = memory->get();
    model_store_.emplace(loop, settings, models_, [this] { return loaded_paths(); });
    chat_.emplace(loop, settings, dispatcher_.gate(), models_, *model_store_, log, memory_, std::move(tools),
                  services_.all());
  }
  if (chat_) {
    chat_->when_first_token([this](const std::string& handle, double seconds) {
      metrics_.turn_first_token.add(seconds);
      metrics_.note_first_token(handle, seconds);
    });
  }
  if (settings.http.page) page_.emplace();
  if (options.log_tail != nullptr) routes_.show_log(*options.log_tail);
  routes_.ask_first([this](const http::Request& request, http::Exchange& exchange) {
    if (page_ && page_->handle(request, exchange)) return true;
    if (!chat_ || !chat::ChatRoutes::serves(request)) return false;
    chat_->routes().handle(request, exchange);
    return true;
  });
  gather_catalogue();
  if (settings.services.enabled) {
    services_port_.emplace(
        loop, settings, services_, watched_options(settings), [this] { return status_pages_.health_of_services(); },
        [this] { return status_pages_.metrics(); });
  }
  std::optional<Stdio> stdio;
  if (options.stdio_output) stdio = Stdio{0, *options.stdio_output, stdio_acceptor(options.ends_with_input)};
  Transports::Context context;
  context.handed = options.sockets;
  context.counts = &metrics_.counts;
  context.memory = memory_;
  context.services = [this](const http::Request& request, http::Exchange& exchange) {
    services_port_->handle(request, exchange);
  };
  context.identify = [this](const http::Request& head) { return dispatcher_.gate().principal_of(head); };
  context.identify_for_services = [this](const http::Request& head) { return services_port_->identify(head); };
  if (chat_) {
    context.refused = chat::ChatRoutes::refusal;
    context.local_pages_read = chat::ChatRoutes::serves;
  }
  if (!settings.auth.tokens.empty()) {
    context.stranger_message_bytes = kStrangersMessageBytes;
    context.refuse_guess = [this](const std::string& address, std::function<void()> refuse) {
      dispatcher_.gate().refuse_guess(address, std::move(refuse));
    };
  }
  transports_.emplace(loop, settings, context, dispatcher_.acceptor(), std::bind_front(&HttpRoutes::handle, &routes_),
                      stdio);
}

std::unique_ptr<Runtime> Server::find_runtime(const Settings& settings) {
  // On a worker's watcher thread. Lines that come faster than the loop takes them are in the log only.
  const auto printed = [this](spdlog::level::level_enum level, pid_t worker, std::string_view line) {
    constexpr int kMostLines = 100;
    post_unless_many(loop_, waiting_lines_, kMostLines, [&] {
      return [this, level, worker, text = std::string(line)] {
        dispatcher_.mcp().log(severity_of(level), "runtime", Json{{"worker", worker}, {"text", text}});
      };
    });
  };
  auto runtime = std::make_unique<Runtime>(loop_, settings, log_, metrics_.counts, printed);
  runtime->when_lost([this](const std::string& handle) {
    post_patiently(loop_, [this, handle] {
      log_.error("the process that ran {} has died", handle);
      metrics_.count_lost_model();
      models_.lost(handle);
      autoload_.lost(handle);
      handle_watch_.note_change();
    });
  });
  return runtime;
}

ModelRuntime Server::runtime_of_models() {
  Runtime& now = runtime_.now();
  ModelRuntime runtime;
  runtime.owner = now.backend();
  runtime.queue = now.queued();
  runtime.reason = now.trouble();
  runtime.methods = now.abi().methods;
  runtime.version = now.version();
  runtime.simulated = now.simulated();
  runtime.watched = [this](CallRequest request) { return backend_.watched(std::move(request)); };
  return runtime;
}

void Server::settings_changed() {
  if (!runs_models(settings_)) return;
  models_.choose(model_choices(settings_));
  gather_catalogue();
  dispatcher_.mcp().announce(mcp::Listed::kTools);
  dispatcher_.mcp().announce(mcp::Listed::kPrompts);  // their texts name tools, which mcp.tools may have changed
}

void Server::renew_profiles() {
  if (!chat_ || !chat_->read_profiles()) return;
  gather_catalogue();
  dispatcher_.mcp().announce(mcp::Listed::kPrompts);
}

void Server::introduce_runtime() {
  if (!runtime_.now().trouble().empty()) log_.error("{}; every call will say so", runtime_.now().trouble());
  if (!runtime_.now().warning().empty()) log_.warn("{}", runtime_.now().warning());
  log_.info("{}", runtime_.now().description());
}

void Server::gather_catalogue() {
  if (!runs_models(settings_)) {
    catalogue_ = describe_services(settings_, services_);
    return upstreams_.add_to(catalogue_);
  }
  catalogue_ = describe_server(runtime_.now(), settings_, settings_report_);
  // A set of tools that is added is listed only if mcp.tools names it.
  const auto add = [this](std::string_view set, const auto& add_set) {
    const std::size_t before = catalogue_.tools.size();
    std::string instructions = catalogue_.instructions;
    add_set();
    if (std::ranges::count(settings_.mcp.tools, set) > 0) return;
    catalogue_.unlist_tools_from(before);
    catalogue_.instructions = std::move(instructions);  // models are not told of tools that are not listed
  };
  const auto add_one = [this](const std::optional<Immutable<mcp::Service>>& service) {
    if (service) mcp::add_service(catalogue_, *service);
  };
  // The chat set first: whoever reads the beginning of the list can talk to a model.
  if (chat_) add("chat", [&] { add_one(chat_->service()); });
  add("api", [this] {
    mcp::add_method_tools(catalogue_, loop_, dispatcher_.caller());
    offer_presets(catalogue_, api_.methods, settings_.models);
  });
  add_model_resources(catalogue_, models_, [this] { return runtime_.now().simulated(); });
  add("memory", [&] { add_one(services_.memory_server()); });
  add("tools", [&] { add_one(services_.tool_server()); });
  const auto own = static_cast<std::ptrdiff_t>(catalogue_.tools.size());
  upstreams_.add_to(catalogue_);
  if (chat_ && !upstreams_.empty()) chat_->use_upstreams({catalogue_.tools.begin() + own, catalogue_.tools.end()});
}

void Server::runtime_replaced() {
  autoload_.stop();
  models_.use_runtime(runtime_of_models());
  api_ = describe_api(runtime_.now());
  introduce_runtime();
  gather_catalogue();
  for (const mcp::Listed list : {mcp::Listed::kTools, mcp::Listed::kResources, mcp::Listed::kPrompts})
    dispatcher_.mcp().announce(list);
}

Dispatcher::Options Server::watched_options(const Settings& settings) {
  Dispatcher::Options options = dispatcher_options(settings, metrics_.counts, memory_);
  options.report = [this, format = settings.log.format](const RequestNote& note) {
    log_event(log_, format, "request", [&note] { return fields_of(note); });
  };
  return options;
}

void Server::note_fault(const std::exception_ptr& fault) {
  count(&metrics_.counts, &Counts::faults);
  log_.error("internal error, which has ended the exchange that it happened in: {}", text_of_fault(fault));
  if (!shutdown_.has_failed()) return;
  ended_cleanly_ = false;
  loop_.stop();
}

Server::~Server() {
  if (ending_.joinable()) ending_.join();
}

AcceptFunction Server::stdio_acceptor(bool ends_with_input) {
  if (!ends_with_input) return dispatcher_.acceptor();
  // A client that speaks MCP is a host, which ends the server by closing its input. Anybody else has written calls into
  // a pipe and wants their answers: then the connection closes after the last one.
  auto accept = dispatcher_.acceptor([this](bool speaks_mcp) {
    if (!speaks_mcp) return;
    after_input_.expires_after(kAfterInput);
    after_input_.async_wait([this](const asio::error_code& error) {
      if (!error) stop();
    });
  });
  return [this, accept = std::move(accept)](Peer& peer) {
    peer.when_closed([this] { stop(); });
    return accept(peer);
  };
}

void Server::start_runtime() {
  if (!runs_models(settings_)) return;
  models_.use_runtime(runtime_of_models());
  runtime_.start([this] { autoload_.start(find_method(api_.methods, HandleRole::kCreates)); },
                 [this] { runtime_replaced(); });
}

std::vector<std::string> Server::loaded_paths() const {
  std::vector<std::string> paths;
  for (const auto& handle : runtime_.now().handles()) paths.push_back(model_path_of(handle));
  return paths;
}

std::vector<Shutdown::Step> Server::shutdown_steps() {
  return {
      // Unfinished answers are stored in their conversations while the memory server still runs.
      {.begin = [this] { stop_new_work(); },
       .is_done = [this] { return !chat_ || !chat_->is_keeping(); },
       .most = kForConversations},
      // The library may take its time; meanwhile the loop delivers the last messages of the streams.
      {.begin = [this] { end_runtime(); }, .is_done = [this] { return has_runtime_ended_; }},
      // Slow readers get the rest of their streams now: after close_all() nothing more is sent.
      {.is_done = [this] { return !dispatcher_.is_pushing(); }, .most = kForStreams},
      {.begin = [this] { transports_->close_all(); },
       .is_done = [this] { return transports_->connections() == 0; },
       .most = kForFlushing},
      // Streams of slow readers keep connections alive until they hear that the client has gone.
      {.begin =
           [this] {
             transports_->abort_all();
             asio::post(loop_, [this] { loop_.stop(); });
           }},
  };
}

void Server::stop_new_work() {
  log_.info("ending");
  if (when_stopping_) when_stopping_();
  after_input_.cancel();
  runtime_.settle();
  autoload_.stop();
  if (chat_) chat_->stop();
  if (model_store_) model_store_->stop();
  models_.stop();
  handle_watch_.stop();
  upstreams_.stop();
  dispatcher_.mcp().end();
  if (services_port_) services_port_->mcp().end();
  transports_->stop();
}

void Server::end_runtime() {
  services_.stop();
  ending_ = std::thread([this] {
    const auto deadline = Clock::now() + kForTheRuntime;
    const bool models_ended = runtime_.shut_down(deadline);
    const bool services_ended = services_.end(deadline);
    const bool pulls_ended = !model_store_ || model_store_->end(deadline);
    const bool texts_ended = !chat_ || chat_->end(deadline);
    post_patiently(loop_, [this, models_ended, services_ended, pulls_ended, texts_ended] {
      has_runtime_ended_ = true;
      ended_cleanly_ = models_ended && services_ended && pulls_ended && texts_ended;
      if (!models_ended) log_.warn("the runtime library did not come back in time; leaving it behind");
      if (!services_ended) log_.warn("a tool did not come back in time; leaving it behind");
      if (!texts_ended) log_.warn("a profile's provider did not come back in time; leaving it behind");
      if (!pulls_ended) log_.warn("a pull did not come back in time; leaving it behind");
    });
  });
}

}  // namespace rkllm_mcp
