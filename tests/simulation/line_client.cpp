#include "line_client.hpp"

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
// A server finds out within a second, if it writes to a client of which nothing more comes; each thing that is to
// happen then may be put off by a few steps.
constexpr int kStepsToNotice = 60;
constexpr std::chrono::seconds kTimeToNotice{5};

}  // namespace

LineClient::LineClient(World& world, SimServer& server, std::string name)
    : world_(world), server_(server), name_(std::move(name)) {}

void LineClient::start() {
  connection_ = server_.connect_lines(name_);
  connection_->listen({[this](std::string_view bytes) { received(bytes); }, [this] { ended(); }});
  is_stranger_ = world_.choices().happens(12);
  if (is_stranger_) {
    ++owed_;
    connection_->send("patch /jsonrpc HTTP/1.1\r\nHost: localhost\r\n\r\n" + request_text() + "\n");
  }
  plan();
}

void LineClient::plan() {
  world_.may_happen(name_ + " acts", [self = shared_from_this()] { self->act(); });
}

void LineClient::act() {
  if (left_ || settled_) return;
  if (sleeps_for_ > 0) {
    --sleeps_for_;
    return plan();
  }
  switch (world_.choices().choose(14)) {
    case 0:
    case 1:
    case 2: send_requests(1); break;
    case 3: send_requests(2); break;
    case 4:
      read(false);
      if (world_.choices().happens(4)) sleeps_for_ = kLongSleep;
      break;
    case 5:
    case 6: read(true); break;
    case 7:
      if (last_id_ == 0) break;
      world_.saw("a client ended its input");
      finished_ = true;
      connection_->finish();
      break;
    case 8:
      if (!world_.choices().happens(2)) break;
      world_.saw(owed_ > 0 ? "a client left with calls in progress" : "a client left");
      leave();
      connection_->close();
      break;
    case 9:
      if (!world_.choices().happens(2)) break;
      leave();
      connection_->reset();
      break;
    case 10: send_batch(1 + world_.choices().choose(3)); break;
    default: break;  // it waits
  }
  plan();
}

void LineClient::send_requests(std::size_t count) {
  if (is_stranger_) return;
  std::string text;
  for (std::size_t i = 0; i < count && !finished_ && last_id_ < kMostRequests; ++i) text += request_text() + "\n";
  connection_->send(text);
}

// The answers come in one message, the tokens before it. Only one revision of MCP has batches.
void LineClient::send_batch(std::size_t count) {
  if (is_stranger_ || finished_) return;
  std::string text;
  if (!std::exchange(speaks_mcp_, true)) {
    requests_[kHello] = {Kind::kPlain, 0, std::to_string(kHello), {}};
    ++owed_;
    text = R"({"jsonrpc":"2.0","id":1000,"method":"initialize","params":{"protocolVersion":"2025-03-26"}})"
           "\n";
  }
  std::string batch;
  for (std::size_t i = 0; i < count && last_id_ < kMostRequests; ++i) batch += (i > 0 ? "," : "") + request_text();
  if (!batch.empty()) text += "[" + batch + "]\n";
  connection_->send(text);
}

std::string LineClient::written_id(int id) const {
  switch (world_.choices().choose(6)) {
    case 1: return "\"" + std::to_string(id) + "\"";
    case 2: return std::to_string(id) + ".00";
    case 3: return "\"\\u003" + std::to_string(id) + "\"";
    default: return std::to_string(id);
  }
}

std::string LineClient::request_text() {
  const int id = ++last_id_;
  const auto kind = static_cast<Kind>(2 - world_.choices().choose(3));
  const std::size_t tokens = world_.choices().happens(6) ? kLongRun : world_.choices().choose(SimBackend::kTokens);
  const std::string written = written_id(id);
  if (!is_stranger_) {
    requests_[id] = {kind, tokens, written, {}};
    ++owed_;
  }
  const char* const methods[] = {"plain", "run", "run_async"};
  const Json params{{"handle", SimBackend::kHandles[world_.choices().choose(2)]},
                    {"prompt", SimBackend::prompt(name_of(id), tokens)}};
  return R"({"jsonrpc":"2.0","id":)" + written + R"(,"method":")" + methods[static_cast<int>(kind)] + R"(","params":)" +
         params.dump() + "}";
}

