#include "direct_client.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

constexpr int kMostRequests = 6;
constexpr std::size_t kLongRun = 150;
constexpr int kLongSleep = 80;  // times that it could have acted
constexpr int kHello = 1'000;   // the id of its initialize
constexpr int kParseError = -32700;
constexpr int kTooLarge = 4006;

}  // namespace

DirectClient::DirectClient(World& world, SimServer& server, std::unique_ptr<Wire> wire, std::string name)
    : world_(world), server_(server), wire_(std::move(wire)), name_(std::move(name)) {}

void DirectClient::start() {
  connection_ = wire_->connect(name_);
  connection_->listen({[this](std::string_view bytes) { received(bytes); }, [this] { ended(); }});
  connection_->send(wire_->opening());
  is_stranger_ = wire_->opening().empty() && world_.choices().happens(12);
  if (is_stranger_) {
    ++owed_;
    connection_->send("patch /jsonrpc HTTP/1.1\r\nHost: localhost\r\n\r\n" + request_text() + "\n");
  }
  plan();
}

void DirectClient::plan() {
  world_.may_happen(name_ + " acts", [self = shared_from_this()] { self->act(); });
}

void DirectClient::act() {
  if (departure_.has_left() || settled_ || told_end_) return;
  if (sleeps_for_ > 0) {
    --sleeps_for_;
    return plan();
  }
  switch (world_.choices().choose(16)) {
    case 0:
    case 1:
    case 2: send_requests(1); break;
    case 3: send_requests(2); break;
    case 4:
      connection_->set_reading(false);
      if (world_.choices().happens(4)) sleeps_for_ = kLongSleep;
      break;
    case 5:
    case 6: connection_->set_reading(true); break;
    case 7:
      if (last_id_ == 0) break;
      finish();
      break;
    case 8:
      if (!world_.choices().happens(2)) break;
      world_.saw(owed_ > 0 ? "a client left with calls in progress" : "a client left");
      departure_.leave();
      connection_->close();
      break;
    case 9:
      if (!world_.choices().happens(2)) break;
      departure_.leave();
      connection_->reset();
      break;
    case 10: send_batch(1 + world_.choices().choose(3)); break;
    case 11:
      if (!finished_ && !is_stranger_) connection_->send(wire_->beside());
      break;
    case 12:
      if (world_.choices().happens(3)) break_off();
      break;
    case 13:
      if (world_.choices().happens(2)) send_too_much();
      break;
    default: break;  // it waits
  }
  plan();
}

void DirectClient::send_requests(std::size_t count) {
  if (is_stranger_) return;
  std::string bytes;
  for (std::size_t i = 0; i < count && !finished_ && last_id_ < kMostRequests; ++i)
    bytes += wire_->whole(request_text());
  connection_->send(bytes);
}

// The answers come in one message, the tokens before it. Only one revision of MCP has batches.
void DirectClient::send_batch(std::size_t count) {
  if (is_stranger_ || finished_) return;
  std::string bytes;
  if (!std::exchange(speaks_mcp_, true)) {
    requests_[kHello] = {Kind::kPlain, 0, std::to_string(kHello), server_.excuse({}), Clock::now(), {}};
    ++owed_;
    bytes =
        wire_->whole(R"({"jsonrpc":"2.0","id":1000,"method":"initialize","params":{"protocolVersion":"2025-03-26"}})");
  }
  std::string batch;
  for (std::size_t i = 0; i < count && last_id_ < kMostRequests; ++i) batch += (i > 0 ? "," : "") + request_text();
  if (!batch.empty()) bytes += wire_->whole("[" + batch + "]");
  connection_->send(bytes);
}

