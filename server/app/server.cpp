#include "app/server.hpp"

#include "app/api_description.hpp"
#include "app/memory_limit.hpp"
#include "app/model_presets.hpp"
#include "log.hpp"
#include "mcp/method_tools.hpp"
#include "run_loop.hpp"
#include "version.hpp"
#include "watch/board.hpp"
#include "watch/origin_fields.hpp"

#include <asio/post.hpp>

#include <utility>
#include <variant>

namespace rkllm_mcp {
namespace {

// How long each step of the end may take; together they stay below two seconds.
constexpr std::chrono::milliseconds kForTheRuntime{1000};
constexpr std::chrono::milliseconds kForStreams{300};
constexpr std::chrono::milliseconds kForFlushing{200};
constexpr std::chrono::milliseconds kBeforeNextLook{5};
// Calls that are in progress when standard input ends get so long to answer.
constexpr std::chrono::milliseconds kAfterInput{500};

// Who has not presented a token may say no more than that takes.
constexpr std::size_t kStrangersMessageBytes = 16 * 1024;

Json fields_of(const RequestNote& note) {
  Json fields = fields_of(note.origin);
  fields["method"] = note.method.empty() ? Json(nullptr) : Json(shortened(note.method));
  fields["total_ms"] = static_cast<double>(note.time.count()) / 1000;
  fields["outcome"] = note.error ? std::to_string(static_cast<int>(*note.error)) : "ok";
  return fields;
}

Severity severity_of(spdlog::level::level_enum level) {
  if (level >= spdlog::level::err) return Severity::kError;
  return level == spdlog::level::warn ? Severity::kWarning : Severity::kInfo;
}

Listed listed(Offered kind) {
  if (kind == Offered::kTools) return Listed::kTools;
  return kind == Offered::kPrompts ? Listed::kPrompts : Listed::kResources;
}

Dispatcher::Options dispatcher_options(const Settings& settings, Counts& counts,
                                       const std::shared_ptr<MemoryBudget>& memory) {
  Dispatcher::Options options;
  options.memory = memory;
  options.message = {settings.limits.max_depth, settings.limits.max_id_bytes, &counts};
  options.calls = {.stream_buffer_bytes = settings.stream.buffer_bytes,
                   .stream_values_bytes = settings.stream.values_bytes,
                   .answer_bytes = settings.limits.max_message_bytes,
                   .reply_bytes = settings.limits.max_reply_bytes,
                   .inline_bytes = settings.mcp.inline_bytes,
                   .memory = memory,
                   .poll_timeout = settings.stream.poll_timeout_s,
                   .poll_wait_max = settings.stream.poll_wait_ms_max,
                   .stall = settings.limits.stall_s,
                   .stream_memory = std::make_shared<MemoryBudget>(settings.stream.memory_bytes, memory),
                   .counts = &counts,
                   .requests_per_session = settings.limits.max_requests_per_connection,
                   .queue_timeout = settings.queue.timeout_s,
                   .retained_chunks = settings.udp.retained_chunks};
  options.time_to_prove = settings.auth.timeout_s;
  if (!settings.auth.tokens.empty()) options.tokens = TokenSet::read(settings.auth.tokens);
  return options;
}

}  // namespace

Server::Server(asio::io_context& loop, const Settings& settings, spdlog::logger& log, const Options& options)
    : loop_(loop),
      log_(log),
      settings_(settings),
      settings_report_(options.settings_report),
      memory_(std::make_shared<MemoryBudget>(memory_limit(settings.limits))),
      runtime_(loop, settings, log, [this](const Settings& now) { return find_runtime(now); }),
      backend_(std::make_shared<WatchedBackend>(
          backend_of_runtime(), metrics_,
          [&log, format = settings.log.format](const auto& fields) { log_event(log, format, "call", fields); },
          [this](std::string_view handle) { handle_watch_.poke(handle); })),
      api_(describe_api(runtime_.now())),
      catalogue_(describe_server(runtime_.now(), settings, settings_report_)),
      dispatcher_(loop, api_, catalogue_, backend_, watched_options(settings)),
      handle_watch_(loop, dispatcher_.mcp(), [this] { return runtime_.now().handles(); }),
      routes_(
          dispatcher_, settings.http.session_idle_s,
          {settings.server.name, Json{{"tools", true}, {"resources", true}, {"prompts", true}},
           [this] { return runtime_.now().simulated(); }},
          [this] { return health(); }, [this] { return metrics(); }),
      autoload_(loop, *backend_, settings.models, log),
      upstreams_(loop, settings.upstreams, log,
                 {.on_changed =
                      [this](Offered kind) {
                        gather_catalogue();
                        dispatcher_.mcp().announce(listed(kind));
                      },
                  .on_log = [this](Severity level, const std::string& logger,
                                   const Json& data) { dispatcher_.mcp().log(level, logger, data); }}),
      timer_(loop),
      when_stopping_(options.when_stopping),
      lost_log_lines_(options.lost_log_lines) {
  introduce_runtime();
  gather_catalogue();
  std::optional<Stdio> stdio;
  if (options.stdio_output) stdio = Stdio{0, *options.stdio_output, stdio_acceptor(options.ends_with_input)};
  Transports::Surroundings surroundings;
  surroundings.handed = options.sockets;
  surroundings.counts = &metrics_.counts;
  surroundings.memory = memory_;
  if (!settings.auth.tokens.empty()) {
    surroundings.stranger_message_bytes = kStrangersMessageBytes;
    surroundings.is_stranger = [this](const HttpRequest& head) {
      return dispatcher_.gate().identify(head.bearer_token()) == nullptr;
    };
    surroundings.refuse_guess = [this](const std::string& address, std::function<void()> refuse) {
      dispatcher_.gate().refuse_guess(address, std::move(refuse));
    };
  }
  transports_.emplace(
      loop, settings, surroundings, dispatcher_.acceptor(),
      [this](const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange) {
        routes_.handle(request, exchange);
      },
      stdio);
}

std::unique_ptr<RuntimeHost> Server::find_runtime(const Settings& settings) {
  const auto printed = [this](spdlog::level::level_enum level, pid_t worker, std::string_view line) {
    asio::post(loop_, [this, severity = severity_of(level), worker, text = std::string(line)] {
      dispatcher_.mcp().log(severity, "runtime", Json{{"worker", worker}, {"text", text}});
    });
  };
  auto runtime = std::make_unique<RuntimeHost>(settings, log_, metrics_.counts, printed);
  runtime->when_lost([this](const std::string& handle) {
    asio::post(loop_, [this, handle] {
      log_.error("the process that ran {} has died", handle);
      metrics_.count_lost_model();
      autoload_.lost(handle);
      handle_watch_.poke();
    });
  });
  return runtime;
}

std::shared_ptr<Backend> Server::backend_of_runtime() {
  return std::make_shared<PresetBackend>(loop_, settings_.models, runtime_.now().backend());
}

void Server::introduce_runtime() {
  if (!runtime_.now().trouble().empty()) log_.error("{}; every call will say so", runtime_.now().trouble());
  if (!runtime_.now().warning().empty()) log_.warn("{}", runtime_.now().warning());
  log_.info("{}", runtime_.now().description());
}

void Server::gather_catalogue() {
  catalogue_ = describe_server(runtime_.now(), settings_, settings_report_);
  add_method_tools(catalogue_, loop_, dispatcher_.caller());
  offer_presets(catalogue_, api_.methods, settings_.models);
  upstreams_.add_to(catalogue_);
}

void Server::runtime_replaced() {
  autoload_.stop();
  backend_->replace(backend_of_runtime());
  api_ = describe_api(runtime_.now());
  introduce_runtime();
  gather_catalogue();
  for (const Listed list : {Listed::kTools, Listed::kResources, Listed::kPrompts}) dispatcher_.mcp().announce(list);
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
}

Server::~Server() {
  if (ending_.joinable()) ending_.join();
}

AcceptFunction Server::stdio_acceptor(bool ends_with_input) {
  if (!ends_with_input) return dispatcher_.acceptor();
  return [this, accept = dispatcher_.acceptor()](const std::shared_ptr<Peer>& peer) -> ReceiveFunction {
    peer->when_closed([this] { stop(); });
    return [this, receive = accept(peer)](const Received& received) {
      receive(received);
      if (!std::holds_alternative<EndOfInput>(received)) return;
      timer_.expires_after(kAfterInput);
      timer_.async_wait([this](const asio::error_code& error) {
        if (!error) stop();
      });
    };
  };
}

void Server::start_runtime() {
  runtime_.start([this] { autoload_.start(find_method(api_.methods, HandleRole::kCreates)); },
                 [this] { runtime_replaced(); });
}

Json Server::health() const {
  const auto uptime = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - started_).count();
  return Json{{"status", runtime_.now().trouble().empty() ? "healthy" : "degraded"},
              {"name", catalogue_.name},
              {"version", kProgramVersion},
              {"uptime_s", uptime},
              {"servers", Json::array({catalogue_.name})},
              {"runtime", runtime_.status()},
              {"upstreams", upstreams_.status()},
              {"transports", transports_->status()}};
}

