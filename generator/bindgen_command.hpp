// What the user asks for, from the arguments of the program and the project file that fills in what they leave out.
#pragma once

#include "generate.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace bindgen {

// The arguments make no sense. what() says why, in one line.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Command { kHelp, kVersion, kGenerate, kCheck, kDiff, kDump, kSuggest };
enum class Format { kText, kMarkdown, kJson, kTree };

struct CommandLine {
  Command command = Command::kGenerate;
  std::vector<Request> requests;            // of kGenerate and kCheck
  bool is_of_project = false;               // the requests are all sets of the project file
  std::vector<std::string> known_versions;  // other versions that the overlay may name, beside those of the requests
  std::string overlay;                      // empty: none
  std::string version;                      // of the header, for a command about one; empty: newer than all known
  std::string out;
  bool verify = false;                       // compile the output before it is used
  std::vector<std::string> support_folders;  // where the support headers may be
  std::string repeat;                        // of kCheck: the command that brings the files up to date
  std::vector<std::string> headers;          // of the other commands: two for kDiff, else one
  std::vector<std::string> clang_options;    // for reading the headers
  Format format = Format::kText;
  bool docs = false;  // of kDiff: documentation, too
};

extern const char* const kHelpText;

// Throws UsageError; Refusal if the project file cannot be read.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace bindgen
