// rkllm-bindgen: a C header and an overlay become C++ bindings.
//
//   read        the header, with libclang: facts (c_facts.hpp)
//   overlay     the data file that says what C cannot
//   understand  facts + overlay: the meaning of every declaration (model.hpp)
//   check       rules that an understood API must keep
//   emit        files, in memory
//   verify      that they compile, if that is asked for
//   output      written if they changed, or compared
//
// Beside that, three commands about headers themselves: diff compares two, dump shows what was read, suggest proposes
// what to write into the overlay.
#include "bindgen_command.hpp"
#include "check/verify.hpp"
#include "compare/diff.hpp"
#include "compare/dump.hpp"
#include "diagnostics.hpp"
#include "meaning/understand.hpp"
#include "output.hpp"
#include "overlay/overlay.hpp"
#include "read/header.hpp"

#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

enum ExitCode { kDone = 0, kRefused = 1, kUsage = 2, kBreaking = 3 };

void tell(const std::vector<bindgen::Diagnostic>& warnings) {
  for (const bindgen::Diagnostic& warning : warnings) std::cerr << bindgen::format(warning);
}

// What the tool makes of a header that is not quite text.
void warn_of(const std::string& header) { tell(bindgen::replaced_text(header)); }

bindgen::c::Header read(const std::string& path, const bindgen::CommandLine& line) {
  bindgen::c::Header header = bindgen::read_header(path, line.clang_options);
  if (!header.borrowed.empty()) tell({bindgen::warning_of_borrowed(header)});
  tell(bindgen::warnings_of_machines(header));
  return header;
}

std::vector<bindgen::File> generated(const bindgen::CommandLine& line) {
  if (!line.is_of_project) bindgen::refuse_other_sets(line.out, line.requests.front().version);
  for (const bindgen::Request& request : line.requests) warn_of(request.header);
  bindgen::refuse_other_namespace(bindgen::read_overlay(line.overlay), line.support_folders);
  std::vector<bindgen::Diagnostic> warnings;
  auto files = bindgen::generate(line.requests, line.overlay, line.known_versions, &warnings);
  tell(warnings);
  if (line.verify) bindgen::verify(files, line.support_folders, line.out);
  return files;
}

int generate(const bindgen::CommandLine& line) {
  const auto changed = bindgen::write(line.out, generated(line));
  for (const std::string& path : changed) std::cout << line.out << "/" << path << "\n";
  std::cout << changed.size() << " files changed\n";
  return kDone;
}

int check(const bindgen::CommandLine& line) {
  const auto files = generated(line);
  const std::string differences = bindgen::differences(line.out, files);
  const std::string extra = bindgen::extra_files(line.out, files);
  if (differences.empty() && extra.empty()) return kDone;
  std::cout << differences << extra;
  if (!differences.empty()) std::cout << line.out << " is stale; this brings it up to date:\n  " << line.repeat << "\n";
  return kRefused;
}

int diff(const bindgen::CommandLine& line) {
  const std::string& before = line.headers.at(0);
  const std::string& after = line.headers.at(1);
  const auto old = read(before, line);
  const auto now = read(after, line);
  auto changes = bindgen::diff(old, now);
  if (line.docs) {
    const auto of_words = bindgen::documentation_changes(old, now, changes);
    changes.insert(changes.end(), of_words.begin(), of_words.end());
  }
  switch (line.format) {
    case bindgen::Format::kMarkdown: std::cout << bindgen::diff_as_markdown(changes, before, after); break;
    case bindgen::Format::kJson: std::cout << bindgen::diff_as_json(changes, before, after); break;
    case bindgen::Format::kText:
    case bindgen::Format::kTree: std::cout << bindgen::diff_as_text(changes, before, after); break;
  }
  return bindgen::breaks(changes) == bindgen::Breaks::kNone ? kDone : kBreaking;
}

int dump(const bindgen::CommandLine& line) {
  const auto header = read(line.headers.at(0), line);
  std::cout << (line.format == bindgen::Format::kJson ? bindgen::dump_json(header) : bindgen::dump_tree(header));
  return kDone;
}

int suggest(const bindgen::CommandLine& line) {
  const auto overlay = line.overlay.empty() ? bindgen::Overlay()
                                            : bindgen::at_version(bindgen::read_overlay(line.overlay), line.version);
  const auto needs = bindgen::needs_of(read(line.headers.at(0), line), overlay);
  std::cout << bindgen::suggest_entries(needs.unanswered);
  for (const bindgen::Diagnostic& diagnostic : needs.in_the_way) std::cerr << bindgen::format(diagnostic);
  return needs.in_the_way.empty() ? kDone : kRefused;
}

int run(const std::vector<std::string>& arguments) {
  const bindgen::CommandLine line = bindgen::parse_command_line(arguments);
  for (const std::string& header : line.headers) warn_of(header);
  switch (line.command) {
    case bindgen::Command::kHelp: std::cout << bindgen::kHelpText; return kDone;
    case bindgen::Command::kVersion:
      std::cout << "rkllm-bindgen " << BINDGEN_VERSION << ", with " << bindgen::clang_version() << "\n";
      return kDone;
    case bindgen::Command::kGenerate: return generate(line);
    case bindgen::Command::kCheck: return check(line);
    case bindgen::Command::kDiff: return diff(line);
    case bindgen::Command::kDump: return dump(line);
    case bindgen::Command::kSuggest: return suggest(line);
  }
  return kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int exit_code = run({argv + 1, argv + argc});
    std::cout.flush();
    if (std::cout) return exit_code;
    std::cerr << "rkllm-bindgen: standard output cannot be written\n";
    return kRefused;
  } catch (const bindgen::UsageError& error) {
    std::cerr << "rkllm-bindgen: " << error.what() << "; see rkllm-bindgen --help\n";
    return kUsage;
  } catch (const bindgen::Refusal& refusal) {
    std::cerr << refusal.what();
    return kRefused;
  } catch (const std::exception& error) {  // memory has run out, or this tool has a fault
    std::cerr << "rkllm-bindgen: " << error.what() << "\n";
    return kRefused;
  }
}
