#include "mcp_client.hpp"

#include <rkllm_mcp/json.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace rkllm_mcp::simulation {
namespace {

constexpr int kMostCalls = 4;  // whose events a server keeps all
constexpr int kStepsToStop = 60;
constexpr const char* kRevisions[] = {"2025-11-25", "2025-06-18"};

}  // namespace

McpClient::McpClient(World& world, SimServer& server, std::string name)
    : world_(world), server_(server), name_(std::move(name)) {}

void McpClient::start() {
  revision_ = kRevisions[world_.choices().choose(2)];
  news_ = std::make_shared<McpNews>(
      world_, server_, name_,
      McpNews::Session{
          [this](std::string_view method, std::string_view body, HttpTalk::Fields fields, HttpTalk::Hearer hearer) {
            return ask(method, body, std::move(fields), std::move(hearer));
          },
          [this](std::shared_ptr<HttpTalk> talk) { close(std::move(talk)); },
          [this] { return ends_session_ || is_over_; }, [this] { go_on_settling(); }});
  news_->start();
  plan();
}

void McpClient::plan() {
  world_.may_happen(name_ + " acts", [self = shared_from_this()] { self->act(); });
}

void McpClient::act() {
  if (settled_ || ends_session_) return;
  if (session_.empty()) {
    if (!is_opening_) open();
    return plan();
  }
  switch (world_.choices().choose(20)) {
    case 0:
    case 1:
    case 2:
    case 11: call_something(); break;
    case 3: cancel(); break;
    case 4: cut(); break;
    case 5:
    case 6: come_back(); break;
    case 7:
      for (const auto& [key, talk] : talks_) talk->connection().set_reading(false);
      break;
    case 8:
    case 9:
      for (const auto& [key, talk] : talks_) talk->connection().set_reading(true);
      break;
    case 10:
      if (world_.choices().happens(3)) end_session();
      break;
    case 12:
    case 13: respond(); break;
    case 14: ping(); break;
    case 15:
    case 16:
    case 17: news_->act(); break;
    default: break;  // it waits
  }
  plan();
}

std::shared_ptr<HttpTalk> McpClient::ask(std::string_view method, std::string_view body, HttpTalk::Fields fields,
                                         HttpTalk::Hearer hearer) {
  // All of one host.
  const auto connection = server_.connect_http(name_ + ":" + std::to_string(++connections_));

  const auto talk = HttpTalk::start(connection, [this, number = connections_] {
    // A connection that the server closes although it owes something on it breaks off what it carries.
    if (const auto found = talks_.find(number); found != talks_.end() && found->second->waiting() > 0) {
      if (!found->second->connection().was_left_unread(SimServer::kStall / 4))
        complain("the server has closed instead of answering");
      close(found->second);
      if (session_.empty()) is_opening_ = false;
      if (ends_session_) is_over_ = true;
      go_on_settling();
    }
  });
  talks_[connections_] = talk;
  fields["Content-Type"] = "application/json";
  fields.emplace("Accept", "application/json, text/event-stream");
  if (!session_.empty()) {
    fields["Mcp-Session-Id"] = session_;
    fields["MCP-Protocol-Version"] = revision_;
  }
  const auto answered = std::move(hearer.answered);
  hearer.answered = [this, answered, weak = std::weak_ptr(talk)](const HttpTalk::Answer& answer) {
    answered(answer);
    if (const auto alive = weak.lock()) close(alive);
    go_on_settling();
  };
  talk->ask(method, "/mcp", fields, body, std::move(hearer));
  return talk;
}

void McpClient::close(std::shared_ptr<HttpTalk> talk) {
  if (std::erase_if(talks_, [&](const auto& each) { return each.second == talk; }) == 0) return;
  news_->closed(talk);
  for (auto& [id, call] : calls_) {
    const auto lost = std::ranges::find(call.given, talk, &Given::talk);
    if (lost != call.given.end()) {
      call.tool.questions().push_back(lost->question);
      call.given.erase(lost);
    }
    if (call.talk != talk) continue;
    call.talk = nullptr;
    if (!call.tool.has_ended() && call.last_event.empty()) call.is_lost = true;
  }
  talk->connection().close();
}

