#include "cli/commands/commands.hpp"

#include <CLI/Error.hpp>

#include <map>
#include <string>
#include <utility>

namespace rkllm_mcp {

CLI::App* add_memory(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("memory",
                                     "Look at the conversations of the memory server, and move them.\n"
                                     "Through the server that runs, else in their file: list (default); show "
                                     "ID...; search WORD...; export [ID...] as JSON Lines; import FILE (- is standard "
                                     "input), all or nothing; delete ID...");
  command->group(kSettingUp);
  add_settings_options(*command, parsed);
  command->add_option("ACTION", parsed.memory_action, "list, show, search, export, import or delete")
      ->check(one_of({"list", "show", "search", "export", "import", "delete"}));
  command->add_option("ARGUMENT", parsed.memory.arguments, "Ids, words, or a file");
  command->add_option("--to", parsed.memory.to, "The server, as for call")->type_name("URL");
  add_token(*command, parsed.memory.token);
  add_authorities(*command, "--cacert", parsed.memory.ca_file);
  command->add_option("--space", parsed.memory.space, "Whose: the name of an access token; for admins")
      ->type_name("NAME");
  command->add_flag("--json", parsed.memory.json, "Print lines of JSON, for programs");
  command->add_flag("--exact", parsed.memory.exact, "search: mind diacritics");
  command->add_option("--limit", parsed.memory.limit, "search: messages at most (default: 20)")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--replace", parsed.memory.replace, "import: replace conversations that exist");
  return command;
}

CLI::App* add_settings(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "settings",
      "Show, check or write the settings.\n"
      "show: the values in force and where each comes from (default); path: the settings file; schema: its JSON "
      "Schema; "
      "check [FILE]: is it right, also in what a server only warns of?; write [FILE]: write the built-in values, never "
      "over a file that exists");
  command->group(kSettingUp);
  add_settings_options(*command, parsed);
  command->add_option("ACTION", parsed.settings_action, "show, path, schema, check or write")
      ->check(one_of({"show", "path", "schema", "check", "write"}));
  command->add_option("FILE", parsed.settings.file, "The file to check or to write");
  command->add_flag("--json", parsed.settings_json, "Print JSON, for programs");
  return command;
}

CLI::App* add_completion(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "completion",
      "Print completions for a shell: bash, zsh or fish.\n"
      "For bash: source <(rkllm-mcp completion bash). Packages install them. `man` prints the manual page.");
  command->group(kSettingUp);
  command->add_option("SHELL", parsed.completion_of, "bash, zsh, fish, or man")
      ->required()
      ->check(one_of({"bash", "zsh", "fish", "man"}));
  return command;
}

CLI::App* add_help(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("help", "Show all commands, or one of them.");
  command->group(kSettingUp);
  std::vector<std::string> names;  // those that were added before this one
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(each->get_name());
  command->add_option("COMMAND", parsed.help_on, "e.g. call, or tools call")->check(offered(names));
  command->add_flag("--json", parsed.help_json, "Print JSON, for programs");
  return command;
}

MemoryCommandOptions memory_command_options(Parsed& parsed) {
  using Action = MemoryCommandOptions::Action;
  static const std::map<std::string, Action> kActions{{"list", Action::kList},     {"show", Action::kShow},
                                                      {"search", Action::kSearch}, {"export", Action::kExport},
                                                      {"import", Action::kImport}, {"delete", Action::kDelete}};
  parsed.memory.action = kActions.at(parsed.memory_action);
  if (parsed.memory.action == Action::kSearch && parsed.memory.arguments.empty()) {
    throw CLI::ValidationError("memory search", "expected a WORD to search for");
  }
  if (parsed.memory.action == Action::kList && !parsed.memory.arguments.empty()) {
    throw CLI::ValidationError("memory list", "takes nothing more: it lists all; memory show ID shows a conversation");
  }
  return std::move(parsed.memory);
}

SettingsOptions settings_options(Parsed& parsed) {
  using Action = SettingsOptions::Action;
  static const std::map<std::string, Action> kActions{{"show", Action::kShow},
                                                      {"path", Action::kPath},
                                                      {"schema", Action::kSchema},
                                                      {"check", Action::kCheck},
                                                      {"write", Action::kWrite}};
  parsed.settings.action = kActions.at(parsed.settings_action);
  const Action action = parsed.settings.action;
  if (!parsed.settings.file.empty() && action != Action::kCheck && action != Action::kWrite) {
    throw CLI::ValidationError("settings " + parsed.settings_action, action == Action::kSchema
                                                                         ? "takes no FILE: it is the same for all"
                                                                         : "takes no FILE; use --settings FILE");
  }
  if (parsed.settings_json) parsed.settings.output = SettingsOptions::Output::kJson;
  return std::move(parsed.settings);
}

}  // namespace rkllm_mcp
