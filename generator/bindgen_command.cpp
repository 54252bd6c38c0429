#include "bindgen_command.hpp"

#include "diagnostics.hpp"
#include "overlay/overlay.hpp"
#include "project.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <optional>

namespace bindgen {

const char* const kHelpText =
    R"(rkllm-bindgen reads a C header and an overlay, and writes C++ bindings, JSON Schemas and API data.

  rkllm-bindgen generate                                 generate what generator/bindgen.json names
  rkllm-bindgen [generate] HEADER --api-version V [--overlay FILE] [--out DIR]
                                                         generate from another header
  rkllm-bindgen --check [...]                            is the output what would be generated now?
                                                         prints the difference and the command that mends it
      --verify                                           first compile the output, which stays in memory, for the
                                                         64-bit and 32-bit machines whose layouts it states

  rkllm-bindgen diff OLD NEW [--format text|markdown|json]
                                                         what changed between two headers, and what that breaks
      --docs                                             and what is said of it in other words
  rkllm-bindgen dump HEADER [--format tree|json]         what is read from a header, with its layouts
  rkllm-bindgen suggest HEADER [--overlay FILE | --no-overlay] [--api-version V]
                                                         overlay entries for what the header and the overlay leave
                                                         open (in V; else in the version whose header it is; else in
                                                         the newest)

  --root DIR     the repository, whose generator/bindgen.json gives what is left out (default: .)
  --include DIR  where the header's own #includes are, if not beside it; may be given several times
  -D NAME[=V], -U NAME, -I DIR, -isystem DIR, --sysroot DIR, --std=STANDARD, and everything after --: for clang.
                 --std=c11, and other standards of C, have the header read as C; without, it is read as C++17
  --help, --version

A header called like a command is given with its folder: ./diff.
Exit codes: 0 done, 1 stale or refused, 2 usage, 3 the headers differ by more than additions.
)";

namespace {

namespace fs = std::filesystem;

struct Options {
  bool help = false;
  bool check = false;
  bool verify = false;
  bool docs = false;
  bool version_of_tool = false;
  bool no_overlay = false;
  std::string root = ".";
  std::vector<std::string> headers;
  std::vector<std::string> include_folders;
  std::vector<std::string> clang_options;
  std::optional<std::string> version;
  std::optional<std::string> overlay;
  std::optional<std::string> out;
  std::optional<std::string> format;
};

bool begins(const std::string& text, const char* with) { return text.compare(0, std::strlen(with), with) == 0; }

// Clang's options that are so usual with headers that they need no "--" before them.
bool is_for_clang(const std::string& argument) {
  for (const char* name : {"-D", "-U", "-I", "-isystem", "--sysroot", "--std=", "-std="}) {
    if (begins(argument, name)) return true;
  }
  return false;
}
bool takes_another(const std::string& argument) {
  for (const char* name : {"-D", "-U", "-I", "-isystem", "--sysroot"}) {
    if (argument == name) return true;
  }
  return false;
}

// Throws UsageError for an option that would change the machine, or the layouts, that headers are read for.
void refuse_other_machines(const std::string& option) {
  for (const char* name :
       {"--target", "-target", "-m32", "-m64", "-mx32", "-march", "-mabi", "-fpack-struct", "-fshort-enums", "-fms-"}) {
    if (begins(option, name)) throw UsageError(option + " would change the machines that headers are read for");
  }
}

Options read_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == arguments.size()) throw UsageError(argument + " needs a value");
      if (arguments[i + 1].empty()) throw UsageError(argument + " needs a value that is not empty");
      return arguments[++i];
    };
    if (argument.empty()) {  // as of a variable of the shell that is not set
      throw UsageError("an argument is empty");
    } else if (argument == "--help" || argument == "-h") {
      options.help = true;
    } else if (argument == "--check") {
      options.check = true;
    } else if (argument == "--docs") {
      options.docs = true;
    } else if (argument == "--version") {
      options.version_of_tool = true;
    } else if (argument == "--no-overlay") {
      options.no_overlay = true;
    } else if (argument == "--verify") {
      options.verify = true;
    } else if (argument == "--root") {
      options.root = value();
    } else if (argument == "--include") {
      options.include_folders.push_back(value());
      options.clang_options.insert(options.clang_options.end(), {"-idirafter", options.include_folders.back()});
    } else if (argument == "--") {
      for (++i; i < arguments.size(); ++i) {
        refuse_other_machines(arguments[i]);
        options.clang_options.push_back(arguments[i]);
      }
    } else if (is_for_clang(argument)) {
      options.clang_options.push_back(argument.compare(0, 6, "--std=") == 0 ? argument.substr(1) : argument);
      if (takes_another(argument)) options.clang_options.push_back(value());
    } else if (argument == "--api-version") {
      options.version = value();
    } else if (argument == "--overlay") {
      options.overlay = value();
    } else if (argument == "--out") {
      options.out = value();
    } else if (argument == "--format") {
      options.format = value();
    } else if (argument.compare(0, 1, "-") == 0) {
      throw UsageError("unknown option " + argument);
    } else {
      options.headers.push_back(argument);
    }
  }
  return options;
}

