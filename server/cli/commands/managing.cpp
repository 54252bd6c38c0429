#include "cli/commands/commands.hpp"

namespace rkllm_mcp {
namespace {

CLI::App* add_state(CLI::App& app, Parsed& parsed, StateOptions::Action action, const char* name,
                    const char* description) {
  using Action = StateOptions::Action;
  auto* command = app.add_subcommand(name, description);
  command->group(kManaging);
  if (action == Action::kLoad) {
    command->add_option("MODEL", parsed.state.model, "Its name, as `rkllm-mcp models` has it, or the path of a file")
        ->required()
        ->check(not_empty());
  }
  if (action == Action::kUnload) {
    command->add_option("MODEL", parsed.state.models, "Their names, paths or handles")->required()->check(not_empty());
  }
  command->add_flag("--json", parsed.state.json, "Print JSON, for programs");
  add_remote(*command, parsed, parsed.state.remote);
  command->callback([&parsed, action] { parsed.state.action = action; });
  return command;
}

}  // namespace

std::vector<CLI::App*> add_states(CLI::App& app, Parsed& parsed) {
  using Action = StateOptions::Action;
  return {
      add_state(app, parsed, Action::kStatus, "status",
                "Is the server running, with which runtime, and what does it do?"),
      add_state(app, parsed, Action::kModels, "models",
                "Which models there are, and which of them are loaded.\nThose of the server; where none runs, and --to "
                "names none, those of this machine's settings"),
      add_state(app, parsed, Action::kLoaded, "ps", "Which models are loaded: what waits for them, how fast they are."),
      add_state(app, parsed, Action::kLoad, "load", "Load a model, which stays until it is unloaded."),
      add_state(app, parsed, Action::kUnload, "unload",
                "Unload models, and free their memory.\nAll that are named, or none where one of the names is wrong")};
}

CLI::App* add_pull(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "pull",
      "Fetch a model from the hub (hf.co), or from any address, into the folder of models.\n"
      "Of a repository the file is taken that was made for this board and fits its memory, of several the largest that "
      "leaves memory. What has come stays when the connection breaks off, and the same command goes on from there. The "
      "file is checked against the hub's SHA-256. "
      "HF_TOKEN: the access token for repositories that want one");
  command->group(kManaging);
  command->add_option("MODEL", parsed.pull.source, "hf.co/OWNER/NAME[:FILE], or the https address of a .rkllm file")
      ->required()
      ->check(not_empty());
  auto* folder = command->add_option(
      "--folder", parsed.pull.folder,
      "The folder (default: the first of runtime.model_dirs, else models in the user's data directory)");
  folder->type_name("FOLDER");
  command
      ->add_option("--to", parsed.pull.remote.to,
                   "The server that is to fetch it, into its own folder of models: " + words_of_http_places() +
                       " (default: none; it is fetched here)")
      ->type_name("URL")
      ->excludes(folder);
  add_token(*command, parsed.pull.remote.token, "the server of --to asks for; the hub's is HF_TOKEN");
  add_authorities(*command, "--cacert", parsed.pull.remote.ca_file);
  command->add_flag("--json", parsed.pull.json, "Print JSON, for programs");
  add_settings_options(*command, parsed);
  return command;
}

CLI::App* add_remove(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("rm",
                                     "Delete models.\nThe server deletes them from its folders; where none runs, and "
                                     "--to names none, those of this machine's settings "
                                     "are meant");
  command->group(kManaging);
  command->add_option("MODEL", parsed.remove.models, "Their names, as `rkllm-mcp models` has them")
      ->required()
      ->check(not_empty());
  command->add_flag("--json", parsed.remove.json, "Print JSON, for programs");
  add_remote(*command, parsed, parsed.remove.remote);
  return command;
}

CLI::App* add_logs(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("logs",
                                     "Show what the server has logged.\n"
                                     "Reads the file of log.file; without one, what systemd's journal has of the "
                                     "service, and where that does not run or --to names a server, the latest lines "
                                     "that the running server keeps in memory. Ctrl-C ends -f");
  command->group(kManaging);
  add_remote(*command, parsed, parsed.logs.remote);
  command->add_flag("-f,--follow", parsed.logs.follows, "Go on with what is logged from now on");
  command->add_flag("--json", parsed.logs.json, "Print each line as a JSON object, for programs: time, level, message");
  command->add_option("-n,--lines", parsed.logs.lines, "How many of the last lines (default: 50)")
      ->type_name("COUNT")
      ->check(CLI::Range(0, 1'000'000));
  return command;
}

CLI::App* add_doctor(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("doctor",
                                     "Find out why something does not work, and how to mend it.\n"
                                     "Looks at the runtime library, the NPU, its driver and device nodes, models and "
                                     "memory, limits, ports, permissions "
                                     "and the network. Each line is ok, a warning or a problem; what is not ok comes "
                                     "with a command that mends it. Exit "
                                     "code 1: there is a problem");
  command->group(kManaging);
  add_settings_options(*command, parsed);
  command->add_flag("--json", parsed.doctor.json, "Print JSON, for programs");
  command->add_option("--root", parsed.doctor.root, "Look at the folders sys, dev, proc and etc below this one")
      ->type_name("FOLDER")
      ->check(CLI::ExistingDirectory);
  return command;
}

}  // namespace rkllm_mcp
