#include "mcp/lists/subscriptions.hpp"

#include "faults.hpp"
#include "jsonrpc/envelope.hpp"
#include "mcp/protocol/agreed_names.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace rkllm_mcp::mcp {
namespace {

struct ListName {
  Listed list;
  std::string_view filter;  // in subscriptions/listen
  std::string_view notification;
};
constexpr std::array<ListName, 3> kListNames{
    ListName{Listed::kTools, "toolsListChanged", "notifications/tools/list_changed"},
    ListName{Listed::kResources, "resourcesListChanged", "notifications/resources/list_changed"},
    ListName{Listed::kPrompts, "promptsListChanged", "notifications/prompts/list_changed"}};

constexpr std::size_t kMostAddresses = 256;  // of one filter

bool flag_of(const Json& filter, std::string_view name) {
  const auto found = filter.find(name);
  if (found == filter.end()) return false;
  if (!found->is_boolean()) throw InvalidParams("params.notifications." + std::string(name), "expected true or false");
  return found->get<bool>();
}

std::set<std::string, std::less<>> texts_of(const Json& filter, std::string_view name) {
  std::set<std::string, std::less<>> texts;
  const auto found = filter.find(name);
  if (found == filter.end()) return texts;
  const std::string path = "params.notifications." + std::string(name);
  if (!found->is_array() || found->size() > kMostAddresses) {
    throw InvalidParams(path, "expected an array of at most " + std::to_string(kMostAddresses) + " strings");
  }
  for (const Json& text : *found) {
    if (!text.is_string()) throw InvalidParams(path, "expected strings");
    texts.insert(watchable(text.get<std::string>(), path));
  }
  return texts;
}

}  // namespace

std::string watchable(std::string address, std::string_view path) {
  constexpr std::size_t kLongest = 2048;
  if (address.size() <= kLongest) return address;
  throw InvalidParams(path, "longer than " + std::to_string(kLongest) + " bytes");
}

void Subscriptions::add(const Session& session) {
  handshakes_.remove_if([&session](const auto& each) { return each.expired() || each.lock() == session.handshake; });
  handshakes_.push_back(session.handshake);
  if (has_fault("the subscriptions of a session outlive it"))
    session.handshake->requests.add([kept = session.handshake](const Response& /*answer*/) {});
}

void Subscriptions::listen(const Json& params, const ClientContext& client, Session& session, Reply& reply) {
  if (ended_) throw RpcError(ErrorCode::kInternalError, "the server is ending");
  if (!reply.peer().facts().takes_messages) {
    throw RpcError(ErrorCode::kInvalidRequest, "invalid request: nothing can be told here; listen on another address");
  }
  const auto filter = params.find("notifications");
  if (filter == params.end() || !filter->is_object()) throw InvalidParams("params.notifications", "expected object");
  Listener listener{reply.shared_from_this(),
                    session.shared_from_this(),
                    0,
                    id_value(reply.id()),
                    {},
                    texts_of(*filter, "resourceSubscriptions"),
                    texts_of(*filter, "taskIds")};
  Json honoured = Json::object();
  for (const auto& name : kListNames) {
    if (!flag_of(*filter, name.filter)) continue;
    listener.lists.insert(name.list);
    honoured[std::string(name.filter)] = true;
  }
  if (!listener.resources.empty()) honoured["resourceSubscriptions"] = (*filter)["resourceSubscriptions"];
  if (!client.has_extension(kTasksExtension)) listener.tasks.clear();
  if (!listener.tasks.empty()) honoured["taskIds"] = (*filter)["taskIds"];

  tell(listener, "notifications/subscriptions/acknowledged", Json{{"notifications", std::move(honoured)}});
  if (has_fault("what listens ends at once")) return reply.nothing();
  const auto place = listeners_.insert(listeners_.end(), std::move(listener));
  place->key = session.add({.id = reply.id(),
                            .reply = reply.shared_from_this(),
                            .answers_when_cancelled = false,
                            .on_cancelled =
                                [this, place, weak = session.weak_from_this()] {
                                  if (has_fault("who listens is kept when it has gone")) return;
                                  const auto ended = std::move(*place);
                                  listeners_.erase(place);
                                  ended.reply->nothing();
                                  if (const auto alive = weak.lock()) alive->remove(ended.key);
                                }},
                           reply.peer());
}