// Paths stay short and relative if the root is the current folder, as messages and users want them.
std::string below(const std::string& root, const std::string& path) {
  return root == "." ? path : (fs::path(root) / path).string();
}

struct NamedFormat {
  const char* name;
  Format format;
};

// A command about headers themselves, with what it takes. The first format is the one that is not asked for.
struct HeaderCommand {
  const char* name;
  Command command;
  const char* takes;
  std::size_t headers;
  bool takes_overlay;
  std::vector<NamedFormat> formats;
};

const std::vector<HeaderCommand>& header_commands() {
  static const std::vector<HeaderCommand> kCommands = {
      {"diff",
       Command::kDiff,
       "OLD NEW",
       2,
       false,
       {{"text", Format::kText}, {"markdown", Format::kMarkdown}, {"json", Format::kJson}}},
      {"dump", Command::kDump, "HEADER", 1, false, {{"tree", Format::kTree}, {"json", Format::kJson}}},
      {"suggest", Command::kSuggest, "HEADER", 1, true, {}},
  };
  return kCommands;
}

Format read_format(const HeaderCommand& command, const std::optional<std::string>& asked) {
  if (!asked) return command.formats.empty() ? Format::kText : command.formats.front().format;
  std::string known;
  for (const auto& [name, format] : command.formats) {
    if (*asked == name) return format;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw UsageError(known.empty() ? command.name + std::string(" has one format only")
                                 : "no format " + *asked + "; there are " + known);
}

std::string project_of(const Options& options) { return below(options.root, "generator/bindgen.json"); }

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code none;
  return fs::equivalent(one, other, none);
}

// The user's, else the project's, if there is one; with the version that a header of the project is of.
void choose_overlay(const Options& options, CommandLine& line) {
  if (options.overlay) line.overlay = *options.overlay;
  if (options.overlay || !fs::exists(project_of(options))) return;
  const Project project = read_project(project_of(options));
  line.overlay = below(options.root, project.overlay);
  for (const Project::Set& set : project.sets) {
    const bool is_its_header = is_same_file(below(options.root, set.header), options.headers.front());
    if (is_its_header && line.version.empty()) line.version = set.version;
  }
}

