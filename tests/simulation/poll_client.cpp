#include "poll_client.hpp"

#include <cctype>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

constexpr int kMostRuns = 3;
constexpr int kStreamNotFound = 4003;

}  // namespace

PollClient::PollClient(World& world, SimServer& server, std::string name)
    : world_(world), server_(server), name_(std::move(name)) {}

void PollClient::start() {
  connection_ = server_.connect_http(name_);
  connection_->listen({[this](std::string_view bytes) { received(bytes); },
                       [this] {
                         told_end_ = true;
                         if (asking_ && !left_) complain("the server has closed instead of answering");
                       }});
  plan();
}

void PollClient::plan() {
  world_.may_happen(name_ + " acts", [self = shared_from_this()] { self->act(); });
}

void PollClient::act() {
  if (left_ || settled_ || told_end_) return;
  switch (world_.choices().choose(8)) {
    case 0:
    case 1:
    case 2:
      if (!asking_) stream_id_.empty() ? start_run() : poll();
      break;
    case 3:
      if (!world_.choices().happens(4)) break;
      left_ = true;
      world_.saw("a polling client left");
      connection_->close();
      break;
    default: break;
  }
  plan();
}

void PollClient::start_run() {
  if (run_ == kMostRuns) return;
  ++run_;
  tokens_ = world_.choices().choose(SimBackend::kTokens);
  text_.clear();
  seq_ = 0;
  last_answer_.reset();
  ask(Json{{"jsonrpc", "2.0"},
           {"id", name_},
           {"method", "run_async"},
           {"params",
            {{"handle", SimBackend::kHandles[world_.choices().choose(2)]},
             {"prompt", SimBackend::prompt(name_ + "." + std::to_string(run_), tokens_)}}}}
          .dump());
}

void PollClient::poll() {
  Json params = {{"stream_id", stream_id_}};
  if (world_.choices().happens(2)) params["wait_ms"] = 5'000;
  ask(Json{{"jsonrpc", "2.0"}, {"id", name_ + " polls"}, {"method", "poll"}, {"params", params}}.dump());
}

void PollClient::ask(const std::string& body) {
  asking_ = true;
  asked_ = Clock::now();
  connection_->send("POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
                    std::to_string(body.size()) + "\r\n\r\n" + body);
}

void PollClient::received(std::string_view bytes) {
  constexpr std::string_view kLength = "content-length: ";
  input_ += bytes;
  const std::size_t head = input_.find("\r\n\r\n");
  if (head == std::string::npos) return;
  std::string fields = input_.substr(0, head);
  for (char& byte : fields) byte = static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
  const std::size_t length = fields.find(kLength);
  if (length == std::string::npos) complain("an answer without a length: " + fields);
  const std::size_t size = std::stoul(fields.substr(length + kLength.size()));
  if (input_.size() < head + 4 + size) return;
  const Json answer = Json::parse(input_.substr(head + 4, size), nullptr, false);
  input_.erase(0, head + 4 + size);
  if (!asking_) complain("an answer to nothing");
  asking_ = false;
  take(answer);
  if (settled_) connection_->finish();
}

void PollClient::take(const Json& answer) {
  if (answer.is_discarded()) complain("an answer that is no JSON");
  if (answer.contains("error")) {
    // How long it has been silent is counted from when its last request can have arrived at the earliest.
    const bool was_slow = last_answer_ && Clock::now() - *last_answer_ >= SimServer::kPollTimeout;
    if (answer["error"]["code"] != kStreamNotFound || !was_slow) complain("an error: " + answer.dump());
    world_.saw("a poll came too late");
    stream_id_.clear();
    return;
  }
  last_answer_ = asked_;
  const Json& result = answer["result"];
  if (stream_id_.empty()) {
    stream_id_ = result.at("stream_id").get<std::string>();
    return;
  }
  const Json& chunk = result["chunk"];
  const std::string delta = chunk["delta"].get<std::string>();
  if (chunk["seq"] != seq_) complain("a chunk out of its order: " + answer.dump());
  const bool ends = chunk.value("end", false);
  if (!delta.empty() || ends) ++seq_;
  text_ += delta;
  if (!ends) return;
  const std::string whole = SimBackend::text(name_ + "." + std::to_string(run_), tokens_);
  if (text_ != whole) complain("the text is \"" + text_ + "\" and not \"" + whole + "\"");
  world_.saw("a polled run was answered");
  stream_id_.clear();
}

void PollClient::settle() {
  settled_ = true;
  if (!left_ && !asking_) connection_->finish();  // over HTTP, who ends the input does not wait for the answer either
}

void PollClient::complain(const std::string& what) const { throw Violation{name_ + ": " + what}; }

}  // namespace rkllm_mcp::simulation