void Subscriptions::tell(const Listener& listener, std::string_view method, Json params) {
  params["_meta"] = Json{{kMetaSubscription, listener.id}};
  listener.reply->message(notification_message(method, params));
}

template <class Wanted>
void Subscriptions::tell_handshakes(std::string_view message, Wanted wants) {
  for (const auto& weak : handshakes_) {
    const auto handshake = weak.lock();
    if (handshake && wants(*handshake)) handshake->tell(message);
  }
}

void Subscriptions::list_changed(Listed list) {
  const auto method = kListNames.at(static_cast<std::size_t>(list)).notification;
  tell_handshakes(notification_message(method), [](const Handshake&) { return true; });
  for (const auto& listener : listeners_) {
    if (listener.lists.contains(list)) tell(listener, method, Json::object());
  }
}

void Subscriptions::resource_updated(const std::string& uri, const MayHear& may_hear) {
  const auto hears = [&may_hear](const Principal* principal) {
    return !may_hear || (principal != nullptr && may_hear(*principal));
  };
  constexpr std::string_view kMethod = "notifications/resources/updated";
  const Json params{{"uri", uri}};
  tell_handshakes(notification_message(kMethod, params), [&](const Handshake& each) {
    const bool is_wanted =
        each.resources.contains(uri) || has_fault("who has not subscribed to a document is told of it");
    if (has_fault("who has subscribed to a document is not told of it")) return false;
    return is_wanted && hears(each.principal);
  });
  for (const auto& listener : listeners_) {
    if (listener.resources.contains(uri) && hears(listener.session->principal)) tell(listener, kMethod, params);
  }
}

bool Subscriptions::is_watched(std::string_view beginning) const {
  const auto has_one = [beginning](const auto& resources) {
    const auto first = resources.lower_bound(beginning);
    return first != resources.end() && first->starts_with(beginning);
  };
  const auto watches = [&has_one](const std::weak_ptr<Handshake>& weak) {
    const auto handshake = weak.lock();
    if (!handshake || !has_one(handshake->resources)) return false;
    return handshake->is_there() || has_fault("who has gone goes on watching documents") ||
           has_fault("the subscriptions of a session outlive it");
  };
  return std::any_of(handshakes_.begin(), handshakes_.end(), watches) ||
         std::any_of(listeners_.begin(), listeners_.end(),
                     [&has_one](const Listener& listener) { return has_one(listener.resources); });
}

void Subscriptions::task_changed(const Principal* owner, const std::string& task, const Json& state) {
  for (const auto& listener : listeners_) {
    if (listener.session->principal == owner && listener.tasks.contains(task))
      tell(listener, "notifications/tasks", state);
  }
}

void Subscriptions::log(Severity level, std::string_view logger, const Json& data) {
  tell_handshakes(
      notification_message("notifications/message",
                           Json{{"level", name_of(level)}, {"logger", logger}, {"data", data}}),
      [level](const Handshake& each) { return each.log_level && level >= *each.log_level && each.takes_more(); });
}

Json Subscriptions::ending_of(const Listener& listener) const {
  return Json{{"resultType", "complete"}, {"_meta", {{kMetaSubscription, listener.id}, {kMetaServer, server_}}}};
}

Subscriptions::~Subscriptions() {
  for (const auto& listener : std::exchange(listeners_, {})) listener.session->remove(listener.key);
}

void Subscriptions::end() {
  ended_ = true;
  for (const auto& listener : std::exchange(listeners_, {})) {
    const Session::Hold not_idle(*listener.session);  // until the answer has been sent: the connection may close then
    listener.session->remove(listener.key);
    listener.reply->result(ending_of(listener));
  }
}

}  // namespace rkllm_mcp::mcp
