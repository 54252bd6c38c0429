#include "sim_upstream.hpp"

#include "sim_backend.hpp"

#include "faults.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

namespace rkllm_mcp {
namespace {

simulation::SimUpstream* upstream_there =
    nullptr;  // that the next link leads to; belongs to the one thread that there is

}  // namespace

void UpstreamLink::start() { upstream_there->started(events_); }

void UpstreamLink::call(Call call) { upstream_there->call(std::move(call)); }
void UpstreamLink::ask(Key key, const std::string& /*method*/, const Json& /*params*/) { upstream_there->ping(key); }
void UpstreamLink::cancel(Key key) { upstream_there->cancel(key); }
bool UpstreamLink::is_behind() { return false; }
void UpstreamLink::respond(Key question, client::Outcome outcome) {
  upstream_there->respond(question, std::move(outcome));
}
void UpstreamLink::stop() { upstream_there->stopped(); }
void UpstreamLink::await_end(Clock::time_point /*deadline*/) {}

namespace simulation {
namespace {

constexpr std::uint32_t kMostAsked = 2;       // in a call
constexpr std::chrono::minutes kPatience{2};  // with a client that was asked and has no session

// Of the one whose call it is.
std::string client_of(const std::string& call) { return call.substr(0, call.rfind('.')); }

}  // namespace

SimUpstream::SimUpstream(World& world) : world_(world) { upstream_there = this; }

SimUpstream::~SimUpstream() { upstream_there = nullptr; }

void SimUpstream::started(const UpstreamLink::Events& events) {
  events_ = &events;
  plan();
}

void SimUpstream::stopped() {
  events_ = nullptr;
  there_.clear();
  here_.clear();
  calls_.clear();
  questions_.clear();
}

// It connects at once; whether it is lost is looked at when something happens there.
void SimUpstream::plan() {
  world_.may_happen("the upstream is connected", [this] { connect(); });
}

void SimUpstream::connect() {
  if (events_ == nullptr) return;
  if (!there_.empty() || !here_.empty()) return plan();  // what has been said before is heard, and not passed on
  is_connected_ = true;
  has_handshake_ = !world_.choices().happens(3);
  const std::vector<Json> tools{Json{{"name", kSays}, {"inputSchema", {{"type", "object"}}}}};
  comes_here([tools](const UpstreamLink::Events& events) { events.on_tools(tools); });
  offer_there();
}

void SimUpstream::lose() {
  World::saw("an upstream was lost");
  is_connected_ = false;
  ++losses_;
  calls_.clear();
  questions_.clear();
  first_question_ = next_question_;
  comes_here([](const UpstreamLink::Events& events) { events.on_lost("the connection was lost"); });
  plan();
}

void SimUpstream::goes_there(std::function<void()> action) {
  there_.push_back(std::move(action));
  offer_there();
}

void SimUpstream::offer_there() {
  if (there_.empty() || std::exchange(there_offered_, true)) return;
  world_.may_happen("the upstream is told something", [this] {
    there_offered_ = false;
    if (there_.empty()) return;
    const auto action = std::move(there_.front());
    there_.pop_front();
    action();
    offer_there();
  });
}

void SimUpstream::comes_here(std::function<void(const UpstreamLink::Events& events)> news) {
  if (events_ == nullptr) return;
  here_.push_back(std::move(news));
  offer_here();
}

void SimUpstream::offer_here() {
  if (here_.empty() || std::exchange(here_offered_, true)) return;
  world_.may_happen("something comes from the upstream", [this] {
    here_offered_ = false;
    if (here_.empty() || events_ == nullptr) return;
    const auto news = std::move(here_.front());
    here_.pop_front();
    news(*events_);
    offer_here();
  });
}

void SimUpstream::call(UpstreamLink::Call call) {
  known_[call.key] = {call.arguments.at("name"), Clock::now()};
  goes_there([this, call = std::move(call)] {
    if (!is_connected_) return refuse(call.key);
    Call made;
    made.name = call.arguments.at("name");
    made.tokens = call.arguments.at("tokens");
    made.tells_progress = call.progress.has_value();
    take_answers(made, call.more);
    calls_[call.key] = std::move(made);
    offer(call.key);
  });
}

void SimUpstream::refuse(Key key) {
  end(key, client::RemoteError{client::kInternalError, "it is away", nullptr, true});
}

void SimUpstream::ping(Key key) {
  goes_there([this, key] { is_connected_ ? end(key, Json::object()) : refuse(key); });
}

void SimUpstream::cancel(Key key) {
  // A call that has ended is cancelled as well, to have its id free.
  if (const auto call = known_.find(key); call != known_.end() && ending_ != key) {
    const auto& [name, since] = call->second;
    const auto& asked = asked_[client_of(name)];
    const auto first = std::ranges::lower_bound(asked, since);  // that may have been about this call
    if (first != asked.end() && Clock::now() - *first >= kPatience) given_up_.insert(name);
  }
  goes_there([this, key] { calls_.erase(key); });
}

// What it asks does not say which call it is about.
void SimUpstream::ask(Key key) {
  Call& call = calls_.at(key);
  const Key question = next_question_++;
  const std::string about = call.name + "/" + std::to_string(++call.asked);
  questions_[question] = {key, about};
  const char* const method = world_.choices().happens(2) ? "sampling/createMessage" : "elicitation/create";
  comes_here([this, question, method, about](const UpstreamLink::Events& events) {
    asked_[client_of(about)].push_back(Clock::now());
    events.on_question(question, method, {{"about", about}});
  });
}

// The call ends, and its client calls again with the answers and with what is wanted back.
void SimUpstream::ask_by_the_end_of(Key key) {
  const Call& call = calls_.at(key);
  Json requests = Json::object();
  const std::uint32_t asked = call.asked + 1 + world_.choices().choose(kMostAsked - call.asked);
  for (std::uint32_t each = call.asked + 1; each <= asked; ++each) {
    const std::string about = call.name + "/" + std::to_string(each);
    asked_by_the_end_.insert(about);
    requests["question " + std::to_string(each)] = {{"method", "elicitation/create"}, {"params", {{"about", about}}}};
  }
  end(key, Json{{"resultType", "input_required"},
                {"inputRequests", std::move(requests)},
                {"requestState", {{"given", call.given}, {"asked", asked}, {"answered", call.asked}}}});
}

void SimUpstream::take_answers(Call& call, const Json& more) {
  if (!more.contains("requestState")) {
    if (more.contains("inputResponses")) throw Violation{"another server does not get back what it has told"};
    return;
  }
  const Json& told = more["requestState"];
  const Json answers = more.value("inputResponses", Json::object());
  call.given = told["given"];
  call.asked = told["asked"];
  for (std::uint32_t each = told["answered"].get<std::uint32_t>() + 1; each <= call.asked; ++each) {
    const std::string about = call.name + "/" + std::to_string(each);
    if (asked_by_the_end_.erase(about) == 0) throw Violation{"another server is answered twice about " + about};
    if (answers.value("question " + std::to_string(each), Json::object()).value("said", "") != about + "!")
      throw Violation{"another server asked about " + about + ", and is answered " + more.dump()};
  }
  World::saw("another server without a handshake was answered");
}

bool SimUpstream::may_wait_for(const std::string& client) const {
  const auto asked = asked_.find(client);
  return asked != asked_.end() && !asked->second.empty() && Clock::now() - asked->second.back() <= kPatience;
}

void SimUpstream::respond(Key question, client::Outcome outcome) {
  goes_there([this, question, outcome = std::move(outcome)] {
    if (question < first_question_) return;  // of a connection that was lost
    const auto found = questions_.find(question);
    if (found == questions_.end()) throw Violation{"another server's question is answered twice"};
    const Question asked = std::move(found->second);
    questions_.erase(found);
    const auto* const answer = std::get_if<Json>(&outcome);
    World::saw(answer != nullptr ? "another server was answered" : "another server was refused an answer");
    if (answer != nullptr && answer->value("said", "") != asked.about + "!")
      throw Violation{"another server asked about " + asked.about + ", and is answered " + answer->dump()};
    offer(asked.call);
  });
}

void SimUpstream::offer(Key key) {
  const auto found = calls_.find(key);
  if (found == calls_.end() || std::exchange(found->second.is_offered, true)) return;
  world_.may_happen("the upstream goes on with " + found->second.name, [this, key] {
    const auto call = calls_.find(key);
    if (call == calls_.end()) return;
    call->second.is_offered = false;
    work(key);
  });
}

void SimUpstream::work(Key key) {
  if (world_.choices().happens(60)) return lose();
  if (!behaves_ && world_.choices().happens(12)) return World::saw("an upstream hung in a call");
  Call& call = calls_.at(key);
  if (!behaves_ && call.asked < kMostAsked && world_.choices().happens(4)) {
    if (!has_handshake_) return ask_by_the_end_of(key);
    ask(key);
    // It waits for the answer, or does not.
    if (!world_.choices().happens(4)) return;
  }
  if (call.given < call.tokens) {
    const std::string token = SimBackend::token(call.name, call.given++);
    if (call.tells_progress) {
      const Json progress{{"progress", call.given}, {"message", token}};
      comes_here([key, progress](const UpstreamLink::Events& events) { events.on_progress(key, progress); });
    }
    return offer(key);
  }
  const std::string text = SimBackend::text(call.name, call.tokens);
  end(key, Json{{"content", Json::array({Json{{"type", "text"}, {"text", text}}})},
                {"structuredContent", {{"text", text}}}});
}

void SimUpstream::behave() {
  behaves_ = true;
  if (has_fault("another server does not hear that a call is cancelled")) return;  // and hangs, or it would not show
  for (const auto& [key, call] : calls_) offer(key);
}

void SimUpstream::end(Key key, client::Outcome outcome) {
  calls_.erase(key);
  comes_here([this, key, outcome = std::move(outcome)](const UpstreamLink::Events& events) {
    ending_ = key;
    events.on_end(key, outcome);
    ending_.reset();
  });
}

bool SimUpstream::is_making(std::string_view name) const {
  return std::ranges::any_of(calls_, [name](const auto& each) { return each.second.name == name; });
}

}  // namespace simulation
}  // namespace rkllm_mcp