void McpClient::open() {
  is_opening_ = true;
  ask("POST",
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" + revision_ +
          R"(","capabilities":{"roots":{},"sampling":{},"elicitation":{}},"clientInfo":{"name":"simulated","version":"1"}}})",
      {}, {[this](const HttpTalk::Answer& answer) {
        const auto id = answer.fields.find("mcp-session-id");
        if (answer.status != 200 || id == answer.fields.end()) complain("no session is opened: " + answer.body);
        session_ = id->second;
        is_opening_ = false;
        news_->may_hear();
        ask("POST", R"({"jsonrpc":"2.0","method":"notifications/initialized"})", {},
            {[this](const HttpTalk::Answer& taken) {
              if (taken.status != 202 && !ends_session_) complain("a notification is answered: " + taken.body);
              news_->hears();
            }});
      }});
}

void McpClient::call_something() {
  const int id = static_cast<int>(calls_.size()) + 1;
  if (id > kMostCalls) return;
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

void McpClient::call(ToolCall tool) {
  const int id = tool.id();
  Call& call = calls_.emplace(id, Call{std::move(tool)}).first->second;
  const Json body{{"jsonrpc", "2.0"},
                  {"id", id},
                  {"method", "tools/call"},
                  {"params", call.tool.params_with_progress(SimBackend::kHandles[world_.choices().choose(2)])}};
  call.talk = ask("POST", body.dump(), {}, hearer_of(id));
}

HttpTalk::Hearer McpClient::hearer_of(int id) {
  return {[this, id](const HttpTalk::Answer& answer) { answered(id, answer); },
          [this, id](const HttpTalk::Event& event) {
            Call& call = calls_.at(id);
            if (!event.id.empty()) call.last_event = event.id;
            if (event.data.empty()) return;
            call.tool.take(event.data);
            go_on_settling();  // perhaps it is asked something
          }};
}

void McpClient::answered(int id, const HttpTalk::Answer& answer) {
  Call& call = calls_.at(id);
  const bool may_end_without = call.is_cancelled || ends_session_;
  if (!answer.streamed && answer.status == 200) return call.tool.take(answer.body);
  if (call.tool.has_ended() || may_end_without) return;
  // Of two connections that come back for the same events the later one gets them, and that need not be the newer one.
  if (answer.streamed && !call.last_event.empty()) return;
  complain("request " + std::to_string(id) + " ends without an answer: " + std::to_string(answer.status) + " " +
           answer.body);
}

void McpClient::respond() {
  Call* const call = one_of([](const Call& each) { return !each.tool.questions().empty(); });
  if (call != nullptr) respond_to(*call, world_.choices().happens(4));
}

void McpClient::respond_to(Call& call, bool refuses) {
  auto& questions = call.tool.questions();
  const auto chosen = questions.begin() + world_.choices().choose(static_cast<std::uint32_t>(questions.size()));
  const ToolCall::Question question = *chosen;
  Json body{{"jsonrpc", "2.0"}, {"id", question.id}};
  if (refuses) {
    body["error"] = {{"code", -1}, {"message", "not today"}};
    call.tool.refused();
  } else {
    body["result"] = AskingTool::answer_to(question.params);
  }
  // One that comes twice counts once.
  const bool is_repeated = world_.choices().happens(6);
  if (!is_repeated) questions.erase(chosen);
  const auto talk = ask("POST", body.dump(), {}, {[this, &call, id = question.id](const HttpTalk::Answer& answer) {
                          if (answer.status != 202 && !ends_session_) complain("an answer is answered: " + answer.body);
                          std::erase_if(call.given, [&id](const Given& each) { return each.question.id == id; });
                        }});
  if (!is_repeated) call.given.push_back({talk, question});
}

void McpClient::ping() {
  ask("POST", R"({"jsonrpc":"2.0","id":"ping","method":"ping"})", {}, {[this](const HttpTalk::Answer& answer) {
        if (ends_session_) return;
        const Json reply = Json::parse(answer.body, nullptr, false);
        if (reply.is_discarded() || reply.value("result", Json()) != Json::object() || reply.value("id", "") != "ping")
          complain("a ping is answered with " + answer.body);
        World::saw("a client of MCP pinged");
      }});
}

McpClient::Call* McpClient::one_of(bool (*is_wanted)(const Call&)) {
  std::vector<Call*> found;
  for (auto& [id, call] : calls_) {
    if (is_wanted(call)) found.push_back(&call);
  }
  if (found.empty()) return nullptr;
  return found[world_.choices().choose(static_cast<std::uint32_t>(found.size()))];
}

void McpClient::cancel() {
  Call* const call = one_of([](const Call& each) { return !each.tool.has_ended() && !each.is_cancelled; });
  if (call == nullptr) return;
  world_.saw("a tool's call was cancelled");
  call->is_cancelled = true;
  // What cancels may overtake what it is about, and means nothing then.
  const bool is_known = !call->last_event.empty();
  const Json body{
      {"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", call->tool.id()}}}};
  ask("POST", body.dump(), {}, {[this, call, is_known](const HttpTalk::Answer& answer) {
        if (answer.status != 202 && !ends_session_) complain("cancelling is answered: " + answer.body);
        if (is_known) call->steps_since_cancelled = 0;
      }});
}

