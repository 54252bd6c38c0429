// What a client with a session hears beside its requests: the session's standing stream, and subscriptions. Over its
// connection's end it comes back for what it has missed.
#pragma once

#include "news.hpp"
#include "simulation/clients/http_talk.hpp"
#include "simulation/server/sim_server.hpp"
#include "simulation/world/world.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp::simulation {

class McpNews : public std::enable_shared_from_this<McpNews> {
 public:
  struct Session {
    // A request of the session's, on a connection of its own.
    std::function<std::shared_ptr<HttpTalk>(std::string_view method, std::string_view body, HttpTalk::Fields fields,
                                            HttpTalk::Hearer hearer)>
        ask;
    std::function<void(std::shared_ptr<HttpTalk> talk)> close;
    std::function<bool()> is_ending;
    std::function<void()> heard;  // called for everything that is heard
  };
  McpNews(World& world, SimServer& server, std::string name, Session session);

  void start();
  // From now on the session may hear of lists that change; or it must hear of them.
  void may_hear() { lists_ = News::Due::kPerhaps; }
  void hears() { lists_ = News::Due::kCertainly; }

  void act();
  void set_reading(bool reading);
  // A connection has been closed, by whomever.
  void closed(const std::shared_ptr<HttpTalk>& talk);
  // Listens if news are still owed. False if none are: then it has stopped listening.
  bool settle();
  std::string owed() const { return is_owed() ? " news" : ""; }
  // To be called after the session's end: whether its own document is still watched for it.
  bool is_watched_for_nobody() const { return server_.is_watched(own_document()); }

 private:
  void listen();
  void cut();
  void subscribe(const std::string& document);
  void unsubscribe(const std::string& document);
  void tell_server(const std::string& method, const std::string& document, News::Due then);
  void take(const HttpTalk::Event& event);
  void published(const std::string& what);
  bool is_owed() const { return news_.are_owed() && !session_.is_ending(); }
  std::string own_document() const { return "news://" + name_; }

  World& world_;
  SimServer& server_;
  const std::string name_;
  const Session session_;
  News news_;
  News::Due lists_ = News::Due::kNever;
  std::map<std::string, News::Due> documents_;
  std::map<std::string, bool> asking_;  // by document: whether a request to subscribe or unsubscribe has no answer yet
  std::shared_ptr<HttpTalk> standing_;
  std::string last_event_;
  bool was_cut_ = false;
  int next_id_ = 1000;  // of requests
};

}  // namespace rkllm_mcp::simulation
