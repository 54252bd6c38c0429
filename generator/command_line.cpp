#include "command_line.hpp"

#include "diagnostics.hpp"
#include "json.hpp"
#include "text_file.hpp"

#include <filesystem>
#include <optional>

namespace bindgen {

const char* const kHelpText =
    R"(rkllm-bindgen reads a C header and an overlay, and writes C++ bindings, JSON Schemas and API data.

  rkllm-bindgen                                          generate what generator/bindgen.json names
  rkllm-bindgen HEADER --api-version V [--overlay FILE] [--out DIR]
                                                         generate from another header
  rkllm-bindgen --check [...]                            is the output what would be generated now?
                                                         prints the difference and the command that mends it

  --root DIR     the repository, whose generator/bindgen.json gives what is left out (default: .)
  --help

Exit codes: 0 done, 1 stale or refused, 2 usage.
)";

namespace {

namespace fs = std::filesystem;

struct Options {
  bool help = false;
  bool check = false;
  std::string root = ".";
  std::optional<std::string> header;
  std::optional<std::string> version;
  std::optional<std::string> overlay;
  std::optional<std::string> out;
};

Options read_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == arguments.size()) throw UsageError(argument + " needs a value");
      return arguments[++i];
    };
    if (argument == "--help" || argument == "-h") {
      options.help = true;
    } else if (argument == "--check") {
      options.check = true;
    } else if (argument == "--root") {
      options.root = value();
    } else if (argument == "--api-version") {
      options.version = value();
    } else if (argument == "--overlay") {
      options.overlay = value();
    } else if (argument == "--out") {
      options.out = value();
    } else if (argument.compare(0, 1, "-") == 0) {
      throw UsageError("unknown option " + argument);
    } else if (options.header) {
      throw UsageError("one header at a time: " + *options.header + ", " + argument);
    } else {
      options.header = argument;
    }
  }
  if (options.header && !options.version) throw UsageError("HEADER needs --api-version, e.g. --api-version 1.4.0");
  if (options.version && !options.header) throw UsageError("--api-version needs a HEADER");
  return options;
}

// Paths stay short and relative if the root is the current folder, as messages and users want them.
std::string below(const std::string& root, const std::string& path) {
  return root == "." ? path : (fs::path(root) / path).string();
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  const Options options = read_options(arguments);
  CommandLine line;
  if (options.help) {
    line.command = Command::kHelp;
    return line;
  }
  line.command = options.check ? Command::kCheck : Command::kGenerate;
  line.repeat = "rkllm-bindgen";
  for (const std::string& argument : arguments) {
    if (argument != "--check") line.repeat += " " + argument;
  }
  if (options.header) line.requests.push_back({*options.header, *options.version});
  if (options.overlay) line.overlay = *options.overlay;
  if (options.out) line.out = *options.out;
  if (options.header && options.overlay && options.out) return line;

  const std::string project_path = below(options.root, "generator/bindgen.json");
  const Json project = Json::parse(read_text(project_path), nullptr, false);
  if (project.is_discarded()) throw Refusal({project_path, 0, 0}, "this is no JSON");
  if (!options.overlay) line.overlay = below(options.root, project.at("overlay"));
  if (!options.out) line.out = below(options.root, project.at("out"));
  if (options.header) return line;
  for (const Json& set : project.at("sets")) {
    line.requests.push_back({below(options.root, set.at("header")), set.at("version")});
  }
  return line;
}

}  // namespace bindgen
