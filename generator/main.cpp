// rkllm-bindgen: a C header and an overlay become C++ bindings.
//
//   read        the header, with libclang: facts (c_facts.hpp)
//   overlay     the data file that says what C cannot
//   understand  facts + overlay: the meaning of every declaration (model.hpp)
//   check       rules that an understood API must keep
//   emit        files, in memory
//   output      written if they changed, or compared
#include "command_line.hpp"
#include "diagnostics.hpp"
#include "output.hpp"

#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

enum ExitCode { kDone = 0, kRefused = 1, kUsage = 2 };

int generate(const bindgen::CommandLine& line) {
  const auto changed = bindgen::write(line.out, bindgen::generate(line.requests, line.overlay));
  for (const std::string& path : changed) std::cout << line.out << "/" << path << "\n";
  std::cout << changed.size() << " files changed\n";
  return kDone;
}

int check(const bindgen::CommandLine& line) {
  const std::string differences = bindgen::differences(line.out, bindgen::generate(line.requests, line.overlay));
  if (differences.empty()) return kDone;
  std::cout << differences << line.out << " is stale; this brings it up to date:\n  " << line.repeat << "\n";
  return kRefused;
}

int run(const std::vector<std::string>& arguments) {
  const bindgen::CommandLine line = bindgen::parse_command_line(arguments);
  switch (line.command) {
    case bindgen::Command::kHelp: std::cout << bindgen::kHelpText; return kDone;
    case bindgen::Command::kGenerate: return generate(line);
    case bindgen::Command::kCheck: return check(line);
  }
  return kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const bindgen::UsageError& error) {
    std::cerr << "rkllm-bindgen: " << error.what() << "; see rkllm-bindgen --help\n";
    return kUsage;
  } catch (const std::exception& error) {  // a Refusal formats itself
    std::cerr << error.what();
    return kRefused;
  }
}
