// The clients that are to be told when something changes: those of the handshake era by their session, those of the
// stateless era by a `subscriptions/listen` request that stays open.
//
// Event loop only.
#pragma once

#include "call/session.hpp"
#include "jsonrpc/reply.hpp"
#include "mcp/protocol/era.hpp"
#include "mcp/protocol/handshake.hpp"

#include <rkllm_mcp/json.hpp>

#include <functional>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace rkllm_mcp {

struct Principal;

}  // namespace rkllm_mcp

namespace rkllm_mcp::mcp {

// Lists that may change while clients watch.
enum class Listed { kTools, kResources, kPrompts };

// The address of a resource that a client wants to hear of; throws InvalidParams(path) if it is too long to be kept.
std::string watchable(std::string address, std::string_view path);

class Subscriptions {
 public:
  // `server` is {"name","version"}.
  explicit Subscriptions(Json server) : server_(std::move(server)) {}
  Subscriptions(const Subscriptions&) = delete;
  Subscriptions& operator=(const Subscriptions&) = delete;
  ~Subscriptions();

  // From now on a session whose handshake is done is told when a list changes, or a resource of Handshake::resources.
  void add(const Session& session);
  // subscriptions/listen: acknowledges at once; answered only by end(), not when it is cancelled. Throws RpcError.
  void listen(const Json& params, const ClientContext& client, Session& session, Reply& reply);

  void list_changed(Listed list);
  // Tells the clients that watch the resource, if `may_hear` is true of the holders of their tokens. Null: all of them.
  using MayHear = std::function<bool(const Principal& principal)>;
  void resource_updated(const std::string& uri, const MayHear& may_hear = {});
  // Whether anybody wants to hear of a resource whose address begins so.
  bool is_watched(std::string_view beginning) const;
  void task_changed(const Principal* owner, const std::string& task, const Json& state);  // to listeners of `owner`
  // To sessions that want messages of that level, and have read what was sent before. (In the stateless era messages
  // belong to requests.)
  void log(Severity level, std::string_view logger, const Json& data);
  // The server stops: whoever listens gets an answer.
  void end();

 private:
  struct Listener {
    std::shared_ptr<Reply> reply;
    std::shared_ptr<Session> session;
    Session::Key key = 0;
    Json id;
    std::set<Listed> lists;
    std::set<std::string, std::less<>> resources;
    std::set<std::string, std::less<>> tasks;
  };
  template <class Wanted>
  void tell_handshakes(std::string_view message, Wanted wants);
  static void tell(const Listener& listener, std::string_view method, Json params);
  Json ending_of(const Listener& listener) const;

  const Json server_;
  std::list<std::weak_ptr<Handshake>> handshakes_;
  std::list<Listener> listeners_;
  bool ended_ = false;
};

}  // namespace rkllm_mcp::mcp