std::string Server::metrics() const {
  std::string text = metrics_.text();
  print_family(text, "rkllm_mcp_runtime_info", "gauge", "The API that is served; simulated=\"true\": no model runs.");
  print_sample(text, "rkllm_mcp_runtime_info",
               label("version", runtime_.now().version()) + (runtime_.now().simulated() ? "," + label("simulated", "true") : ""), 1);
  print_family(text, "rkllm_mcp_running", "gauge", "1 while a call is made on the handle.");
  for (const auto& handle : runtime_.now().handles()) {
    print_sample(text, "rkllm_mcp_running", label("handle", handle.id), handle.running ? 1 : 0);
  }
  print_family(text, "rkllm_mcp_queued", "gauge", "Calls that wait for the handle.");
  for (const auto& handle : runtime_.now().handles()) {
    print_sample(text, "rkllm_mcp_queued", label("handle", handle.id), static_cast<double>(handle.queue.size()));
  }
  print_family(text, "rkllm_mcp_memory_bytes", "gauge", "What requests, answers and streams take of limits.memory_bytes.");
  print_sample(text, "rkllm_mcp_memory_bytes", {}, static_cast<double>(memory_->used()));
  print_family(text, "rkllm_mcp_lost_log_lines_total", "counter",
               "Lines of the log that could not be written in time.");
  print_sample(text, "rkllm_mcp_lost_log_lines_total", "",
               static_cast<double>(lost_log_lines_ ? lost_log_lines_() : 0));
  print_family(text, "rkllm_mcp_connections", "gauge", "Open connections; of UDP, peers.");
  const Json open = transports_->status();
  for (const auto& [transport, status] : open.items()) {
    if (!status.contains("connections")) continue;
    print_sample(text, "rkllm_mcp_connections", label("transport", transport), status["connections"].get<double>());
  }
  return text + board_metrics("/");
}

