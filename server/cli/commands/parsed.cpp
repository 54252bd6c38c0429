#include "cli/commands/parsed.hpp"

#include "cli/help/completions.hpp"
#include "settings/location.hpp"

#include <settings_defaults.h>
#include <rkllm_mcp/nearest_name.hpp>

#include <CLI/App.hpp>
#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace rkllm_mcp {

std::string words_of_urls() {
  return "tcp://HOST[:PORT], unix:///PATH, udp://HOST[:PORT], http[s]://HOST[:PORT][/PATH], ws://HOST[:PORT][/PATH], "
         "or with TLS tcps:// or wss://; HOST[:PORT] alone, or PORT of this machine, is TCP, or what the settings have "
         "on that port. Without a port: " +
         std::to_string(defaults::kTcpPort) + " of TCP, " + std::to_string(defaults::kUdpPort) + " of UDP, " +
         std::to_string(defaults::kHttpPort) + " of http, " + std::to_string(defaults::kWsPort) +
         " of ws, 443 of https and wss";
}

std::string words_of_http_places() {
  return "PORT, HOST[:PORT] or http[s]://HOST[:PORT]; without a port: " + std::to_string(defaults::kHttpPort) +
         ", of https 443";
}

void add_settings_options(CLI::App& command, Parsed& parsed) {
  command.add_option("--settings", parsed.settings_path, "The settings file to use")->type_name("PATH");
  command.add_option("--set", parsed.sets, "Set one value, e.g. --set http.port=9000; may be repeated")
      ->type_name("SECTION.KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false);
}

void add_token(CLI::App& command, std::string& token, const std::string& that) {
  command
      .add_option("--token", token,
                  "The access token that " + that +
                      "; better set in the environment than written here, where others can see it")
      ->envname("RKLLM_MCP_TOKEN")
      ->type_name("TOKEN");
}

void add_authorities(CLI::App& command, const char* names, std::string& ca_file) {
  command
      .add_option(names, ca_file,
                  "The certificates that a server with TLS is verified with, in PEM (default: the system's; for the "
                  "server of the settings its own)")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
}

void add_remote(CLI::App& command, Parsed& parsed, RemoteOptions& remote) {
  add_settings_options(command, parsed);
  command
      .add_option("--to", remote.to,
                  "The server: " + words_of_http_places() + " (default: the HTTP port of the settings)")
      ->type_name("URL");
  add_token(command, remote.token);
  add_authorities(command, "--cacert", remote.ca_file);
}

CLI::Validator one_of(std::vector<std::string> words) {
  const CLI::Validator completed = offered(words);
  const auto judged = [words = std::move(words)](std::string& given) -> std::string {
    if (std::find(words.begin(), words.end(), given) != words.end()) return {};
    std::string all;
    for (const std::string& word : words) all += (all.empty() ? "" : word == words.back() ? " or " : ", ") + word;
    return "expected " + all + "; found: " + given + did_you_mean(given, words);
  };
  return {judged, completed.get_description()};
}

CLI::Validator offered(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all.append(all.empty() ? kOffered : " ").append(word);
  return {[](std::string&) { return std::string(); }, all};
}

CLI::Validator not_empty() {
  const auto judged = [](std::string& given) {
    return given.empty() ? std::string("expected a name; found: \"\"") : std::string();
  };
  return {judged, ""};
}

SettingsRequest settings_request(const Parsed& parsed) {
  SettingsRequest request;
  auto& assignments = request.assignments;
  if (!parsed.settings_path.empty()) request.path = parsed.settings_path;
  request.environment = current_environment();
  if (parsed.simulator) {
    assignments.push_back({"runtime.library", std::string(kSimulatorLibrary), "--simulator"});
  }
  if (!parsed.library.empty()) assignments.push_back({"runtime.library", parsed.library, "--library"});
  if (!parsed.only.empty()) assignments.push_back({"services.only", parsed.only, "--only"});
  if (!parsed.log_level.empty()) assignments.push_back({"log.level", parsed.log_level, "--log-level"});
  for (const std::string& set : parsed.sets) {
    const auto equals = set.find('=');
    if (equals == std::string::npos) throw CLI::ValidationError("--set " + set, "expected SECTION.KEY=VALUE");
    const std::string name = set.substr(0, equals);
    assignments.push_back({name, set.substr(equals + 1), "--set " + name});
  }
  return request;
}

}  // namespace rkllm_mcp
