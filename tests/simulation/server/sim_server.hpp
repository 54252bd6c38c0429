// The server above its sockets: dispatcher, direct dialect, calls, streams, poll buffers, lines, HTTP and WebSocket,
// and the chat host, as the program puts them together, on a simulated loop, with simulated models.
#pragma once

#include "asking_tool.hpp"
#include "open_calls.hpp"
#include "served_models.hpp"
#include "sim_backend.hpp"
#include "sim_lender.hpp"
#include "sim_memory.hpp"
#include "sim_responses.hpp"
#include "sim_upstream.hpp"
#include "simulation/world/sim_connection.hpp"
#include "simulation/world/world.hpp"

#include "runtime/fake_backend.hpp"

#include "chat/assistant/assistants.hpp"
#include "chat/assistant/providers/model_provider.hpp"
#include "chat/host/chat_host.hpp"
#include "chat/http/chat_routes.hpp"
#include "counts.hpp"
#include "dispatch/dispatcher.hpp"
#include "dispatch/http_sessions.hpp"
#include "dispatch/plain_http.hpp"
#include "dispatch/streamable_http.hpp"
#include "transport/bytes/channel.hpp"
#include "transport/http/http_connection.hpp"
#include "transport/lines/line_connection.hpp"
#include "upstreams/upstream.hpp"

#include <spdlog/logger.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::simulation {

class SimServer {
 public:
  // Where its models are: simulated ones stand behind Backend, those in workers behind the queues and frames.
  enum class Models { kSimulated, kInWorkers };

  SimServer(World& world, Models models);
  SimServer(const SimServer&) = delete;
  SimServer& operator=(const SimServer&) = delete;
  ~SimServer();  // ends what a schedule that has failed has left

  // A new client's connection, to the port for lines (TCP), for HTTP or for WebSocket.
  std::shared_ptr<SimConnection> connect_lines(const std::string& name);
  std::shared_ptr<SimConnection> connect_http(const std::string& name);
  std::shared_ptr<SimConnection> connect_websocket(const std::string& name);

  const OpenCalls& backend() const { return backend_; }
  // As Client::abandon(); takes steps, in which clients may still act.
  void abandon();
  // To be called after each step: checks the models in workers, and their calls. Throws a Violation.
  void check();
  // Of a call that is made now, on one of these handles: whether it may have failed with what it has told, as the error
  // of the direct dialect or the message of a tool. Of a tool's call it is not known which handle it will be on.
  using Excuse = std::function<bool(std::string_view told)>;
  Excuse excuse(std::vector<std::string_view> handles) const;
  Excuse excuse() const { return excuse({std::begin(SimBackend::kHandles), std::end(SimBackend::kHandles)}); }
  // The models in workers end, if there are such. Takes steps.
  void end_models();
  const SimLender& lender() const { return lender_; }
  const SimResponses& responses() const { return responses_; }
  SimMemory& memory() { return *memory_server_; }
  // Of the chat host: turns, and requests for them.
  std::size_t turns() const { return chat_host_.turns() + assistants_.turns() + chat_routes_.open(); }
  std::size_t connections() const { return *connections_; }
  const AskingTool& asking() const { return asking_; }
  const SimUpstream& upstream() const { return other_server_; }
  // From now on the simulated parts around the server make no faults.
  void behave();
  // Whether a tool works for the call of that name, on this server or on the other one.
  bool is_making(std::string_view name) const {
    return backend_.is_making(name) || asking_.open(name) > 0 || other_server_.is_making(name);
  }
  // Whether a call that begins now of the other server's tool may have failed.
  Excuse upstream_excuses(const std::string& name) const;

  // Something changes: the document of that address, or the list of that notification. `hears` is told first.
  void publish(const std::string& what);
  void when_published(std::weak_ptr<void> owner, std::function<void(const std::string& what)> hears);
  bool is_watched(const std::string& address) { return dispatcher_.mcp().is_watched(address); }
  // Time passes until sessions that nobody uses are forgotten.
  void forget_sessions();
  std::size_t memory_used() const { return memory_.used(); }
  std::size_t stream_memory_used() const { return stream_memory_.used(); }

  static constexpr std::chrono::milliseconds kPollTimeout{30'000};
  // Longer than any chain of pauses that a schedule is likely to make by chance: only who does not read runs into it.
  static constexpr std::chrono::seconds kStall{100};
  // For calls of models in workers; calls of simulated models have no such limit.
  static constexpr std::chrono::seconds kQueueTimeout{60};
  static constexpr std::size_t kMessageBytes = std::size_t{64} << 10U;
  static constexpr std::size_t kRequests = 8;  // of one client at a time
  // One for each of the lender's models. The second sums up what was said.
  static constexpr std::string_view kAssistants[] = {"butler", "clerk"};
  // Documents that change.
  static constexpr std::string_view kDocuments[] = {"news://first", "news://second"};
  static constexpr std::string_view kLists[] = {
      "notifications/tools/list_changed", "notifications/resources/list_changed", "notifications/prompts/list_changed"};

 private:
  void gather_tools();
  std::shared_ptr<Channel> add(const std::shared_ptr<SimConnection>& connection);
  std::shared_ptr<SimConnection> connect(const Immutable<http::Surroundings>& service, const std::string& name);

  World& world_;
  Counts counts_;
  const MemoryBudget memory_;
  const MemoryBudget stream_memory_;
  SimBackend simulated_;
  const std::unique_ptr<ServedModels> served_;  // null: the models are simulated
  OpenCalls backend_;
  const Api api_;
  AskingTool asking_;
  std::vector<std::pair<std::weak_ptr<void>, std::function<void(const std::string&)>>> hearers_;  // of what changes
  mcp::Catalogue catalogue_;
  const ConnectionLimits limits_;
  Dispatcher dispatcher_;
  HttpSessions sessions_;
  PlainHttp plain_http_;
  StreamableHttp streamable_http_;
  SimUpstream other_server_;
  spdlog::logger log_;
  std::size_t upstream_changes_ = 0;
  std::unique_ptr<Upstream> upstream_;
  SimLender lender_;
  SimResponses responses_;
  chat::ChatHost chat_host_;
  chat::ModelProvider provider_;
  chat::Assistants assistants_;
  SimMemory* memory_server_ = nullptr;  // with assistants_
  chat::ChatRoutes chat_routes_;
  const AcceptFunction accept_;
  const Immutable<http::Surroundings> http_;
  const Immutable<http::Surroundings> websocket_;
  std::vector<std::weak_ptr<Channel>> channels_;
  const std::shared_ptr<std::size_t> connections_ = std::make_shared<std::size_t>(0);
};

}  // namespace rkllm_mcp::simulation