CommandLine about_headers(const HeaderCommand& command, Options options) {
  const std::string name = command.name;
  if (options.headers.size() != command.headers) throw UsageError(name + " takes " + command.takes);
  if (options.check || options.verify || options.out || (options.version && !command.takes_overlay))
    throw UsageError(name + " generates nothing");
  if ((options.overlay || options.no_overlay) && !command.takes_overlay) throw UsageError(name + " takes no overlay");
  if (options.overlay && options.no_overlay) throw UsageError("--overlay and --no-overlay exclude each other");
  if (options.docs && command.command != Command::kDiff) throw UsageError("--docs is for diff");
  CommandLine line;
  line.command = command.command;
  line.format = read_format(command, options.format);
  line.docs = options.docs;
  line.version = options.version.value_or("");
  if (command.takes_overlay && !options.no_overlay) choose_overlay(options, line);
  line.headers = std::move(options.headers);
  line.clang_options = std::move(options.clang_options);
  return line;
}

// As a shell takes it.
std::string quoted(const std::string& argument) {
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) != 0 || std::strchr("_-+=./,:@%", c) != nullptr; };
  if (!argument.empty() && std::all_of(argument.begin(), argument.end(), is_plain)) return argument;
  std::string text = "'";
  for (const char character : argument) text += character == '\'' ? std::string("'\\''") : std::string(1, character);
  return text + "'";
}

// The headers that generated code includes: the user's choice, this repository's, those installed with this program.
std::vector<std::string> support_folders(const Options& options) {
  std::vector<std::string> folders = options.include_folders;
  folders.push_back(below(options.root, "include"));
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none);
  if (!none) folders.push_back((program.parent_path().parent_path() / "include").string());
  return folders;
}

CommandLine about_bindings(const Options& options, const std::vector<std::string>& arguments) {
  if (options.format) throw UsageError("--format is for diff and dump");
  if (options.docs) throw UsageError("--docs is for diff");
  if (options.no_overlay) throw UsageError("--no-overlay is for suggest");
  if (options.headers.size() > 1)
    throw UsageError("one header at a time: " + options.headers[0] + ", " + options.headers[1]);
  const bool has_header = !options.headers.empty();
  if (has_header && !options.version) throw UsageError("HEADER needs --api-version, e.g. --api-version 1.4.0");
  if (options.version && !has_header) throw UsageError("--api-version needs a HEADER");
  if (options.version && !is_version(*options.version)) {
    throw UsageError("no version: " + *options.version + " (a digit, then digits, letters, dots and hyphens)");
  }
  CommandLine line;
  line.command = options.check ? Command::kCheck : Command::kGenerate;
  line.is_of_project = !has_header;
  line.verify = options.verify;
  line.support_folders = support_folders(options);
  line.repeat = "rkllm-bindgen generate";
  for (const std::string& argument : arguments) {
    if (argument != "--check" && argument != "generate") line.repeat += " " + quoted(argument);
  }
  if (has_header) line.requests.push_back({options.headers.front(), *options.version, options.clang_options, {}});
  if (options.overlay) line.overlay = *options.overlay;
  if (options.out) line.out = *options.out;
  if (has_header && options.overlay && options.out) return line;

  const Project project = read_project(project_of(options));
  if (!options.overlay) line.overlay = below(options.root, project.overlay);
  if (!options.out) line.out = below(options.root, project.out);
  for (const Project::Set& set : project.sets) {
    if (!options.overlay) {
      line.known_versions.push_back(set.version);
      line.known_versions.insert(line.known_versions.end(), set.stands_for.begin(), set.stands_for.end());
    }
    if (has_header) continue;
    line.requests.push_back({below(options.root, set.header), set.version, options.clang_options, set.stands_for});
  }
  return line;
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
  Options options = read_options(arguments);
  if (options.help || options.version_of_tool || arguments.empty()) {
    CommandLine line;
    line.command = options.version_of_tool ? Command::kVersion : Command::kHelp;
    return line;
  }
  for (const HeaderCommand& command : header_commands()) {
    if (arguments.empty() || arguments.front() != command.name) continue;
    options.headers.erase(options.headers.begin());
    return about_headers(command, std::move(options));
  }
  if (arguments.front() == "generate") options.headers.erase(options.headers.begin());
  return about_bindings(options, arguments);
}

}  // namespace bindgen
