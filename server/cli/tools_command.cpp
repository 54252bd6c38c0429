#include "cli/run_command.hpp"

#include "cli/help/terminal.hpp"
#include "cli/target.hpp"
#include "client/connection.hpp"
#include "client/endpoint.hpp"
#include "client/mcp/mcp_client.hpp"
#include "clock.hpp"
#include "json_members.hpp"
#include "upstreams/command_connection.hpp"
#include "version.hpp"

#include <rkllm_mcp/errors.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kMostTools = 10'000;

// A server of the tools alone, as a child of this process, with the same settings.
std::unique_ptr<client::Connection> start_tool_server(const SettingsRequest& request) {
  ServerCommand command{"/proc/self/exe", {"stdio", "--log-level", "error"}};
  if (request.path) command.arguments.insert(command.arguments.end(), {"--settings", *request.path});
  for (const Assignment& each : request.assignments) {
    command.arguments.insert(command.arguments.end(), {"--set", each.name + "=" + each.text});
  }
  command.arguments.insert(command.arguments.end(), {"--set", "services.only=tool-server"});
  for (const auto& [name, value] : request.environment) {
    if (name.starts_with("RKLLM_MCP_")) command.environment[name] = value;
  }
  return std::make_unique<CommandConnection>(command, [](std::string_view line) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  });
}

std::unique_ptr<client::McpClient> client_over(std::unique_ptr<client::Connection> connection) {
  return std::make_unique<client::McpClient>(
      std::move(connection),
      client::Introduction{.client_info = {{"name", "rkllm-mcp tools"}, {"version", kProgramVersion}}});
}

// Null if the server has no tool server: it runs models only, say.
Json own_tools(client::McpClient& client, std::chrono::milliseconds patience) {
  try {
    return client.call("tool-server/tools/list", Json::object(), patience).at("tools");
  } catch (const client::RemoteRefusal& refusal) {
    if (refusal.error().code == static_cast<int>(ErrorCode::kMethodNotFound)) return {};
    throw;
  }
}

// A client of the server that --to names, or of one of these settings that runs, or of one that is started for it.
std::unique_ptr<client::McpClient> client_for(const ToolsOptions& options, const SettingsRequest& request) {
  const std::chrono::seconds patience(options.patience_s);
  const bool names_transport = options.to && options.to->find("://") != std::string::npos;  // settings have no say
  const Settings settings = names_transport ? Settings{} : load_settings(request).values;
  if (options.to) {
    auto endpoint = target_of(*options.to, settings, client::Protocol::kTcp, "/mcp");
    endpoint.token = options.token;
    endpoint.ca_file = options.ca_file;
    return client_over(client::connect_mcp(endpoint, Clock::now() + patience));
  }
  for (client::Endpoint& place : server_places(settings, "/mcp")) {
    place.token = options.token;
    place.ca_file = trusted_file(options.ca_file, settings);
    try {
      auto client = client_over(client::connect_mcp(place, Clock::now() + kToConnect));
      if (!own_tools(*client, patience).is_null()) return client;
    } catch (const client::ConnectionError& error) {
      require_nobody_at(place, error);
    } catch (const client::RemoteRefusal& refusal) {
      if (refusal.error().code == static_cast<int>(ErrorCode::kUnauthorized)) throw;
      // A server that is none of ours refuses what it does not know, with HTTP status 404, say.
      require_nobody_at(place, client::ConnectionError(refusal.what()));
    }
  }
  return client_over(start_tool_server(request));
}

void print_line(const std::string& text) { std::printf("%s\n", text.c_str()); }

