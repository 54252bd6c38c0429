#include "cli/commands/commands.hpp"

namespace rkllm_mcp {
namespace {

constexpr const char* kWhichModel = "Its name (default: one that is loaded, else the server's first)";

CLI::Option* add_model_option(CLI::App& command, std::string& model, const char* words) {
  return command.add_option("--model", model, words)->type_name("NAME")->check(not_empty());
}

}  // namespace

CLI::App* add_chat(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "chat",
      "Talk to a model of the running server.\n"
      "Lines are edited and remembered. /help lists what else there is: other models, a system message, saving. Ctrl-C "
      "stops an answer, Ctrl-D leaves");
  command->group(kTalking);
  auto* model = command->add_option("MODEL", parsed.chat.model, kWhichModel)->check(not_empty());
  add_model_option(*command, parsed.chat.model, "The same, as for ask")->excludes(model);
  command->add_option("--system", parsed.chat.system, "Tell the model how to behave")->type_name("TEXT");
  command->add_flag("--json", parsed.chat.json,
                    "For programs: read questions as lines, print a line of JSON for each answer");
  add_remote(*command, parsed, parsed.chat.remote);
  return command;
}

CLI::App* add_ask(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "ask",
      "Ask a model one question and print the answer.\n"
      "What is piped into standard input is added to the question: rkllm-mcp ask \"Explain this error\" < error.log. "
      "Where nothing comes within 10 s it is not asked; - as the last word waits");
  command->group(kTalking);
  command->add_option("TEXT", parsed.ask.words, "The question");
  add_model_option(*command, parsed.ask.model, kWhichModel);
  command->add_option("--system", parsed.ask.system, "Tell the model how to behave")->type_name("TEXT");
  command->add_flag("--json", parsed.ask.json, "Print JSON, for programs: the answer, tokens, times");
  add_remote(*command, parsed, parsed.ask.remote);
  return command;
}

}  // namespace rkllm_mcp
