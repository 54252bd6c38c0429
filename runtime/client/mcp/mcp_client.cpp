#include "client/mcp/mcp_client.hpp"

#include "clock.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp::client {
namespace {

struct ListFacts {
  const char* capability;
  const char* method;
  const char* member;
};

ListFacts facts_of_list(McpClient::List list) {
  switch (list) {
    case McpClient::List::kTools: return {"tools", "tools/list", "tools"};
    case McpClient::List::kResources: return {"resources", "resources/list", "resources"};
    case McpClient::List::kResourceTemplates: return {"resources", "resources/templates/list", "resourceTemplates"};
    case McpClient::List::kPrompts: return {"prompts", "prompts/list", "prompts"};
  }
  throw ConnectionError("unknown list");
}

}  // namespace

McpClient::McpClient(std::unique_ptr<Connection> connection, Introduction introduction, Events events)
    : introduction_(std::move(introduction)),
      requests_(std::move(connection), std::move(events)),
      server_(shake_hands(requests_, introduction_)) {}

Json McpClient::dressed(Json params) const {
  return server_.has_handshake ? params : with_modern_meta(std::move(params), introduction_.client_info);
}

McpClient::Id McpClient::request(const std::string& method, Json params, Callbacks callbacks) {
  return requests_.request(method, dressed(std::move(params)), std::move(callbacks));
}

Json McpClient::call(const std::string& method, Json params, std::chrono::milliseconds patience) {
  auto outcome = requests_.call(method, dressed(std::move(params)), patience);
  if (!outcome) throw ConnectionError("the server has not answered " + method + " in time");
  if (auto* error = std::get_if<RemoteError>(&*outcome)) throw RemoteRefusal(std::move(*error));
  return std::get<Json>(std::move(*outcome));
}

std::vector<Json> McpClient::list(List list, std::size_t most, std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  const ListFacts facts = facts_of_list(list);
  std::vector<Json> all;
  if (!server_.capabilities.contains(facts.capability)) return all;
  Json params = Json::object();
  std::vector<Json> cursors;  // each page that has one brings something, so that there are no more than `most`
  while (all.size() < most) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    const Json result = call(facts.method, params, std::max(left, std::chrono::milliseconds(0)));
    const auto items = result.find(facts.member);
    if (items == result.end() || !items->is_array()) {
      throw ConnectionError(std::string("the server's answer to ") + facts.method + " has no " + facts.member);
    }
    const auto taken = std::min(items->size(), most - all.size());
    all.insert(all.end(), items->begin(), items->begin() + static_cast<std::ptrdiff_t>(taken));
    const auto next = result.find("nextCursor");
    if (next == result.end() || next->is_null()) return all;
    if (items->empty() || std::find(cursors.begin(), cursors.end(), *next) != cursors.end()) {
      throw ConnectionError(std::string("the server's answers to ") + facts.method + " do not end");
    }
    cursors.push_back(*next);
    params["cursor"] = *next;
  }
  return all;
}

}  // namespace rkllm_mcp::client
