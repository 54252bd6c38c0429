#include "http_client.hpp"

#include <utility>

namespace rkllm_mcp::simulation {
namespace {

constexpr int kMostAsked = 12;
constexpr int kQueueFull = 4004;

}  // namespace

HttpClient::HttpClient(World& world, SimServer& server, std::string name)
    : world_(world), server_(server), name_(std::move(name)) {}

void HttpClient::start() {
  is_greedy_ = world_.choices().happens(3);
  stays_ = world_.choices().happens(4);
  talk_ = HttpTalk::start(server_.connect_http(name_), [this] { ended(); });
  plan();
}

void HttpClient::plan() {
  world_.may_happen(name_ + " acts", [self = shared_from_this()] { self->act(); });
}

void HttpClient::act() {
  if (departure_.has_left() || settled_ || told_end_) return;
  switch (world_.choices().choose(12)) {
    case 0:
    case 1: ask(1); break;
    case 2:
    case 3: ask(3); break;
    case 4: talk_->connection().set_reading(false); break;
    case 5:
    case 6: talk_->connection().set_reading(true); break;
    case 7:
      if (!world_.choices().happens(3)) break;
      world_.saw(talk_->waiting() > 0 ? "a client over HTTP left with calls in progress" : "a client over HTTP left");
      leave();
      talk_->connection().close();
      break;
    case 8:
      if (!world_.choices().happens(3)) break;
      leave();
      talk_->connection().reset();
      break;
    case 9: {
      if (!world_.choices().happens(3)) break;
      world_.saw("a request was cut off");
      const std::string whole = HttpTalk::post("/jsonrpc", R"({"jsonrpc":"2.0","id":1,"method":"plain"})");
      talk_->connection().send(whole.substr(0, world_.choices().choose(static_cast<std::uint32_t>(whole.size()))));
      leave();
      talk_->connection().close();
      break;
    }
    default: break;  // it waits
  }
  plan();
}

void HttpClient::ask(int count) {
  if (talk_->waiting() > 0 && count > 1) world_.saw("requests followed one another without waiting");
  for (int i = 0; i < count && asked_ < kMostAsked; ++i) ask_one();
}

void HttpClient::ask_one() {
  const std::string name = name_ + "." + std::to_string(++asked_);
  const std::size_t tokens = world_.choices().choose(SimBackend::kTokens);
  const bool is_run = is_greedy_ || world_.choices().happens(2);
  const std::string handle(SimBackend::kHandles[world_.choices().choose(2)]);
  const Json request{{"jsonrpc", "2.0"},
                     {"id", name},
                     {"method", is_greedy_ ? "run_async"
                                : is_run   ? "run"
                                           : "plain"},
                     {"params", {{"handle", handle}, {"prompt", SimBackend::prompt(name, tokens)}}}};
  talk_->ask(
      "POST", "/jsonrpc", {{"Content-Type", "application/json"}}, request.dump(),
      {[this, name, excuse = server_.excuse({handle}), tokens = is_run ? tokens : 0](const HttpTalk::Answer& answer) {
        const Json body = parsed(answer);
        const bool is_excused =
            body.contains("error") && body.value("id", Json()) == name && excuse(body["error"].dump());
        if (!is_excused) is_greedy_ ? take_start(body) : take(body, name, tokens);
        if (settled_ && talk_->waiting() == 0 && !stays_) talk_->connection().finish();
      }});
}

Json HttpClient::parsed(const HttpTalk::Answer& answer) const {
  Json body = Json::parse(answer.body, nullptr, false);
  if (body.is_discarded()) complain("an answer that is no JSON: " + answer.body);
  return body;
}

void HttpClient::take(const Json& body, const std::string& name, std::size_t tokens) {
  if (body.value("id", Json()) != name || !body.contains("result"))
    complain("asked as " + name + " it is told " + body.dump());
  const std::string text = body["result"].value("text", "");
  if (text != SimBackend::text(name, tokens)) complain("the text of " + name + " is \"" + text + "\"");
  world_.saw("a request over HTTP was answered");
}

// It may have as many as anybody, whatever the others have.
void HttpClient::take_start(const Json& body) {
  if (body.contains("result")) {
    ++started_;
  } else if (body.at("error").at("code") == kQueueFull && started_ >= SimServer::kRequests) {
    world_.saw("a client had used up its quota");
  } else {
    complain("its run number " + std::to_string(started_ + 1) + " is refused: " + body.dump());
  }
}

void HttpClient::leave() { departure_.leave(); }

void HttpClient::ended() {
  told_end_ = true;
  if (departure_.has_left()) return;
  if (talk_->waiting() > 0 && !talk_->connection().was_left_unread(SimServer::kStall / 2)) {
    complain("the server has closed instead of answering");
  }
  if (stays_) world_.saw("a silent connection was closed");
}

// Of runs that are to be polled a server cannot know whether somebody comes for them.
void HttpClient::check() {
  const bool must_be_noticed = departure_.must_be_noticed(talk_->connection());
  if (is_greedy_ || !must_be_noticed || server_.backend().calls_of(name_) == 0) return;
  throw Violation{"calls of " + name_ + ", which has gone, go on"};
}

void HttpClient::settle() {
  settled_ = true;
  if (departure_.has_left()) return;
  talk_->connection().set_reading(true);
  if (talk_->waiting() == 0 && !stays_) talk_->connection().finish();
}

void HttpClient::complain(const std::string& what, Place place) const { throw Violation{name_ + ": " + what, place}; }

}  // namespace rkllm_mcp::simulation