void McpClient::cut() {
  Call* const call = one_of([](const Call& each) { return each.talk != nullptr; });
  if (call == nullptr) return;
  world_.saw("a connection was lost in a tool's call");
  close(call->talk);
}

void McpClient::come_back() {
  Call* const call = one_of([](const Call& each) {
    return !each.talk && !each.last_event.empty() && !each.tool.has_ended() && !each.is_cancelled;
  });
  if (call != nullptr) come_back_for(*call);
}

void McpClient::come_back_for(Call& call) {
  world_.saw("a client came back for what it had missed");
  HttpTalk::Hearer hearer = hearer_of(call.tool.id());
  hearer.answered = [this, &call](const HttpTalk::Answer& answer) {
    if (answer.status != 200 && !ends_session_ && !call.is_cancelled) {
      complain("it comes back for " + call.last_event + ": " + std::to_string(answer.status) + " " + answer.body);
    }
    answered(call.tool.id(), answer);
  };
  call.talk = ask("GET", {}, {{"Last-Event-ID", call.last_event}, {"Accept", "text/event-stream"}}, std::move(hearer));
}

void McpClient::end_session() {
  if (std::exchange(ends_session_, true)) return;
  world_.saw("a session was ended");
  ask("DELETE", {}, {}, {[this](const HttpTalk::Answer& answer) {
        if (answer.status != 204) complain("ending the session is answered with " + std::to_string(answer.status));
        steps_since_end_ = 0;
        is_over_ = true;
      }});
}

void McpClient::check() {
  if (steps_since_end_ >= 0 && ++steps_since_end_ > kStepsToStop) {
    const bool goes_on =
        std::ranges::any_of(calls_, [this](const auto& each) { return server_.is_making(each.second.tool.name()); });
    if (goes_on || server_.backend().calls_of_host(name_) > 0)
      throw Violation{"calls of the session that " + name_ + " has ended go on"};
    if (news_->is_watched_for_nobody())
      throw Violation{"subscriptions of the session that " + name_ + " has ended go on"};
  }
  for (auto& [id, call] : calls_) {
    if (call.steps_since_cancelled < 0 || ++call.steps_since_cancelled <= kStepsToStop) continue;
    if (server_.is_making(call.tool.name())) throw Violation{call.tool.name() + ", which was cancelled, goes on"};
  }
}

void McpClient::settle() {
  settled_ = true;
  for (const auto& [key, talk] : talks_) talk->connection().set_reading(true);
  go_on_settling();
}

// First it gets what it is owed, then it ends its session, or leaves it.
void McpClient::go_on_settling() {
  if (!settled_ || ends_session_ || is_over_) return;
  if (session_.empty()) {
    is_over_ = !is_opening_;
    return;
  }
  bool is_owed_any = false;
  for (auto& [id, call] : calls_) {
    // Perhaps it has not been cancelled, as that came before it.
    if (call.is_cancelled && call.talk && !call.tool.questions().empty()) close(call.talk);
    if (!is_owed(call)) continue;
    auto& questions = call.tool.questions();
    if (!questions.empty() && world_.choices().happens(3)) {
      world_.saw("a client never answered what a tool asked for");
      call.is_lost = true;
      if (call.talk) close(call.talk);
      continue;
    }
    is_owed_any = true;
    if (!call.talk) come_back_for(call);
    if (!questions.empty()) respond_to(call, false);  // nothing comes of the stream before that
  }
  if (news_->settle() || is_owed_any || !talks_.empty()) return;
  if (world_.choices().happens(2)) return end_session();
  is_over_ = true;
}

std::string McpClient::owed() const {
  std::string text = name_ + ":";
  for (const auto& [id, call] : calls_) {
    if (is_owed(call)) text += " " + std::to_string(id);
  }
  text += news_->owed();
  return text + " (" + std::to_string(talks_.size()) + " answers)";
}

void McpClient::complain(const std::string& what, Place place) const { throw Violation{name_ + ": " + what, place}; }

}  // namespace rkllm_mcp::simulation
