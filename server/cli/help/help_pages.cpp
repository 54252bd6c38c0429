#include "cli/help/help_pages.hpp"

#include "cli/help/terminal.hpp"
#include "version.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

// How an option's value is named; empty: it has none.
std::string value_word(const CLI::Option& option) {
  const std::string type = option.get_type_size() == 0 ? std::string() : option.get_type_name();
  return type.substr(0, type.find(':'));
}

void add_option_rows(const CLI::App& app, std::size_t width, std::string& text) {
  std::vector<HelpRow> arguments;
  std::vector<HelpRow> options;
  for (const CLI::Option* option : app.get_options()) {
    if (!is_shown(*option)) continue;
    (option->get_positional() ? arguments : options).push_back({option_words(*option), described(*option)});
  }
  for (const std::string& part : {rows_text("Arguments", arguments, width), rows_text("Options", options, width)}) {
    if (!part.empty()) text += "\n" + part;
  }
}

void add_command_rows(const CLI::App& app, std::size_t width, std::string& text) {
  std::vector<std::string> groups;
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* command : commands) {
    if (is_shown(*command) && std::find(groups.begin(), groups.end(), command->get_group()) == groups.end()) {
      groups.push_back(command->get_group());
    }
  }
  for (const std::string& group : groups) {
    std::vector<HelpRow> rows;
    for (const CLI::App* command : commands) {
      if (command->get_group() == group && is_shown(*command))
        rows.push_back({command->get_name(), summary_of(*command)});
    }
    text += "\n" + rows_text(group == "Subcommands" ? "Commands" : group, rows, width);
  }
}

}  // namespace

bool is_shown(const CLI::Option& option) { return !option.get_group().empty(); }
bool is_shown(const CLI::App& command) { return !command.get_group().empty(); }

std::string described(const CLI::Option& option) {
  std::string text = option.get_description();
  const std::string variable = option.get_envname();
  if (!variable.empty()) text += " (environment: " + variable + ")";
  return text;
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

std::string summary_of(const CLI::App& app) {
  const std::string text = app.get_description();
  return text.substr(0, text.find('\n'));
}

std::string details_of(const CLI::App& app) {
  const std::string text = app.get_description();
  const auto end = text.find('\n');
  return end == std::string::npos ? std::string() : text.substr(end + 1);
}

std::string option_words(const CLI::Option& each) {
  if (each.get_positional()) return each.get_name(true, false);
  std::string words;
  for (const std::string& name : each.get_snames()) words += (words.empty() ? "-" : ", -") + name;
  for (const std::string& name : each.get_lnames()) words += (words.empty() ? "--" : ", --") + name;
  const std::string type = value_word(each);
  return type.empty() ? words : words + " " + type;
}

std::string usage_line(const CLI::App& app) {
  std::string line = full_name(app);
  const auto commands = app.get_subcommands([](const CLI::App* each) { return is_shown(*each); });
  if (!commands.empty()) line += app.get_require_subcommand_min() > 0 ? " COMMAND" : " [COMMAND]";
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional() || !is_shown(*option)) continue;
    std::string name = option->get_name(true, false);
    if (option->get_items_expected_max() > 1) name += "...";
    line += option->get_required() ? " " + name : " [" + name + "]";
  }
  return line + " [OPTION]...";
}

std::string help_text(const CLI::App& app, std::size_t width) {
  constexpr std::size_t kUsage = 7;  // as wide as "Usage: "
  std::string text =
      "Usage: " + wrapped(usage_line(app), width, kUsage) + "\n\n" + wrapped(summary_of(app), width, 0) + "\n";
  if (const std::string details = details_of(app); !details.empty()) text += "\n" + wrapped(details, width, 0) + "\n";
  add_command_rows(app, width, text);
  add_option_rows(app, width, text);
  if (const std::string footer = app.get_footer(); !footer.empty()) text += "\n" + wrapped_lines(footer, width) + "\n";
  return text;
}