void LineClient::read(bool reading) {
  if (!reading && reads_) {
    world_.saw("a client did not read");
    stopped_reading_ = Clock::now();
  } else if (reading && !reads_) {
    longest_pause_ = std::max(longest_pause_, Clock::now() - stopped_reading_);
  }
  reads_ = reading;
  connection_->set_reading(reading);
}

void LineClient::ended() {
  told_end_ = true;
  if (owed_ == 0 || left_) return;
  // The server counts from its last write to the next, between which there is more time than that without a reader.
  if (longest_pause_ < SimServer::kStall / 2) complain("the server has closed although it owes " + owed());
  world_.saw("a client that did not read was given up");
  leave();
}

void LineClient::leave() {
  left_ = true;
  left_at_ = Clock::now();
}

bool LineClient::must_be_forgotten() {
  if (!left_) return false;
  // Time that passes before the server has read the end of the input is not counted.
  if (!connection_->server_has_seen_end()) left_at_ = Clock::now();
  if (Clock::now() - left_at_ < kTimeToNotice) return false;
  return ++steps_since_left_ > kStepsToNotice;
}

void LineClient::settle() {
  settled_ = true;
  if (left_) return;
  read(true);
  connection_->finish();
}

void LineClient::received(std::string_view bytes) {
  line_ += bytes;
  for (std::size_t end = line_.find('\n'); end != std::string::npos; end = line_.find('\n')) {
    const std::string line = line_.substr(0, end);
    line_.erase(0, end + 1);
    take_line(line);
  }
}

void LineClient::take_line(std::string_view line) {
  const Json message = Json::parse(line, nullptr, false);
  if (message.is_discarded()) complain("what came is no JSON: " + std::string(line));
  if (is_stranger_) return take_as_stranger(message);
  if (!message.is_array()) return take(message, line);
  world_.saw("a batch was answered");
  for (const Json& each : message) take(each, line);
}

void LineClient::take_as_stranger(const Json& message) {
  if (owed_ == 0 || message["error"]["code"] != kParseError) complain("as a stranger it is told " + message.dump());
  owed_ = 0;
  world_.saw("another protocol was refused");
}

void LineClient::take(const Json& message, std::string_view line) {
  const Json& written = message["id"];
  const int id = written.is_string() ? std::atoi(written.get_ref<const std::string&>().c_str())
                                     : static_cast<int>(written.is_number() ? written.get<double>() : 0);
  const auto found = requests_.find(id);
  if (found == requests_.end()) complain("an answer to nothing: " + message.dump());
  Request& request = found->second;
  if (line.find(R"("id":)" + request.written_id + ",") == std::string_view::npos) {
    complain("the id " + request.written_id + " has come back as another: " + std::string(line));
  }
  if (request.ended) complain("a message after the end: " + message.dump());
  if (message.contains("error")) complain("an error: " + message.dump());
  const Json& result = message["result"];
  if (request.kind == Kind::kPush) return take_chunk(id, request, result);
  if (request.kind == Kind::kRun) request.text = result.value("text", "");
  end(id, request);
}

void LineClient::take_chunk(int id, Request& request, const Json& result) {
  const Json& chunk = result["chunk"];
  if (chunk["seq"] != request.seq++) complain("a chunk out of its order: " + result.dump());
  request.text += chunk["delta"].get<std::string>();
  if (chunk.value("end", false)) end(id, request);
}

void LineClient::end(int id, Request& request) {
  request.ended = true;
  --owed_;
  world_.saw("a request was answered");
  const std::string whole = whole_text(id, request);
  if (request.text != whole) {
    complain("request " + std::to_string(id) + " has the text \"" + request.text + "\" and not \"" + whole + "\"");
  }
}

std::string LineClient::whole_text(int id, const Request& request) const {
  return SimBackend::text(name_of(id), request.kind == Kind::kPlain ? 0 : request.tokens);
}

std::string LineClient::owed() const {
  std::string ids;
  for (const auto& [id, request] : requests_) {
    if (!request.ended) ids += " " + std::to_string(id);
  }
  return name_ + ":" + ids;
}

void LineClient::complain(const std::string& what) const { throw Violation{name_ + ": " + what}; }

}  // namespace rkllm_mcp::simulation
