#include "upstreams/upstreams.hpp"

#include "text/private_file.hpp"

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kLongestName = 64;

std::string first_line(const std::string& text) { return text.substr(0, text.find_first_of("\r\n")); }

bool is_tool_name(const std::string& name) {
  constexpr const char* kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  return !name.empty() && name.size() <= kLongestName && name.find_first_not_of(kAllowed) == std::string::npos;
}

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

std::optional<ToolAnnotations> annotations_of(const Json& tool) {
  const auto found = tool.find("annotations");
  if (found == tool.end() || !found->is_object()) return std::nullopt;
  const auto hint = [&found](const char* name, bool absent) {
    const auto value = found->find(name);
    return value != found->end() && value->is_boolean() ? value->get<bool>() : absent;
  };
  return ToolAnnotations{hint("readOnlyHint", false), hint("destructiveHint", true), hint("idempotentHint", false),
                         hint("openWorldHint", true)};
}

std::string text_in(const Json& tool, const char* name) {
  const auto found = tool.find(name);
  return found != tool.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Upstreams::Upstreams(asio::io_context& loop, const Json& settings, spdlog::logger& log,
                     const std::function<void()>& changed) {
  for (const auto& [name, upstream] : settings.items()) {
    const std::string setting = "upstreams." + name;
    if (!is_tool_name(name)) throw std::runtime_error(setting + ": a name has letters, digits, _ and - only");
    all_.push_back(std::make_shared<Upstream>(loop, name, endpoint_of(setting, upstream), log, changed));
  }
}

void Upstreams::add_tools(Catalogue& catalogue) const {
  for (const auto& upstream : all_) {
    for (const Json& theirs : upstream->tools()) {
      const std::string name = text_in(theirs, "name");
      Tool tool;
      tool.name = upstream->name() + "_" + name;
      if (name.empty() || !is_tool_name(tool.name) || catalogue.tool(tool.name) || !theirs.contains("inputSchema")) continue;
      tool.title = text_in(theirs, "title");
      if (!tool.title.empty()) tool.title += " (" + upstream->name() + ")";
      tool.description = text_in(theirs, "description");
      tool.input_schema = theirs["inputSchema"];
      if (theirs.contains("outputSchema")) tool.output_schema = theirs["outputSchema"];
      tool.annotations = annotations_of(theirs);
      tool.run = [upstream, name](const std::shared_ptr<Invocation>& invocation) { upstream->call(name, invocation); };
      catalogue.add(std::move(tool));
    }
  }
}

Json Upstreams::status() const {
  Json all = Json::object();
  for (const auto& upstream : all_) all[upstream->name()] = upstream->status();
  return all;
}

void Upstreams::stop() {
  for (const auto& upstream : all_) upstream->stop();
}

}  // namespace rkllm_mcp
