#include "stateless_client.hpp"

#include "stateless_request.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

constexpr std::size_t kMostStatelessCalls = 4;
constexpr std::size_t kMostListening = 2;

}  // namespace

StatelessClient::StatelessClient(World& world, SimServer& server, std::string name)
    : world_(world), server_(server), name_(std::move(name)) {}

void StatelessClient::start() {
  server_.when_published(weak_from_this(), [this](const std::string& what) { published(what); });
  plan();
}

void StatelessClient::plan() {
  world_.may_happen(name_ + " acts", [self = shared_from_this()] { self->act(); });
}

void StatelessClient::act() {
  if (settled_) return;
  switch (world_.choices().choose(12)) {
    case 0:
    case 1:
    case 2:
    case 6: call_something(); break;
    case 3: leave(); break;
    case 4: set_reading(false); break;
    case 5: set_reading(true); break;
    case 7:
      for (Call& call : calls_) {
        if (call.waits) return call_again(call), plan();
      }
      break;
    case 8: listen(); break;
    case 9: stop_listening(); break;
    default: break;  // it waits
  }
  plan();
}

std::shared_ptr<HttpTalk> StatelessClient::connect(Departure& departure, const std::string& what) {
  const auto carries = std::make_shared<std::weak_ptr<HttpTalk>>();
  auto talk = HttpTalk::start(server_.connect_http(name_ + ":" + std::to_string(++connections_)),
                              [this, &departure, what, carries] {
                                const auto alive = carries->lock();
                                if (departure.has_left() || !alive || alive->waiting() == 0) return;
                                if (!alive->connection().was_left_unread(SimServer::kStall / 4)) {
                                  complain("the server has closed instead of answering " + what);
                                }
                                departure.leave();
                              });
  *carries = talk;
  return talk;
}

void StatelessClient::call_something() {
  if (calls_.size() == kMostStatelessCalls) return;
  const int id = static_cast<int>(calls_.size()) + 1;
  const std::string name = name_ + "." + std::to_string(id);
  Choices& choices = world_.choices();
  switch (choices.choose(5)) {
    case 3: {
      const std::uint32_t wanted = 1 + choices.choose(AskingTool::kMostWanted);
      return call(ToolCall(id, AskingTool::Wish{name, wanted, 1 + choices.choose(AskingTool::kMostRounds)}));
    }
    case 4: {
      const std::size_t tokens = choices.choose(SimBackend::kTokens);
      return call(ToolCall(id, name, tokens, server_.upstream_excuses(name), ToolCall::Where::kFar));
    }
    default: return call(ToolCall(id, name, choices.choose(SimBackend::kTokens), server_.excuse()));
  }
}

void StatelessClient::call(ToolCall tool) {
  Call& call = calls_.emplace_back(Call{std::move(tool)});
  call.params = call.tool.params_with_progress(SimBackend::kHandles[world_.choices().choose(2)]);
  make(call, call.params);
}

void StatelessClient::make(Call& call, Json params) {
  call.departure = {};
  call.talk = connect(call.departure, call.tool.name());
  ask_without_session(*call.talk, call.tool.id(), "tools/call", std::move(params), answering_capabilities(),
                      {[this, &call](const HttpTalk::Answer& answer) { answered(call, answer); },
                       [this, &call](const HttpTalk::Event& event) { take(call, event.data); }});
}

void StatelessClient::take(Call& call, const std::string& text) {
  const Json message = Json::parse(text, nullptr, false);
  const auto result = message.find("result");
  if (result == message.end() || result->value("resultType", "") != "input_required") return call.tool.take(text);
  for (const auto& [key, request] : result->at("inputRequests").items()) {
    call.tool.take_question(key, request.at("params"), text);
  }
  call.state = result->at("requestState");
}

void StatelessClient::answered(Call& call, const HttpTalk::Answer& answer) {
  if (!answer.streamed) take(call, answer.body);
  call.waits = !call.state.is_null();
  if (!call.tool.has_ended() && !call.waits) complain(call.tool.name() + " ends without an answer");
  call.talk->connection().finish();
  if (call.waits) return;
  World::saw("a tool was called without a session");
  call.is_over = true;
}

void StatelessClient::call_again(Call& call) {
  World::saw("a tool was called again with what it had asked for");
  Json params = call.params;
  for (const ToolCall::Question& question : std::exchange(call.tool.questions(), {})) {
    params["inputResponses"][question.id.get<std::string>()] = AskingTool::answer_to(question.params);
  }
  params["requestState"] = std::exchange(call.state, nullptr);
  call.waits = false;
  make(call, std::move(params));
}

void StatelessClient::leave() {
  const auto found = std::find_if(calls_.begin(), calls_.end(), [](const Call& call) { return is_open(call); });
  if (found == calls_.end()) return;
  World::saw("a call without a session was left");
  // Another server that has asked waits for a while; who answers it too late is told so.
  const bool is_waited_for = std::exchange(found->waits, false) && found->tool.is_far();
  if (is_waited_for) {
    found->is_over = true;
    return;
  }
  found->departure.leave();
  found->talk->connection().close();
}

