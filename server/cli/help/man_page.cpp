#include "cli/help/man_page.hpp"

#include "cli/help/help_text.hpp"
#include "cli/help/terminal.hpp"
#include "version.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <string_view>

namespace rkllm_mcp {
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
