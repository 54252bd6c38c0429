#include "mcp_news.hpp"

#include <rkllm_mcp/json.hpp>

#include <utility>

namespace rkllm_mcp::simulation {

McpNews::McpNews(World& world, SimServer& server, std::string name, Session session)
    : world_(world), server_(server), name_(std::move(name)), session_(std::move(session)) {}

void McpNews::start() {
  server_.when_published(weak_from_this(), [this](const std::string& what) { published(what); });
}

void McpNews::act() {
  switch (world_.choices().choose(6)) {
    case 0:
    case 1: listen(); break;
    case 2: cut(); break;
    case 3:
    case 4:
      subscribe(world_.choices().happens(4) ? own_document()
                                            : std::string(SimServer::kDocuments[world_.choices().choose(2)]));
      break;
    default: unsubscribe(std::string(SimServer::kDocuments[world_.choices().choose(2)])); break;
  }
}

void McpNews::published(const std::string& what) {
  News::Due due = lists_;
  if (what.rfind("news://", 0) == 0) due = documents_[what];
  // What goes to a broken connection that has brought nothing cannot be asked for again.
  const bool may_be_lost = session_.is_ending() || (was_cut_ && last_event_.empty());
  if (may_be_lost && due == News::Due::kCertainly) due = News::Due::kPerhaps;
  news_.published(what, due);
}

void McpNews::listen() {
  if (standing_) return;
  HttpTalk::Fields fields{{"Accept", "text/event-stream"}};
  if (!last_event_.empty()) {
    World::saw("a client came back for news that it had missed");
    fields["Last-Event-ID"] = last_event_;
  }
  constexpr int kConflict = 409;
  standing_ = session_.ask(
      "GET", {}, std::move(fields),
      {[this](const HttpTalk::Answer& answer) {
         standing_ = nullptr;
         // The server may not know yet that the one before is broken, or hear of that after this.
         if (session_.is_ending() || (was_cut_ && (answer.streamed || answer.status == kConflict))) return;
         throw Violation{name_ + ": its standing stream ends: " + std::to_string(answer.status) + " " + answer.body};
       },
       [this](const HttpTalk::Event& event) { take(event); }});
}

void McpNews::take(const HttpTalk::Event& event) {
  if (!event.id.empty()) last_event_ = event.id;
  if (event.data.empty()) return;
  const Json message = Json::parse(event.data);
  const std::string method = message.at("method");
  if (method != "notifications/resources/updated") {
    World::saw("a client was told that a list has changed");
    news_.heard(name_, method);
  } else {
    World::saw("a client was told that a document has changed");
    news_.heard(name_, message.at("params").at("uri"));
  }
  session_.heard();
}

void McpNews::closed(const std::shared_ptr<HttpTalk>& talk) {
  if (talk != standing_ || !talk) return;
  standing_ = nullptr;
  was_cut_ = true;
  if (last_event_.empty()) news_.perhaps_lost();
}

void McpNews::cut() {
  if (!standing_) return;
  World::saw("a connection was lost that brought news");
  session_.close(standing_);
}

void McpNews::subscribe(const std::string& document) {
  if (documents_[document] == News::Due::kNever) tell_server("resources/subscribe", document, News::Due::kCertainly);
}

void McpNews::unsubscribe(const std::string& document) {
  if (documents_[document] == News::Due::kCertainly) tell_server("resources/unsubscribe", document, News::Due::kNever);
}

void McpNews::tell_server(const std::string& method, const std::string& document, News::Due then) {
  if (std::exchange(asking_[document], true)) return;
  World::saw(then == News::Due::kNever ? "a client unsubscribed" : "a client subscribed");
  documents_[document] = News::Due::kPerhaps;  // until it is known; so it stays where the answer is lost
  const Json body{{"jsonrpc", "2.0"}, {"id", ++next_id_}, {"method", method}, {"params", {{"uri", document}}}};
  session_.ask("POST", body.dump(), {}, {[this, document, then](const HttpTalk::Answer& answer) {
                 const Json reply = Json::parse(answer.body, nullptr, false);
                 if (reply.is_discarded() || !reply.contains("result")) {
                   if (session_.is_ending()) return;
                   throw Violation{name_ + ": subscribing is answered with " + answer.body};
                 }
                 asking_[document] = false;
                 documents_[document] = then;
                 hears();
               }});
}

void McpNews::set_reading(bool reading) {
  if (standing_) standing_->connection().set_reading(reading);
}

bool McpNews::settle() {
  if (is_owed()) {
    listen();
    return true;
  }
  if (standing_) session_.close(standing_);
  return false;
}

}  // namespace rkllm_mcp::simulation
