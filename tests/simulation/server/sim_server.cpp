#include "sim_server.hpp"

#include "mcp/tools/method_tools.hpp"
#include "settings_defaults.h"
#include "support/usual_limits.hpp"
#include "transport/websocket/websocket_protocol.hpp"
#include "upstreams/upstream_tool.hpp"

#include <spdlog/sinks/null_sink.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kSessionIdle{3600};
constexpr int kStepsToEnd = 5'000;

ConnectionLimits limits(const MemoryBudget& memory, Counts& counts) {
  auto limits = test::usual_limits<ConnectionLimits>();
  limits.counts = &counts;
  limits.send_queue_bytes = 512;  // small, so that schedules reach them
  limits.max_message_bytes = SimServer::kMessageBytes;
  limits.memory = memory;
  limits.message = milliseconds(600'000);
  limits.stall = SimServer::kStall;
  return limits;
}

Dispatcher::Options options(const MemoryBudget& memory, const MemoryBudget& stream_memory, Counts& counts,
                            std::chrono::seconds queue_timeout) {
  auto options = test::usual_limits<Dispatcher::Options>();
  options.message.counts = &counts;
  options.calls.counts = &counts;
  options.memory = memory;
  options.calls.memory = memory;
  options.calls.stream_memory = stream_memory;
  options.calls.poll_timeout = SimServer::kPollTimeout;
  options.calls.stall = SimServer::kStall;
  options.calls.requests_per_session = SimServer::kRequests;
  options.calls.queue_timeout = queue_timeout;
  options.calls.stream_buffer_bytes = 1024;                                // less than a long run has
  if (queue_timeout.count() > 0) options.calls.stream_buffer_bytes = 256;  // few runs in workers are so long
  return options;
}

chat::ChatRoutes::Options chat_options(const MemoryBudget& memory, chat::ResponseStore& responses) {
  chat::ChatRoutes::Options options;
  options.heartbeat = std::chrono::seconds(defaults::kChatHeartbeatS);
  options.responses = &responses;
  options.memory = memory;
  return options;
}

chat::AssistantOptions assistant_options() {
  chat::AssistantOptions options;
  options.most_summary_bytes = 64;  // about three summaries
  return options;
}

// The last question of a prompt is what a model answers; so summaries have questions of their own.
std::vector<chat::Profile> profiles() {
  std::vector<chat::Profile> all;
  for (std::size_t i = 0; i < std::size(SimServer::kAssistants); ++i) {
    chat::Profile profile;
    profile.name = SimServer::kAssistants[i];
    profile.model = SimLender::kModels[i];
    profile.summary = i == 0 ? chat::SummaryUse::kNone : chat::SummaryUse::kEachResponse;
    chat::Wording wording;
    wording.prompts[chat::Purpose::kAnswer] = "{history}\n\n{summary}\n\n{question}";
    wording.prompts[chat::Purpose::kSummary] = "{history}\n\n" + SimChatModel::question("summary", 2);
    wording.prompts[chat::Purpose::kShorterSummary] = "{summary}\n\n" + SimChatModel::question("shorter", 1);
    wording.user = "user";
    wording.assistant = "assistant";
    profile.wordings[profile.default_language] = std::move(wording);
    all.push_back(std::move(profile));
  }
  return all;
}

Immutable<http::Surroundings> http_service(asio::io_context& loop, Gate& gate, const ConnectionLimits& limits,
                                           http::Handler handler, AcceptFunction accept_websocket) {
  http::OriginPolicy own_pages({}, http::OriginPolicy::Binding::kLoopback);
  http::Surroundings service{loop, {}, {}, std::move(own_pages), std::move(handler), {}, {}, {}, {}, {}, limits};
  service.parser_limits.header_bytes = test::usual_limits<http::Options>().header_bytes;
  service.parser_limits.body_bytes = limits.max_message_bytes;
  service.parser_limits.identify = [&gate](const http::Request& head) { return gate.principal_of(head); };
  service.timeouts = {milliseconds(600'000), milliseconds(600'000), milliseconds(600'000)};
  service.websocket_limits = {SimServer::kStall / 4, 5 * SimServer::kStall};
  service.accept_websocket = std::move(accept_websocket);
  return Immutable(std::move(service));
}

}  // namespace

SimServer::SimServer(World& world, Models models)
    : world_(world),
      memory_(std::size_t{16} << 20U),
      stream_memory_(std::size_t{4} << 20U, memory_),
      simulated_(world),
      served_(models == Models::kInWorkers ? std::make_unique<ServedModels>(world) : nullptr),
      backend_(served_ ? static_cast<Backend&>(*served_) : simulated_,
               served_ ? OpenCalls::Stopping::kIsExcused : OpenCalls::Stopping::kCounts),
      api_(test::fake_api()),
      catalogue_(test::fake_catalogue()),
      limits_(limits(memory_, counts_)),
      dispatcher_(world.loop(), api_, catalogue_, backend_,
                  options(memory_, stream_memory_, counts_, served_ ? kQueueTimeout : std::chrono::seconds(0))),
      sessions_(dispatcher_, kSessionIdle),
      plain_http_(dispatcher_, sessions_),
      streamable_http_(dispatcher_, sessions_),
      other_server_(world),
      log_("upstreams", std::make_shared<spdlog::sinks::null_sink_st>()),
      lender_(world),
      responses_(world),
      chat_host_(lender_, chat::HostOptions{}),
      provider_(chat_host_),
      assistants_(world.loop(), chat_host_, {{chat::ProviderKind::kRuntime, &provider_}}, assistant_options()),
      chat_routes_(world.loop(), dispatcher_.gate(), chat_host_, chat_options(memory_, responses_)),
      accept_(dispatcher_.acceptor()),
      http_(http_service(
          world.loop(), dispatcher_.gate(), limits_,
          [this](const http::Request& request, http::Exchange& exchange) {
            if (chat::ChatRoutes::serves(request)) return chat_routes_.handle(request, exchange);
            request.path == "/mcp" ? streamable_http_.handle(request, exchange) : plain_http_.handle(request, exchange);
          },
          nullptr)),
      websocket_(http_service(
          world.loop(), dispatcher_.gate(), limits_,
          [](const http::Request& /*request*/, http::Exchange& exchange) {
            exchange.respond(websocket::upgrade_required());
          },
          accept_)) {
  mcp::add_method_tools(catalogue_, world.loop(), dispatcher_.caller());
  catalogue_.add(asking_.tool());
  catalogue_.offers_tasks = true;
  upstream_ = std::make_unique<Upstream>(world.loop(), std::string(SimUpstream::kName), "far away", nullptr, log_,
                                         Upstream::Events{[this](Offered /*kind*/) { gather_tools(); }, {}});
  auto memory_server = std::make_unique<SimMemory>(world);
  memory_server_ = memory_server.get();
  assistants_.servers().register_server(std::move(memory_server));
  assistants_.use(profiles());
  if (served_) served_->load();
}

SimServer::~SimServer() {
  for (const auto& each : channels_) {
    if (const auto channel = each.lock()) channel->abort();
  }
  world_.pass(Clock::duration::zero());  // lets the channels end what they carry, which cancels its calls
  simulated_.end_all();
  upstream_->stop();
  world_.pass(Clock::duration::zero());
  World::saw(counts_);
}

void SimServer::behave() {
  other_server_.behave();
  if (served_) served_->behave();
}

void SimServer::abandon() {
  if (served_) served_->workers().abandon();
}

void SimServer::check() {
  if (!served_) return;
  served_->workers().check();
  backend_.check(kQueueTimeout);
}

SimServer::Excuse SimServer::excuse(std::vector<std::string_view> handles) const {
  if (!served_) return [](std::string_view /*told*/) { return false; };
  std::vector<std::function<bool()>> losses;
  for (const std::string_view handle : handles) losses.push_back(served_->losses_from_now(handle));
  return [asked = Clock::now(), losses = std::move(losses)](std::string_view told) {
    std::string plain(told);
    std::erase(plain, '\\');  // a tool's error is JSON within a text
    const auto has = [&plain](std::string_view words) { return plain.find(words) != std::string::npos; };
    if (has("the call has waited")) return Clock::now() - asked >= kQueueTimeout;
    const bool is_other_error = has(R"("code":)") && !has(R"("code":4005)") && !has(R"("code":4002)");
    if (is_other_error || std::none_of(losses.begin(), losses.end(), [](const auto& is_lost) { return is_lost(); })) {
      return false;
    }
    World::saw("a client was told that the model has been lost");
    return true;
  };
}

void SimServer::end_models() {
  if (!served_) return;
  served_->workers().end();
  for (int i = 0; i < kStepsToEnd && !served_->workers().is_over(); ++i) world_.step();
  if (!served_->workers().is_over()) throw Violation{"the models in workers never end"};
}

// The table looks for them when a new one is opened.
void SimServer::forget_sessions() {
  world_.pass(kSessionIdle + std::chrono::seconds(1));
  world_.pass(kSessionIdle + std::chrono::seconds(1));  // for a task that has failed then, and is kept for its client
  if (const auto opened = sessions_.open(http::Request())) sessions_.end(opened->id);
}

void SimServer::gather_tools() {
  ++upstream_changes_;
  const std::string prefix = std::string(SimUpstream::kName) + "_";
  std::erase_if(catalogue_.tools, [&prefix](const auto& each) { return each->name.starts_with(prefix); });
  for (const Json& theirs : upstream_->tools()) {
    mcp::Tool tool = served_tool(upstream_->name(), theirs);
    tool.run = [this, there = theirs.at("name").get<std::string>()](mcp::Invocation& invocation) {
      upstream_->call(there, invocation);
    };
    catalogue_.add(std::move(tool));
  }
  publish(std::string(kLists[0]));
}

SimServer::Excuse SimServer::upstream_excuses(const std::string& name) const {
  const bool was_there = !upstream_->tools().empty();
  return [this, was_there, name, changes = upstream_changes_ + other_server_.losses()](std::string_view /*told*/) {
    return !was_there || upstream_changes_ + other_server_.losses() != changes || other_server_.was_given_up(name);
  };
}

void SimServer::publish(const std::string& what) {
  for (const auto& [owner, hears] : hearers_) {
    if (const auto alive = owner.lock()) hears(what);
  }
  const auto list = std::find(std::begin(kLists), std::end(kLists), what);
  if (list == std::end(kLists)) return dispatcher_.mcp().resource_updated(what);
  dispatcher_.mcp().announce(static_cast<mcp::Listed>(list - std::begin(kLists)));
}

void SimServer::when_published(std::weak_ptr<void> owner, std::function<void(const std::string& what)> hears) {
  hearers_.emplace_back(std::move(owner), std::move(hears));
}

std::shared_ptr<Channel> SimServer::add(const std::shared_ptr<SimConnection>& connection) {
  const auto channel = std::make_shared<Channel>(world_.loop(), connection->stream(), limits_);
  channels_.push_back(channel);
  ++*connections_;
  channel->when_finished([connections = connections_] { --*connections; });
  return channel;
}

std::shared_ptr<SimConnection> SimServer::connect_lines(const std::string& name) {
  const auto connection = std::make_shared<SimConnection>(world_, name);
  const auto channel = add(connection);
  channel->contain(
      [&] { LineConnection::start(*channel, {.transport = TransportKind::kTcp, .address = name}, limits_, accept_); });
  return connection;
}

std::shared_ptr<SimConnection> SimServer::connect(const Immutable<http::Surroundings>& service,
                                                  const std::string& name) {
  const auto connection = std::make_shared<SimConnection>(world_, name);
  const auto channel = add(connection);
  channel->contain([&] { http::Connection::start(service, *channel, name); });
  return connection;
}

std::shared_ptr<SimConnection> SimServer::connect_http(const std::string& name) { return connect(http_, name); }

std::shared_ptr<SimConnection> SimServer::connect_websocket(const std::string& name) {
  return connect(websocket_, name);
}

}  // namespace rkllm_mcp::simulation