void Server::stop() {
  if (std::exchange(stopping_, true)) return;
  log_.info("ending");
  if (when_stopping_) when_stopping_();
  timer_.cancel();
  runtime_.settle();
  autoload_.stop();
  handle_watch_.stop();
  upstreams_.stop();
  dispatcher_.mcp().end();
  transports_->stop();
  // The library may take its time; meanwhile the loop delivers the last messages of the streams.
  ending_ = std::thread([this] {
    const bool clean = runtime_.shut_down(Clock::now() + kForTheRuntime);
    asio::post(loop_, [this, clean] {
      ended_cleanly_ = clean;
      if (!clean) log_.warn("the runtime library did not come back in time; leaving it behind");
      let_streams_end(Clock::now() + kForStreams);
    });
  });
}

// A client that reads slowly has not been told the end of its stream yet; after close_all() it would never be.
void Server::let_streams_end(Clock::time_point deadline) {
  if (dispatcher_.is_pushing() && Clock::now() < deadline) {
    return look_again([this, deadline] { let_streams_end(deadline); });
  }
  transports_->close_all();
  flush_and_leave(Clock::now() + kForFlushing);
}

void Server::flush_and_leave(Clock::time_point deadline) {
  if (transports_->connections() > 0 && Clock::now() < deadline) {
    return look_again([this, deadline] { flush_and_leave(deadline); });
  }
  transports_->abort_all();  // streams that wait for a client to read hold it, until they hear that it has gone
  asio::post(loop_, [this] { loop_.stop(); });
}

void Server::look_again(std::function<void()> look) {
  const auto timer = std::make_shared<asio::steady_timer>(loop_, kBeforeNextLook);
  timer->async_wait([timer, look = std::move(look)](const asio::error_code&) { look(); });
}

}  // namespace rkllm_mcp
