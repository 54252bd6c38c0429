#include "stateless_client.hpp"

#include <rkllm_mcp/json.hpp>

#include <algorithm>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

constexpr std::size_t kMostCalls = 6;
constexpr const char* kRevision = "2026-07-28";

}  // namespace

StatelessClient::StatelessClient(World& world, SimServer& server, std::string name)
    : world_(world), server_(server), name_(std::move(name)) {}

void StatelessClient::start() { plan(); }

void StatelessClient::plan() {
  world_.may_happen(name_ + " acts", [self = shared_from_this()] { self->act(); });
}

void StatelessClient::act() {
  if (settled_) return;
  switch (world_.choices().choose(8)) {
    case 0:
    case 1:
    case 2: call(); break;
    case 3: leave(); break;
    case 4: set_reading(false); break;
    case 5: set_reading(true); break;
    default: break;  // it waits
  }
  plan();
}

void StatelessClient::call() {
  if (calls_.size() == kMostCalls) return;
  const int id = static_cast<int>(calls_.size()) + 1;
  const std::string name = name_ + "." + std::to_string(id);
  Call& call = calls_.emplace_back(Call{ToolCall(id, name, world_.choices().choose(SimBackend::kTokens))});
  Json params = call.tool.params(SimBackend::kHandles[world_.choices().choose(2)]);
  params["_meta"]["io.modelcontextprotocol/protocolVersion"] = kRevision;
  params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = Json::object();
  const auto connection = server_.connect_http(name_ + ":" + std::to_string(id));
  call.talk = HttpTalk::start(connection, [this, &call] {
    if (call.departure.has_left() || call.talk->waiting() == 0) return;
    if (!call.talk->connection().was_left_unread(SimServer::kStall / 4)) {
      complain("the server has closed instead of answering " + call.tool.name());
    }
    call.departure.leave();
  });
  const Json body{{"jsonrpc", "2.0"}, {"id", id}, {"method", "tools/call"}, {"params", params}};
  call.talk->ask("POST", "/mcp",
                 {{"Content-Type", "application/json"},
                  {"Accept", "application/json, text/event-stream"},
                  {"MCP-Protocol-Version", kRevision},
                  {"Mcp-Method", "tools/call"},
                  {"Mcp-Name", "run"}},
                 body.dump(),
                 {[this, &call](const HttpTalk::Answer& answer) { answered(call, answer); },
                  [&call](const HttpTalk::Event& event) { call.tool.take(event.data); }});
}

void StatelessClient::answered(Call& call, const HttpTalk::Answer& answer) const {
  if (!answer.streamed) call.tool.take(answer.body);
  if (!call.tool.has_ended()) complain(call.tool.name() + " ends without an answer");
  World::saw("a tool was called without a session");
  call.talk->connection().finish();
}

void StatelessClient::leave() {
  const auto found = std::find_if(calls_.begin(), calls_.end(), [](const Call& call) {
    return !call.departure.has_left() && !call.tool.has_ended();
  });
  if (found == calls_.end()) return;
  World::saw("a call without a session was left");
  found->departure.leave();
  found->talk->connection().close();
}

void StatelessClient::set_reading(bool reading) {
  for (Call& call : calls_) call.talk->connection().set_reading(reading);
}

std::string StatelessClient::goes_on_for_nobody() {
  for (Call& call : calls_) {
    const bool must_have_ended = call.departure.must_be_noticed(call.talk->connection());
    if (must_have_ended && server_.backend().is_making(call.tool.name()))
      return call.tool.name() + ", whose client has left it,";
  }
  return {};
}

void StatelessClient::settle() {
  settled_ = true;
  set_reading(true);
}

bool StatelessClient::is_done() const {
  return std::all_of(calls_.begin(), calls_.end(),
                     [](const Call& call) { return call.departure.has_left() || call.tool.has_ended(); });
}

std::string StatelessClient::owed() const {
  std::string text;
  for (const Call& call : calls_) {
    if (!call.departure.has_left() && !call.tool.has_ended()) text += " " + call.tool.name();
  }
  return text;
}

void StatelessClient::complain(const std::string& what) const { throw Violation{name_ + ": " + what}; }

}  // namespace rkllm_mcp::simulation