// What exceeds a limit is refused, and what follows it is not.
void DirectClient::send_too_much() {
  if (is_stranger_ || finished_ || refusals_ > 0) return;
  const bool may_be_long = wire_->last_bytes().empty();  // on others a message that is too long ends the connection
  std::string message;
  switch (world_.choices().choose(may_be_long ? 3 : 2)) {
    case 0:
      message =
          R"({"jsonrpc":"2.0","id":0,"method":"plain","params":)" + std::string(200, '[') + std::string(200, ']') + "}";
      break;
    case 1: message = R"({"jsonrpc":"2.0","id":")" + std::string(2'000, '0') + R"(","method":"plain"})"; break;
    default:
      message = R"({"jsonrpc":"2.0","id":0,"method":")" + std::string(SimServer::kMessageBytes, 'x') + "\"}";
      break;
  }
  ++refusals_;
  ++owed_;
  connection_->send(wire_->whole(message));
}

std::string DirectClient::written_id(int id) const {
  switch (world_.choices().choose(6)) {
    case 1: return "\"" + std::to_string(id) + "\"";
    case 2: return std::to_string(id) + ".00";
    case 3: return "\"\\u003" + std::to_string(id) + "\"";
    default: return std::to_string(id);
  }
}

std::string DirectClient::request_text() {
  const int id = ++last_id_;
  const auto kind = static_cast<Kind>(2 - world_.choices().choose(3));
  const std::size_t tokens = world_.choices().happens(6) ? kLongRun : world_.choices().choose(SimBackend::kTokens);
  const std::string written = written_id(id);
  const std::string handle(SimBackend::kHandles[world_.choices().choose(2)]);
  if (!is_stranger_) {
    requests_[id] = {kind, tokens, written, server_.excuse({handle}), Clock::now(), {}};
    ++owed_;
  }
  const char* const methods[] = {"plain", "run", "run_async"};
  const Json params{{"handle", handle}, {"prompt", SimBackend::prompt(name_of(id), tokens)}};
  return R"({"jsonrpc":"2.0","id":)" + written + R"(,"method":")" + methods[static_cast<int>(kind)] + R"(","params":)" +
         params.dump() + "}";
}

void DirectClient::ended() {
  told_end_ = true;
  const bool may_close = finished_ || is_stranger_ || settled_;
  if (departure_.has_left() || (may_close && owed_ == 0)) return;
  // The server counts the time between two writes, which is longer than the time in which the client did not read.
  if (!connection_->was_left_unread(SimServer::kStall / 2))
    complain("the server has closed although it owes " + owed());
  world_.saw("a client that did not read was given up");
  departure_.leave();
}

void DirectClient::finish() {
  if (std::exchange(finished_, true)) return;
  const std::string last_bytes = wire_->last_bytes();
  if (last_bytes.empty()) {
    world_.saw("a client ended its input");
    return connection_->finish();
  }
  world_.saw(owed_ > 0 ? "a client said goodbye with calls in progress" : "a client said goodbye");
  departure_.leave();
  connection_->send(last_bytes);
}

void DirectClient::break_off() {
  if (finished_ || is_stranger_) return;
  world_.saw("a client left in mid-message");
  finished_ = true;
  departure_.leave();
  const std::string part = wire_->part(R"({"jsonrpc":"2.0","id":0,"method":"plain"})");
  const std::string last_bytes = wire_->last_bytes();
  if (!last_bytes.empty() && world_.choices().happens(2)) return connection_->send(part + last_bytes);
  connection_->send(part.substr(0, 1 + world_.choices().choose(static_cast<std::uint32_t>(part.size()))));
  world_.choices().happens(2) ? connection_->reset() : connection_->close();
}

void DirectClient::check() {
  const bool must_be_noticed = departure_.must_be_noticed(*connection_);
  if (server_.backend().calls_of(name_) == 0) return;
  if (is_stranger_) throw Violation{"what " + name_ + " has sent behind another protocol goes on"};
  if (must_be_noticed) throw Violation{"calls of " + name_ + ", which has gone, go on"};
}

void DirectClient::settle() {
  settled_ = true;
  connection_->set_reading(true);
  if (departure_.has_left()) return;
  if (wire_->last_bytes().empty()) return connection_->finish();
  if (owed_ == 0) finish();
}

void DirectClient::received(std::string_view bytes) {
  wire_->received(bytes, [this](std::string_view text) { take_text(text); });
  if (const std::string answer = wire_->answer(); !answer.empty() && !finished_) connection_->send(answer);
}

