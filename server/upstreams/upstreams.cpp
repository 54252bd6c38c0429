#include "upstreams/upstreams.hpp"

#include "call/permission.hpp"
#include "client/endpoint.hpp"
#include "clock.hpp"
#include "text/ascii.hpp"
#include "text/regular_file.hpp"
#include "upstreams/command_connection.hpp"
#include "upstreams/upstream_document.hpp"
#include "upstreams/upstream_tool.hpp"

#include <asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::chrono::milliseconds kToStop{300};  // for all of them

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

// Where the other server is, for people, and how it is reached.
struct Reach {
  std::string text;
  UpstreamLink::Connect connect;
};

Reach reach_by_url(const client::Endpoint& endpoint) {
  return {endpoint.url(), [endpoint](Clock::time_point deadline) { return client::connect_mcp(endpoint, deadline); }};
}

ServerCommand command_of(const std::string& setting, const Json& upstream) {
  for (const char* const key : {"token_file", "ca_file"}) {
    if (upstream.contains(key)) throw std::runtime_error(setting + "." + key + ": is for a url");
  }
  ServerCommand command{upstream["command"].get<std::string>(), upstream.value("args", std::vector<std::string>())};
  if (command.program.empty()) throw std::runtime_error(setting + ".command: expected a program");
  const Json variables = upstream.value("env", Json::object());
  for (const auto& [name, value] : variables.items()) {
    command.environment[name] = value.get<std::string>();
  }
  return command;
}

// Its arguments may be secret.
Reach reach_by_command(const ServerCommand& command, const std::string& name, spdlog::logger& log) {
  const auto line = [name, &log](std::string_view text) { log.info("upstream {}: {}", name, text); };
  return {command.program,
          [command, line](Clock::time_point) { return std::make_unique<CommandConnection>(command, line); }};
}

ToolFilter filter_of(const Json& upstream) {
  return {upstream.value("allow", std::vector<std::string>()), upstream.value("deny", std::vector<std::string>())};
}

// The other server takes such calls for this server's own. So not every client may make them, unless the settings say
// so.
Permission permission_of(const Json& upstream) {
  return upstream.value("permission", "admin") == "call" ? Permission::kCall : Permission::kAdmin;
}

}  // namespace

Upstreams::Upstreams(asio::io_context& loop, const Json& settings, spdlog::logger& log, Events events)
    : loop_(loop), events_(std::move(events)) {
  const Upstream::Events of_each{.on_changed = [this](Offered kind) { note_change(kind); }, .on_log = events_.on_log};
  for (const auto& [name, upstream] : settings.items()) {
    const std::string setting = "upstreams." + name;
    if (!is_tool_name(name)) throw std::runtime_error(setting + ": a name has letters, digits, _ and - only");
    Reach reach = upstream.contains("url") ? reach_by_url(endpoint_of(setting, upstream))
                                           : reach_by_command(command_of(setting, upstream), name, log);
    all_.push_back({std::make_unique<Upstream>(loop, name, reach.text, std::move(reach.connect), log, of_each,
                                               filter_of(upstream)),
                    permission_of(upstream)});
  }
}

void Upstreams::note_change(Offered kind) {
  changes_.insert(kind);
  if (changes_.size() > 1) return;
  asio::post(loop_, [this] {
    if (!changes_.empty()) events_.on_changed(std::exchange(changes_, {}));
  });
}

template <class Entries>
ServedNames Upstreams::names_beside(const Entries& served) const {
  std::vector<std::string> upstreams;
  for (const Entry& entry : all_) upstreams.push_back(entry.upstream->name());
  std::set<std::string> taken;
  for (const auto& each : served) taken.insert(each->name);
  return {std::move(upstreams), std::move(taken)};
}

void Upstreams::add_to(mcp::Catalogue& catalogue) const {
  ServedNames tools = names_beside(catalogue.tools);
  ServedNames prompts = names_beside(catalogue.prompts);
  for (const Entry& entry : all_) {
    add_tools(entry, catalogue, tools);
    add_prompts(entry, catalogue, prompts);
    add_resources(entry, catalogue);
  }
  if (all_.empty()) return;
  catalogue.fetch = [this](const std::string& uri) -> mcp::InvokeFunction {
    const auto there = uri_there(uri);
    if (!there) return nullptr;
    const auto entry =
        std::ranges::find_if(all_, [&there](const Entry& each) { return each.upstream->name() == there->upstream; });
    if (entry == all_.end()) return nullptr;
    return [upstream = entry->upstream.get(), permission = entry->permission,
            address = there->uri](mcp::Invocation& invocation) {
      permit(*invocation.request().session, permission);
      upstream->read(address, invocation);
    };
  };
}

void Upstreams::add_tools(const Entry& entry, mcp::Catalogue& catalogue, ServedNames& names) const {
  Upstream* const upstream = entry.upstream.get();
  for (const Json& theirs : upstream->tools()) {
    const std::string there = theirs["name"].get<std::string>();
    auto name = names.take(upstream->name(), there);
    if (!name) continue;
    mcp::Tool tool = served_tool(upstream->name(), theirs);
    tool.name = *std::move(name);
    tool.permission = entry.permission;
    tool.takes_unread = true;
    tool.run = [upstream, there](mcp::Invocation& invocation) { upstream->call(there, invocation); };
    catalogue.add(std::move(tool));
  }
}

void Upstreams::add_prompts(const Entry& entry, mcp::Catalogue& catalogue, ServedNames& names) const {
  Upstream* const upstream = entry.upstream.get();
  for (const Json& theirs : upstream->list(Offered::kPrompts)) {
    mcp::Prompt prompt = served_prompt(upstream->name(), theirs);
    const std::string there = prompt.name;
    auto name = names.take(upstream->name(), there);
    if (!name) continue;
    prompt.name = *std::move(name);
    prompt.permission = entry.permission;
    prompt.run = [upstream, there](mcp::Invocation& invocation) { upstream->get_prompt(there, invocation); };
    catalogue.add(std::move(prompt));
  }
}

void Upstreams::add_resources(const Entry& entry, mcp::Catalogue& catalogue) const {
  const Upstream& upstream = *entry.upstream;
  for (const Json& theirs : upstream.list(Offered::kResources)) {
    catalogue.resources.push_back(served_resource(upstream.name(), theirs));
    catalogue.resources.back().permission = entry.permission;
  }
  for (const Json& theirs : upstream.list(Offered::kTemplates)) {
    catalogue.templates.push_back(served_template(upstream.name(), theirs));
    catalogue.templates.back().permission = entry.permission;
  }
}

Json Upstreams::status() const {
  Json all = Json::object();
  for (const auto& [upstream, permission] : all_) all[upstream->name()] = upstream->status();
  return all;
}

void Upstreams::stop() {
  changes_.clear();
  for (const auto& [upstream, permission] : all_) upstream->stop();
  const auto deadline = Clock::now() + kToStop;
  for (const auto& [upstream, permission] : all_) upstream->await_end(deadline);
}

}  // namespace rkllm_mcp
