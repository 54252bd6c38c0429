// What the options of all commands are read into, and what several of them share. Which commands there are, and what
// each can be told, is in the other files here, one for each group of `rkllm-mcp --help`.
#pragma once

#include "cli/command_line.hpp"

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>

#include <string>
#include <vector>

namespace rkllm_mcp {

struct Parsed {
  std::string settings_path;
  std::vector<std::string> sets;
  std::string library;
  bool simulator = false;
  std::string only;
  std::string log_level;
  ServeOptions serve;
  CallOptions call;
  ConnectOptions connect;
  std::string call_to;
  bool call_text = false;
  bool call_json = false;
  std::string memory_action = "list";
  MemoryCommandOptions memory;
  std::string settings_action = "show";
  SettingsOptions settings;
  bool settings_json = false;
  ChatOptions chat;
  AskOptions ask;
  StateOptions state;
  DoctorOptions doctor;
  PullOptions pull;
  RemoveOptions remove;
  LogsOptions logs;
  ToolsOptions tools;
  std::string tools_to;
  std::string tools_arguments = "{}";
  bool tools_json = false;
  bool tools_all = false;
  bool version_json = false;
  bool help_json = false;
  std::string completion_of;
  std::vector<std::string> help_on;
};

// The groups of --help.
inline constexpr const char* kTalking = "Talk to a model";
inline constexpr const char* kManaging = "Look and manage";
inline constexpr const char* kServing = "Serve";
inline constexpr const char* kProgramming = "Call and connect";
inline constexpr const char* kSettingUp = "Set up";

std::string words_of_urls();         // how servers are named
std::string words_of_http_places();  // and those that are spoken to over HTTP

// Options of several commands. Their values go into what is given here, which outlives the parsing.
void add_settings_options(CLI::App& command, Parsed& parsed);
// `that`: "The access token that ..."
void add_token(CLI::App& command, std::string& token, const std::string& that = "the server asks for");
void add_authorities(CLI::App& command, const char* names, std::string& ca_file);
void add_remote(CLI::App& command, Parsed& parsed, RemoteOptions& remote);  // all that says where the server is

// A value that has to be one of these words; the complaint names them, and the one that was meant.
CLI::Validator one_of(std::vector<std::string> words);
// A value for which shells complete these words, and which may be another.
CLI::Validator offered(const std::vector<std::string>& words);

// A name, which scripts sometimes leave empty.
CLI::Validator not_empty();

// The settings that were named, and what was set over them. Throws CLI::ValidationError.
SettingsRequest settings_request(const Parsed& parsed);

}  // namespace rkllm_mcp
