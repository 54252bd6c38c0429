#include "cli/help/completions.hpp"

#include "cli/help/help_pages.hpp"
#include "text/shown.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <map>
#include <string_view>
#include <vector>

namespace rkllm_mcp {
namespace {

std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* each) { return is_shown(*each); });
}

std::vector<std::string> shown_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (!is_shown(*option)) continue;
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// What an option's value may be; empty: anything.
std::string words_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto at = type.find(kOffered);
  return at == std::string::npos ? std::string() : type.substr(at + kOffered.size());
}

std::string words_after(const CLI::App& app) {
  std::string words;
  for (const CLI::Option* option : app.get_options()) {
    if (const std::string offered = words_of(*option); option->get_positional() && !offered.empty())
      words += offered + " ";
  }
  for (const CLI::App* command : shown_commands(app)) words += command->get_name() + " ";
  for (const std::string& option : shown_options(app)) words += option + " ";
  if (!words.empty()) words.pop_back();
  return words;
}

// Options whose value is a file, of any command.
std::string file_options(const CLI::App& app) {
  std::string names;
  for (const CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    if (!type.starts_with("FILE") && !type.starts_with("PATH")) continue;
    for (const std::string& name : option->get_lnames()) names += (names.empty() ? "--" : "|--") + name;
  }
  for (const CLI::App* command : shown_commands(app)) {
    const std::string theirs = file_options(*command);
    if (!theirs.empty()) names += (names.empty() ? "" : "|") + theirs;
  }
  return names;
}

// The options of all commands whose values are words, each with them.
void add_options_of_words(std::map<std::string, std::string>& found, const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string words = words_of(*option);
    if (words.empty()) continue;
    for (const std::string& name : option->get_lnames()) found["--" + name] = words;
  }
  for (const CLI::App* command : shown_commands(app)) add_options_of_words(found, *command);
}

// The branches of bash's and zsh's `case` on the word before: `%` in `action` stands for the words.
std::string value_cases(const CLI::App& app, const std::string& action) {
  std::map<std::string, std::string> found;
  add_options_of_words(found, app);
  std::string text;
  for (const auto& [option, words] : found) {
    std::string done = action;
    text += "    " + option + ") " + done.replace(done.find('%'), 1, words) + " return ;;\n";
  }
  return text;
}

// The branches of bash's and zsh's `case`: what follows each command.
void add_cases(std::string& text, const CLI::App& app, const std::string& path) {
  for (const CLI::App* command : shown_commands(app)) {
    const std::string at = path + " " + command->get_name();
    text += "    '" + at + "') words='" + words_after(*command) + "' ;;\n";
    add_cases(text, *command, at);
  }
}

// In single quotes of fish, which knows two escapes there; other shells know none.
std::string in_quotes_of_fish(std::string_view text) {
  std::string result = "'";
  for (const char character : text) {
    if (character == '\'' || character == '\\') result += '\\';
    result += character;
  }
  return result + "'";
}

void add_fish_options(std::string& text, const CLI::App& app, const std::string& condition) {
  for (const CLI::Option* option : app.get_options()) {
    if (!is_shown(*option) || option->get_positional()) continue;
    text += "complete -c rkllm-mcp -n " + in_quotes_of_fish(condition);
    for (const std::string& name : option->get_snames()) text += " -s " + name;
    for (const std::string& name : option->get_lnames()) text += " -l " + name;
    if (const std::string words = words_of(*option); !words.empty()) {
      text += " -x -a " + in_quotes_of_fish(words);
    } else if (option->get_items_expected_max() != 0) {
      text += " -r";
    }
    text += " -d " + in_quotes_of_fish(option->get_description()) + "\n";
  }
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string text = R"(# Completions of rkllm-mcp for bash. Made of its command table: rkllm-mcp completion bash
_rkllm_mcp() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} at='' next words word
  case $previous in
    )" + file_options(app) +
                     R"() COMPREPLY=($(compgen -f -- "$current")); return ;;
)" + value_cases(app, R"(COMPREPLY=($(compgen -W '%' -- "$current"));)") +
                     R"(  esac
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="$at $word"
    case $next in
)";
  std::vector<std::pair<const CLI::App*, std::string>> waiting{{&app, ""}};
  while (!waiting.empty()) {
    const auto [parent, path] = waiting.back();
    waiting.pop_back();
    for (const CLI::App* command : shown_commands(*parent)) {
      text += "      '" + path + " " + command->get_name() + "') at=$next ;;\n";
      waiting.emplace_back(command, path + " " + command->get_name());
    }
  }
  text += "    esac\n  done\n  case $at in\n    '') words='" + words_after(app) + "' ;;\n";
  add_cases(text, app, "");
  text += R"(  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _rkllm_mcp rkllm-mcp
)";
  return text;
}

