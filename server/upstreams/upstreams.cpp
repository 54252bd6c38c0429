#include "upstreams/upstreams.hpp"

#include "client/endpoint.hpp"
#include "text/private_file.hpp"
#include "upstreams/upstream_tool.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::chrono::milliseconds kToEnd{300};  // for all of them

std::string first_line(const std::string& text) { return text.substr(0, text.find_first_of("\r\n")); }

client::Endpoint endpoint_of(const std::string& setting, const Json& upstream) {
  try {
    auto endpoint = client::parse_endpoint(upstream["url"].get<std::string>(), "/mcp");
    if (upstream.contains("token_file")) {
      endpoint.token = first_line(read_private_file(upstream["token_file"].get<std::string>()));
    }
    endpoint.ca_file = upstream.value("ca_file", "");
    return endpoint;
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error(setting + ".url: " + error.what());
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(setting + ".token_file: " + error.what());
  }
}

// What is done there is done in this server's name: not everybody's affair, unless the settings say so.
Permission permission_of(const std::string& setting, const Json& upstream) {
  const std::string word = upstream.value("permission", "admin");
  if (word == "admin") return Permission::kAdmin;
  if (word == "call") return Permission::kCall;
  throw std::runtime_error(setting + ".permission: expected \"admin\" or \"call\"");
}

}  // namespace

Upstreams::Upstreams(asio::io_context& loop, const Json& settings, spdlog::logger& log,
                     const std::function<void()>& changed) {
  for (const auto& [name, upstream] : settings.items()) {
    const std::string setting = "upstreams." + name;
    if (!is_tool_name(name)) throw std::runtime_error(setting + ": a name has letters, digits, _ and - only");
    const auto endpoint = endpoint_of(setting, upstream);
    const auto connect = [endpoint](client::Deadline deadline) { return client::connect_mcp(endpoint, deadline); };
    all_.push_back({std::make_shared<Upstream>(loop, name, endpoint.url(), connect, log, changed),
                    permission_of(setting, upstream)});
  }
}

void Upstreams::add_tools(Catalogue& catalogue) const {
  for (const auto& [upstream, permission] : all_) {
    for (const Json& theirs : upstream->tools()) {
      Tool tool = served_tool(upstream->name(), theirs);
      if (catalogue.tool(tool.name)) continue;
      tool.permission = permission;
      tool.takes_unread = true;
      tool.run = [upstream = upstream, name = theirs["name"].get<std::string>()](
                     const std::shared_ptr<Invocation>& invocation) { upstream->call(name, invocation); };
      catalogue.add(std::move(tool));
    }
  }
}

Json Upstreams::status() const {
  Json all = Json::object();
  for (const auto& [upstream, permission] : all_) all[upstream->name()] = upstream->status();
  return all;
}

void Upstreams::stop() {
  for (const auto& [upstream, permission] : all_) upstream->stop();
  const auto deadline = UpstreamLink::Clock::now() + kToEnd;
  for (const auto& [upstream, permission] : all_) upstream->await_end(deadline);
}

}  // namespace rkllm_mcp