void StatelessClient::listen() {
  if (listening_.size() == kMostListening) return;
  Listening& listening = listening_.emplace_back();
  listening.document = "news://" + name_ + "/" + std::to_string(listening_.size());
  listening.talk = connect(listening.departure, "what listens");
  ask_without_session(
      *listening.talk, static_cast<int>(listening_.size()), "subscriptions/listen",
      {{"notifications",
        {{"toolsListChanged", true}, {"resourceSubscriptions", {SimServer::kDocuments[0], listening.document}}}}},
      Json::object(),
      {[this](const HttpTalk::Answer& answer) { complain("listening ends: " + answer.body); },
       [this, &listening](const HttpTalk::Event& event) { take_news(listening, event); }});
}

void StatelessClient::take_news(Listening& listening, const HttpTalk::Event& event) const {
  const Json message = Json::parse(event.data);
  const std::string method = message.at("method");
  const Json& params = message.at("params");
  const auto number =
      std::find_if(listening_.begin(), listening_.end(), [&](const auto& each) { return &each == &listening; }) -
      listening_.begin() + 1;
  if (params.at("_meta").at(mcp::kMetaSubscription) != Json(number)) complain("news are of another's: " + event.data);
  if (method == "notifications/subscriptions/acknowledged") {
    if (std::exchange(listening.is_confirmed, true)) complain("listening is acknowledged twice");
    return;
  }
  if (!listening.is_confirmed) complain("news come before listening is acknowledged: " + event.data);
  World::saw("a client without a session was told news");
  listening.news.heard(name_,
                       method == "notifications/resources/updated" ? params.at("uri").get<std::string>() : method);
}

void StatelessClient::published(const std::string& what) {
  for (Listening& each : listening_) {
    const bool is_wanted = what == SimServer::kLists[0] || what == SimServer::kDocuments[0];
    const auto due = each.is_confirmed && is_open(each) ? News::Due::kCertainly : News::Due::kPerhaps;
    each.news.published(what, is_wanted ? due : News::Due::kNever);
  }
}

void StatelessClient::stop_listening() {
  const auto found = std::find_if(listening_.begin(), listening_.end(), [](const auto& each) { return is_open(each); });
  if (found == listening_.end()) return;
  World::saw("a client stopped listening");
  found->departure.leave();
  found->talk->connection().close();
}

void StatelessClient::set_reading(bool reading) {
  for (Call& call : calls_) call.talk->connection().set_reading(reading);
  for (Listening& each : listening_) each.talk->connection().set_reading(reading);
}

void StatelessClient::check() {
  for (Call& call : calls_) {
    if (call.waits && server_.asking().open(call.tool.name()) > 0)
      throw Violation{call.tool.name() + ", which has asked, goes on"};
    // After that, a call that is waited for is cancelled.
    if (call.tool.is_far() && server_.upstream().may_wait_for(name_)) continue;
    const bool must_have_ended = call.departure.must_be_noticed(call.talk->connection());
    if (must_have_ended && server_.is_making(call.tool.name()))
      throw Violation{call.tool.name() + ", whose client has left it, goes on"};
  }
  for (Listening& each : listening_) {
    if (each.departure.must_be_noticed(each.talk->connection()) && server_.is_watched(each.document))
      throw Violation{"news for " + name_ + ", which listens no more, go on"};
  }
}

void StatelessClient::settle() {
  settled_ = true;
  set_reading(true);
  settle_listening();
}

// Who has heard all leaves; nothing else ends that.
void StatelessClient::settle_listening() {
  world_.may_happen(name_ + " settles", [self = shared_from_this()] {
    for (Call& call : self->calls_) {
      if (call.waits) self->call_again(call);
    }
    for (Listening& each : self->listening_) {
      if (!is_open(each) || each.news.are_owed()) continue;
      each.departure.leave();
      each.talk->connection().close();
    }
    if (!self->is_done()) self->settle_listening();
  });
}

bool StatelessClient::is_done() const {
  return std::none_of(calls_.begin(), calls_.end(), [](const auto& each) { return is_open(each); }) &&
         std::none_of(listening_.begin(), listening_.end(), [](const auto& each) { return is_open(each); });
}

std::string StatelessClient::owed() const {
  std::string text = name_ + ":";
  for (const Call& call : calls_) {
    if (is_open(call)) text += " " + call.tool.name();
  }
  for (const Listening& each : listening_) {
    if (is_open(each)) text += " news";
  }
  return text;
}

void StatelessClient::complain(const std::string& what, Place place) const {
  throw Violation{name_ + ": " + what, place};
}

}  // namespace rkllm_mcp::simulation