std::string guide(std::size_t width) {
  constexpr std::size_t kWidestName = 32;
  const auto rows = [width](const char* title, const std::vector<HelpRow>& all) {
    return "\n" + rows_text(title, all, width, kWidestName);
  };
  return wrapped("rkllm-mcp " + std::string(kProgramVersion) +
                     ": language models on the NPU of a Rockchip board, for any program.",
                 width, 0) +
         "\n" +
         rows("First steps", {{"rkllm-mcp doctor", "is this machine ready? what to do if not"},
                              {"rkllm-mcp serve", "start the server"},
                              {"rkllm-mcp pull hf.co/OWNER/NAME", "fetch a model (in another terminal)"},
                              {"rkllm-mcp chat", "talk to a model, or open http://127.0.0.1:8080/ in a browser"}}) +
         rows("On a PC without a board", {{"rkllm-mcp serve --simulator", "the simulator stands in for the NPU"}}) +
         rows("To look and manage", {{"rkllm-mcp status", "is the server running, and what does it do?"},
                                     {"rkllm-mcp models", "which models there are; load NAME, unload NAME"}}) +
         rows("More", {{"rkllm-mcp help", "all commands"}, {"rkllm-mcp help COMMAND", "one of them"}});
}

Json help_json(const CLI::App& app) {
  Json commands = Json::array();
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* each) { return is_shown(*each); })) {
    commands.push_back(help_json(*command));
  }
  Json arguments = Json::array();
  Json options = Json::array();
  for (const CLI::Option* option : app.get_options()) {
    if (!is_shown(*option)) continue;
    Json facts{{"description", option->get_description()}, {"required", option->get_required()}};
    if (option->get_positional()) {
      facts["name"] = option->get_name(true, false);
      arguments.push_back(std::move(facts));
      continue;
    }
    facts["names"] = Json::array();
    for (const std::string& name : option->get_snames()) facts["names"].push_back("-" + name);
    for (const std::string& name : option->get_lnames()) facts["names"].push_back("--" + name);
    const std::string value = value_word(*option);
    facts["value"] = value.empty() ? Json(nullptr) : Json(value);
    facts["environment"] = option->get_envname().empty() ? Json(nullptr) : Json(option->get_envname());
    options.push_back(std::move(facts));
  }
  return Json{{"name", full_name(app)},       {"summary", summary_of(app)},      {"details", details_of(app)},
              {"usage", usage_line(app)},     {"commands", std::move(commands)}, {"arguments", std::move(arguments)},
              {"options", std::move(options)}};
}

namespace {

// As roff shows it: no line may begin with a control character, and hyphens stay those of the keyboard.
std::string roff(std::string_view text) {
  std::string result;
  bool at_start = true;
  for (const char character : text) {
    if (at_start && (character == '.' || character == '\'')) result += "\\&";
    if (character == '\\') {
      result += "\\e";
    } else if (character == '-') {
      result += "\\-";
    } else {
      result += character;
    }
    at_start = character == '\n';
  }
  return result;
}

void add_paragraph(std::string& page, const std::string& text) {
  if (!text.empty()) page += ".PP\n" + roff(text) + "\n";
}

void add_options(std::string& page, const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (!is_shown(*option)) continue;
    page += ".TP\n.B " + roff(option_words(*option)) + "\n" + roff(described(*option)) + "\n";
  }
}

void add_command(std::string& page, const CLI::App& command) {
  page += ".SS \"" + roff(full_name(command)) + "\"\n.B " + roff(usage_line(command)) + "\n";
  add_paragraph(page, summary_of(command));
  add_paragraph(page, details_of(command));
  add_options(page, command);
  for (const CLI::App* each : command.get_subcommands([](const CLI::App* app) { return is_shown(*app); })) {
    add_command(page, *each);
  }
}

}  // namespace

std::string man_page(const CLI::App& app) {
  constexpr std::size_t kWidth = 72;
  std::string page = ".TH RKLLM\\-MCP 1 \"\" \"rkllm\\-mcp " + std::string(kProgramVersion) + "\" \"User Commands\"\n";
  page += ".SH NAME\nrkllm\\-mcp \\- " + roff(summary_of(app)) + "\n";
  page += ".SH SYNOPSIS\n.B " + roff(usage_line(app)) + "\n";
  page += ".SH OPTIONS\n";
  add_options(page, app);
  page += ".SH COMMANDS\n";
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* each) { return is_shown(*each); })) {
    add_command(page, *command);
  }
  page += ".SH EXAMPLES AND EXIT CODES\n.nf\n" + roff(wrapped_lines(app.get_footer(), kWidth)) + "\n.fi\n";
  return page;
}

}  // namespace rkllm_mcp
