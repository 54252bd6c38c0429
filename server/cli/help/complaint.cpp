#include "cli/help/complaint.hpp"

#include "cli/help/help_pages.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace rkllm_mcp {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* each) { return is_shown(*each); })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The command that the line has got to: the innermost that was recognised.
const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* found = &app;
  for (auto parsed = found->get_subcommands(); !parsed.empty(); parsed = found->get_subcommands())
    found = parsed.back();
  return *found;
}

// A word where a command should stand. Options of the program itself have no values.
std::optional<std::string> unknown_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (command_names(app).empty()) return std::nullopt;
  std::size_t depth = 0;
  for (const CLI::App* each = &app; each->get_parent() != nullptr; each = each->get_parent()) ++depth;
  for (const std::string& argument : arguments) {
    if (argument.starts_with("-")) continue;
    if (depth-- == 0) return argument;
  }
  return std::nullopt;
}

std::optional<std::string> unknown_option(const CLI::App& app) {
  for (const std::string& word : app.remaining(true)) {
    if (word.size() > 1 && word.front() == '-') return word.substr(0, word.find('='));
  }
  return std::nullopt;
}

// What is wrong with an option without its value, or with too many. CLI11 begins with the option's name, and tells the
// rest in words of its own. Nothing: it is about something else.
std::optional<std::string> about_values(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_name() != "ArgumentMismatch") return std::nullopt;
  const std::string_view words = error.what();
  const auto* const option = app.get_option_no_throw(std::string(words.substr(0, words.find(':'))));
  if (option == nullptr) return std::nullopt;
  return (words.ends_with(" missing") ? "a value is missing: " : "given more than once: ") + option_words(*option);
}

std::string text_of(const CLI::App& app, const std::vector<std::string>& arguments, const CLI::ParseError& error) {
  if (const auto word = unknown_command(app, arguments)) {
    return no_such_command(app, *word);
  }
  if (const auto word = unknown_option(app)) {
    constexpr std::array<std::string_view, 5> kOfPlaces{"--port", "-p", "--host", "--address", "--bind"};
    const bool is_place = std::ranges::find(kOfPlaces, *word) != kOfPlaces.end();
    if (is_place && app.get_name() == "serve") {
      return "unknown option '" + *word + "': ports and addresses are settings, as in --set http.port=8090 or " +
             "--set http.address=0.0.0.0";
    }
    return "unknown option '" + *word + "'" + did_you_mean(*word, option_names(app));
  }
  if (const auto words = about_values(app, error)) return *words;
  if (!command_names(app).empty() && error.get_name() == "RequiredError") {
    std::string names;
    for (const std::string& name : command_names(app)) names += (names.empty() ? " " : ", ") + name;
    return full_name(app).substr(full_name(app).find(' ') + 1) + ": which command?" + names;
  }
  return error.what();
}

}  // namespace

std::string no_such_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names = command_names(app);
  if (const std::string option = "--" + word; app.get_option_no_throw(option) != nullptr) names.push_back(option);
  return "unknown command '" + word + "'" + did_you_mean(word, names);
}

std::string complaint_about(const CLI::App& app, const std::vector<std::string>& arguments,
                            const CLI::ParseError& error) {
  const CLI::App& at = innermost(app);
  return "rkllm-mcp: " + text_of(at, arguments, error) + "\nUsage: " + usage_line(at) +
         "\nTo read more: " + full_name(at) + " --help";
}

}  // namespace rkllm_mcp
