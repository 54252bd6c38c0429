// The models of the running server, for the commands that name one: whatever this machine's settings say, what the
// server answers decides. Without a server, those of the settings.
#pragma once

#include "cli/people/server_link.hpp"

#include <rkllm_mcp/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp {

struct OfferedModel {
  std::string name{};  // that every command takes and prints
  std::vector<std::string> aliases{};
  std::string path{};    // of its file; empty: not known
  std::string handle{};  // empty: it is not loaded
  Json bytes = nullptr;  // of its file; null: not known
  bool is_loaded = false;
  bool is_profile = false;
};

struct OfferedModels {
  std::vector<OfferedModel> all{};
  bool has_chat = true;  // the server answers chats, and loads, pulls and deletes models by name
  std::string where{};   // the end of proposed commands, so that they ask the same server: see ServerLink

  std::vector<std::string> names() const;  // without aliases
  // By its name, "name:latest", another name of it, its handle, its file's path, or its file's name with or without
  // ending; null if there is none.
  const OfferedModel* find(const std::string& name) const;
  // "no model fsat; did you mean "fast"?", and how to see what there is.
  std::string no_such_model(const std::string& name) const;
};

// Both throw as ServerLink does; models_to_chat_with() also ServerRefuses with the status 404, if there is no chat
// host.
OfferedModels offered_models(ServerLink& server);
OfferedModels models_to_chat_with(ServerLink& server);
// offered_models(); nothing where no server runs, unless one was named: then it throws client::Unreachable.
std::optional<OfferedModels> offered_where_one_runs(ServerLink& server, const RemoteOptions& options);
// What a server with these settings would offer; nothing is loaded. `settings_options`: see as_options().
OfferedModels models_of_settings(const Settings& settings, const std::string& settings_options);

// Whether a path of this machine, or one as the server has it, is this file's.
bool is_same_file(const std::string& one, const std::string& other);

// The text of a member; `otherwise` where it is absent or null.
std::string text_at(const Json& object, const char* key, const std::string& otherwise = "-");

}  // namespace rkllm_mcp