void DirectClient::take_text(std::string_view text) {
  const Json message = Json::parse(text, nullptr, false);
  if (message.is_discarded()) complain("what came is no JSON: " + std::string(text));
  if (is_stranger_) return take_as_stranger(message);
  if (!message.is_array()) return take(message, text);
  world_.saw("a batch was answered");
  for (const Json& each : message) take(each, text);
}

void DirectClient::take_as_stranger(const Json& message) {
  if (owed_ == 0 || message["error"]["code"] != kParseError) complain("as a stranger it is told " + message.dump());
  owed_ = 0;
  world_.saw("another protocol was refused");
}

void DirectClient::take(const Json& message, std::string_view text) {
  const Json& written = message["id"];
  const int id = written.is_string() ? std::atoi(written.get_ref<const std::string&>().c_str())
                                     : static_cast<int>(written.is_number() ? written.get<double>() : 0);
  if (id == 0 && refusals_ > 0 && message.contains("error")) {
    --refusals_;
    --owed_;
    if (settled_ && owed_ == 0 && !wire_->last_bytes().empty()) finish();
    return World::saw("what exceeds a limit was refused");
  }
  const auto found = requests_.find(id);
  if (found == requests_.end()) complain("an answer to nothing: " + message.dump());
  Request& request = found->second;
  if (text.find(R"("id":)" + request.written_id + ",") == std::string_view::npos) {
    complain("the id " + request.written_id + " has come back as another: " + std::string(text));
  }
  if (request.ended) complain("a message after the end: " + message.dump());
  if (message.contains("error")) {
    const Json& error = message["error"];
    const bool is_full = request.kind == Kind::kPush && error.value("code", 0) == kTooLarge &&
                         error.value("message", "").starts_with("the client did not take the stream");
    // Half of what is queued for it has to be read in that time, or its stream is full for as long.
    const bool is_too_slow = is_full && Clock::now() - request.asked >= SimServer::kStall;
    if (is_too_slow) world_.saw("a stream was given up that was read too slowly");
    if (!is_too_slow && !request.excuse(error.dump())) complain("an error: " + message.dump());
    // What has come of it before is right all the same.
    if (!whole_text(id, request).starts_with(request.text))
      complain("request " + std::to_string(id) + " has failed, and has the text " + request.text);
    return end(request);
  }
  const Json& result = message["result"];
  if (request.kind == Kind::kPush) return take_chunk(id, request, result);
  if (request.kind == Kind::kRun) request.text = result.value("text", "");
  end_whole(id, request);
}

void DirectClient::take_chunk(int id, Request& request, const Json& result) {
  const Json& chunk = result["chunk"];
  if (chunk["seq"] != request.seq++) complain("a chunk out of its order: " + result.dump());
  request.text += chunk["delta"].get<std::string>();
  if (chunk.value("end", false)) end_whole(id, request);
}

void DirectClient::end(Request& request) {
  request.ended = true;
  --owed_;
  if (settled_ && owed_ == 0 && !wire_->last_bytes().empty()) finish();
}

void DirectClient::end_whole(int id, Request& request) {
  end(request);
  world_.saw("a request was answered");
  const std::string whole = whole_text(id, request);
  if (request.text != whole) {
    complain("request " + std::to_string(id) + " has the text \"" + request.text + "\" and not \"" + whole + "\"");
  }
}

std::string DirectClient::whole_text(int id, const Request& request) const {
  return SimBackend::text(name_of(id), request.kind == Kind::kPlain ? 0 : request.tokens);
}

std::string DirectClient::owed() const {
  std::string ids;
  for (const auto& [id, request] : requests_) {
    if (!request.ended) ids += " " + std::to_string(id);
  }
  if (refusals_ > 0) ids += " a refusal";
  return name_ + ":" + ids;
}

void DirectClient::complain(const std::string& what, Place place) const { throw Violation{name_ + ": " + what, place}; }

}  // namespace rkllm_mcp::simulation
