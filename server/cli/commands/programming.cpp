#include "cli/commands/commands.hpp"

#include "cli/input_lines.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "text/ascii.hpp"

#include <rkllm_mcp/json.hpp>

#include <CLI/Error.hpp>

#include <unistd.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace rkllm_mcp {
namespace {

// What --timeout is where nobody gives it.
std::string usual_patience() { return " (default: " + std::to_string(kPatienceS) + ")"; }

// Null if it is none; then `why` says so.
Json json_in(const std::string& text, std::string& why) {
  try {
    return parse_or_complain(text);
  } catch (const std::invalid_argument& complaint) {
    why = complaint.what();
    return nullptr;
  }
}

}  // namespace

CLI::App* add_call(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("call", "Call one method of a running server and print what comes back.");
  command->group(kProgramming);
  add_settings_options(*command, parsed);
  command->add_option("METHOD", parsed.call.method, "e.g. rkllm_run_async")->required()->check(not_empty());
  command
      ->add_option(
          "PARAMS", parsed.call.params,
          "Its params, as JSON; -: what is piped into standard input; nothing: the same, {} at its end, and given up "
          "where nothing comes within 10 s")
      ->type_name("JSON");
  command->add_option("--to", parsed.call_to, words_of_urls() + " (default: the TCP port of the settings)")
      ->type_name("URL");
  add_token(*command, parsed.call.token);
  add_authorities(*command, "--cacert", parsed.call.ca_file);
  auto* text = command->add_flag("--text", parsed.call_text, "Print the generated text only, as it comes");
  command
      ->add_flag("--json", parsed.call_json,
                 "Print one JSON object when the answer is complete, in place of each message as it comes")
      ->excludes(text);
  command->add_option("--timeout", parsed.call.patience_s, "Longest wait for a message" + usual_patience())
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 1'000'000));
  return command;
}

CLI::App* add_connect(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "connect",
      "Connect standard input and output to a running MCP server: for hosts that can only start a command.\n"
      "The server may be this one or another. Each line is one message and passes as it is, in both directions. Ends "
      "with its input (exit code 0), "
      "or "
      "when the server cannot be reached or goes away: requests without an answer then get error -32603 (exit code 1)");
  command->group(kProgramming);
  command
      ->add_option("URL", parsed.connect.url,
                   "tcp://HOST:PORT, unix:///PATH, udp://HOST:PORT, http[s]://HOST[:PORT][/PATH] (Streamable HTTP; "
                   "without a path: /mcp), ws://HOST:PORT[/PATH], or with TLS tcps:// or wss://")
      ->required()
      ->check(not_empty());
  add_token(*command, parsed.connect.token);
  add_authorities(*command, "--cacert,--ca-file", parsed.connect.ca_file);
  return command;
}

CLI::App* add_tools(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("tools",
                                     "List the tools (searches, web pages, ...) of a running server, or call one.\n"
                                     "Where no server runs, one is started for it.");
  command->group(kProgramming);
  const auto add_common = [&parsed](CLI::App& action) {
    add_settings_options(action, parsed);
    action
        .add_option("--to", parsed.tools_to,
                    words_of_urls() + " (default: the ports of the settings, if a server listens there)")
        ->type_name("URL");
    add_token(action, parsed.tools.token);
    add_authorities(action, "--cacert", parsed.tools.ca_file);
    action.add_flag("--json", parsed.tools_json, "Print JSON, for programs");
    action.add_option("--timeout", parsed.tools.patience_s, "Longest wait" + usual_patience())
        ->type_name("SECONDS")
        ->check(CLI::Range(1, 1'000'000));
  };
  auto* list = command->add_subcommand("list", "Print names and what they are for");
  add_common(*list);
  list->add_flag("--all", parsed.tools_all,
                 "All tools of that server, those of the models and of other servers included");
  auto* call = command->add_subcommand("call", "Call one, of whichever server behind it, and print its answer");
  add_common(*call);
  call->add_option("NAME", parsed.tools.tool, "e.g. calculate")->required()->check(not_empty());
  call->add_option("ARGUMENTS", parsed.tools_arguments, "As a JSON object (default: {})")->type_name("JSON");
  command->require_subcommand(1);
  return command;
}

CallOptions call_options(Parsed& parsed) {
  std::string& text = parsed.call.params;
  if (text == "-") {
    text = piped_input("the parameters", PipedInput::kAskedFor);
  } else if (text.empty() && ::isatty(STDIN_FILENO) != 1) {
    try {
      text = piped_input("the parameters", PipedInput::kMayBeNone);
    } catch (const std::invalid_argument& nothing_came) {
      throw CLI::ValidationError("PARAMS", nothing_came.what());
    }
  }
  if (without_space_around(text).empty()) text = "{}";
  std::string why = "found: " + text.substr(0, 60);
  if (!json_in(text, why).is_structured()) {
    throw CLI::ValidationError("PARAMS", "expected a JSON object or array, e.g. '{\"handle\":\"h1\"}'; " + why);
  }
  if (!parsed.call_to.empty()) parsed.call.to = parsed.call_to;
  if (parsed.call_text) parsed.call.output = CallOptions::Output::kText;
  if (parsed.call_json) parsed.call.output = CallOptions::Output::kJson;
  return std::move(parsed.call);
}

ToolsOptions tools_options(Parsed& parsed) {
  ToolsOptions options = std::move(parsed.tools);
  std::string why = "found: " + parsed.tools_arguments.substr(0, 60);
  const Json arguments = json_in(parsed.tools_arguments, why);
  if (!arguments.is_object()) throw CLI::ValidationError("ARGUMENTS", "expected a JSON object; " + why);
  options.arguments = arguments.dump();
  if (!options.tool.empty()) {
    options.action = ToolsOptions::Action::kCall;
  } else if (parsed.tools_all) {
    options.action = ToolsOptions::Action::kListAll;
  }
  if (!parsed.tools_to.empty()) options.to = parsed.tools_to;
  if (parsed.tools_json) options.output = ToolsOptions::Output::kJson;
  return options;
}

}  // namespace rkllm_mcp
