#include "poll_client.hpp"

#include <utility>

namespace rkllm_mcp::simulation {
namespace {

constexpr int kMostRuns = 3;
constexpr int kStreamNotFound = 4003;

}  // namespace

PollClient::PollClient(World& world, SimServer& server, std::string name)
    : world_(world), server_(server), name_(std::move(name)) {}

void PollClient::start() {
  talk_ = HttpTalk::start(server_.connect_http(name_), [this] {
    told_end_ = true;
    if (talk_->waiting() == 0 || left_) return;
    if (!talk_->connection().was_left_unread(SimServer::kStall / 4)) {
      complain("the server has closed instead of answering");
    }
    world_.saw("a client that did not read its answer was given up");
    left_ = true;
  });
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
      if (talk_->waiting() == 0) stream_id_.empty() ? start_run() : poll();
      break;
    case 3:
      if (!world_.choices().happens(4)) break;
      left_ = true;
      world_.saw("a polling client left");
      talk_->connection().close();
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
  const std::string handle(SimBackend::kHandles[world_.choices().choose(2)]);
  excuse_ = server_.excuse({handle});
  ask(Json{
      {"jsonrpc", "2.0"},
      {"id", name_},
      {"method", "run_async"},
      {"params", {{"handle", handle}, {"prompt", SimBackend::prompt(name_ + "." + std::to_string(run_), tokens_)}}}}
          .dump());
}

void PollClient::poll() {
  Json params = {{"stream_id", stream_id_}};
  if (world_.choices().happens(2)) params["wait_ms"] = 5'000;
  ask(Json{{"jsonrpc", "2.0"}, {"id", name_ + " polls"}, {"method", "poll"}, {"params", params}}.dump());
}

void PollClient::ask(const std::string& body) {
  asked_ = Clock::now();
  talk_->ask("POST", "/jsonrpc", {{"Content-Type", "application/json"}}, body, {[this](const HttpTalk::Answer& answer) {
               take(Json::parse(answer.body, nullptr, false));
               if (settled_) talk_->connection().finish();
             }});
}

void PollClient::take(const Json& answer) {
  if (answer.is_discarded()) complain("an answer that is no JSON");
  if (answer.contains("error") && excuse_(answer["error"].dump())) return end(TextIs::kBeginning);
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
  end(TextIs::kWhole);
  world_.saw("a polled run was answered");
}

// What has come of a run that has failed is right all the same.
void PollClient::end(TextIs text) {
  const std::string whole = SimBackend::text(name_ + "." + std::to_string(run_), tokens_);
  const bool is_right = text == TextIs::kWhole ? text_ == whole : whole.starts_with(text_);
  if (!is_right) complain("the text is \"" + text_ + "\" and not \"" + whole + "\"");
  stream_id_.clear();
}

void PollClient::settle() {
  settled_ = true;
  if (!left_ && talk_->waiting() == 0)
    talk_->connection().finish();  // over HTTP, who ends the input does not wait for the answer either
}

void PollClient::complain(const std::string& what, Place place) const { throw Violation{name_ + ": " + what, place}; }

}  // namespace rkllm_mcp::simulation