std::string zsh_completion(const CLI::App& app) {
  std::string text = R"(#compdef rkllm-mcp
# Completions of rkllm-mcp for zsh. Made of its command table: rkllm-mcp completion zsh
_rkllm_mcp() {
  local at='' next words_here word
  local -a commands
)";
  text += "  commands=(\n";
  for (const CLI::App* command : shown_commands(app)) {
    std::string summary = summary_of(*command);
    text += "    " + shell_word(command->get_name() + ":" + summary) + "\n";
  }
  text += "  )\n  if (( CURRENT == 2 )); then\n    _describe 'command' commands\n    return\n  fi\n";
  text += "  case ${words[CURRENT-1]} in\n" + value_cases(app, "compadd -- %;") + "  esac\n";
  text += "  at=\" ${words[2]}\"\n";
  std::string nested;
  for (const CLI::App* command : shown_commands(app)) {
    for (const CLI::App* each : shown_commands(*command)) {
      nested += "    ' " + command->get_name() + " " + each->get_name() + "') at=\"$at ${words[3]}\" ;;\n";
    }
  }
  if (!nested.empty()) text += "  case \"$at ${words[3]}\" in\n" + nested + "  esac\n";
  text += "  local words\n  case $at in\n";
  add_cases(text, app, "");
  text += R"(  esac
  compadd -- ${=words}
  _files
}
if [[ ${funcstack[1]} == _rkllm-mcp ]]; then _rkllm_mcp "$@"; else compdef _rkllm_mcp rkllm-mcp; fi
)";
  return text;
}

std::string fish_completion(const CLI::App& app) {
  std::string text = "# Completions of rkllm-mcp for fish. Made of its command table: rkllm-mcp completion fish\n";
  for (const CLI::App* command : shown_commands(app)) {
    text += "complete -c rkllm-mcp -f -n __fish_use_subcommand -a " + command->get_name() + " -d " +
            in_quotes_of_fish(summary_of(*command)) + "\n";
  }
  add_fish_options(text, app, "__fish_use_subcommand");
  for (const CLI::App* command : shown_commands(app)) {
    const std::string seen = "__fish_seen_subcommand_from " + command->get_name();
    for (const CLI::App* each : shown_commands(*command)) {
      text += "complete -c rkllm-mcp -f -n " + in_quotes_of_fish(seen) + " -a " + each->get_name() + " -d " +
              in_quotes_of_fish(summary_of(*each)) + "\n";
      add_fish_options(text, *each, seen + "; and __fish_seen_subcommand_from " + each->get_name());
    }
    for (const CLI::Option* option : command->get_options()) {
      const std::string words = option->get_positional() ? words_of(*option) : std::string();
      if (!words.empty())
        text += "complete -c rkllm-mcp -f -n " + in_quotes_of_fish(seen) + " -a " + in_quotes_of_fish(words) + "\n";
    }
    add_fish_options(text, *command, seen);
  }
  return text;
}

}  // namespace rkllm_mcp