std::string first_sentence(const Json& tool) {
  const std::string text = tool.value("description", std::string());
  const auto end = text.find(". ");
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

int print_tools(const Json& tools, ToolsOptions::Output output) {
  if (output == ToolsOptions::Output::kJson) {
    print_json(tools);
    return kExitOk;
  }
  const std::string title = "TOOL";
  std::size_t width = title.size();
  for (const Json& tool : tools) width = std::max(width, tool.value("name", std::string()).size());
  print_line(title + std::string(width - title.size() + 2, ' ') + "WHAT IT DOES");
  for (const Json& tool : tools) {
    const auto name = tool.value("name", std::string());
    print_line(name + std::string(width - name.size() + 2, ' ') + without_control_characters(first_sentence(tool)));
  }
  return kExitOk;
}

int print_result(const Json& result, ToolsOptions::Output output) {
  const bool has_failed = result.value("isError", false);
  if (output == ToolsOptions::Output::kJson) {
    print_json(result);
    return has_failed ? kExitFailed : kExitOk;
  }
  for (const Json& block : result.value("content", Json::array())) {
    const std::string text = block.value("text", std::string());
    if (has_failed) {
      // The first block is for people, the next repeats it for programs.
      std::fprintf(stderr, "rkllm-mcp: %s\n", without_control_characters(text).c_str());
      return kExitFailed;
    }
    print_line(text.empty() ? block.dump() : without_control_characters(text));
  }
  return has_failed ? kExitFailed : kExitOk;
}

// Waits for the result, and tells people meanwhile how far it is.
Json call_tool(client::McpClient& client, const ToolsOptions& options) {
  struct Waiting {
    std::mutex mutex;
    std::condition_variable news;
    std::optional<client::Outcome> outcome;
  };
  const auto waiting = std::make_shared<Waiting>();
  client::McpClient::Callbacks callbacks;
  if (::isatty(STDERR_FILENO) == 1) {
    callbacks.on_progress = [](const Json& params) {
      std::fprintf(stderr, "%s\n", without_control_characters(params.value("message", std::string())).c_str());
    };
  }
  callbacks.on_end = [waiting](client::Outcome outcome) {
    const std::lock_guard lock(waiting->mutex);
    waiting->outcome = std::move(outcome);
    waiting->news.notify_one();
  };
  const auto id = client.request(
      "tools/call", Json{{"name", options.tool}, {"arguments", Json::parse(options.arguments)}}, std::move(callbacks));
  std::unique_lock lock(waiting->mutex);
  const auto has_ended = [&waiting] { return waiting->outcome.has_value(); };
  if (!waiting->news.wait_for(lock, std::chrono::seconds(options.patience_s), has_ended)) {
    lock.unlock();
    client.cancel(id, "it takes too long");
    throw client::ConnectionError("no answer within " + std::to_string(options.patience_s) + " s");
  }
  if (const auto* error = std::get_if<client::RemoteError>(&*waiting->outcome)) throw client::RemoteRefusal(*error);
  return std::get<Json>(std::move(*waiting->outcome));
}

}  // namespace

int run_tools(const ToolsOptions& options, const SettingsRequest& request) {
  try {
    const auto client = client_for(options, request);
    const std::chrono::milliseconds patience = std::chrono::seconds(options.patience_s);
    switch (options.action) {
      case ToolsOptions::Action::kList: {
        const Json tools = own_tools(*client, patience);
        if (tools.is_null()) throw client::ConnectionError("that server has no tool server");
        return print_tools(tools, options.output);
      }
      case ToolsOptions::Action::kListAll:
        return print_tools(Json(client->list(client::McpClient::List::kTools, kMostTools, patience)), options.output);
      case ToolsOptions::Action::kCall: return print_result(call_tool(*client, options), options.output);
    }
    return kExitFailed;
  } catch (const client::RemoteRefusal& refusal) {
    const client::RemoteError& error = refusal.error();
    if (error.code != static_cast<int>(ErrorCode::kUnauthorized)) throw;
    throw std::runtime_error(words_of_refused_token(options.token, text_in(error.data, "reason")));
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "rkllm-mcp: --to %s\n", error.what());
    return kExitUsage;
  }
}

}  // namespace rkllm_mcp
