#include "cli/run_command.hpp"

#include "cli/help/terminal.hpp"
#include "cli/serve_options.hpp"
#include "doctor/doctor.hpp"
#include "settings/refused.hpp"
#include "text/shown.hpp"
#include "text/utf8.hpp"

#include <netdb.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace rkllm_mcp {
namespace {

using doctor::Finding;
using doctor::Level;

const char* word_of(Level level) {
  switch (level) {
    case Level::kOk: return "ok";
    case Level::kWarning: return "warning";
    case Level::kProblem: return "problem";
  }
  return "";
}

std::string in_colour(const Paint& paint, Level level, const std::string& text) {
  switch (level) {
    case Level::kOk: return paint.green(text);
    case Level::kWarning: return paint.yellow(text);
    case Level::kProblem: return paint.red(text);
  }
  return text;
}

bool has_address(const std::string& host) {
  addrinfo* found = nullptr;
  const bool is_there = ::getaddrinfo(host.c_str(), nullptr, nullptr, &found) == 0;
  if (is_there) ::freeaddrinfo(found);
  return is_there;
}

std::ptrdiff_t count_of(const doctor::Findings& findings, Level level) {
  return std::count_if(findings.begin(), findings.end(), [level](const Finding& each) { return each.level == level; });
}

std::string counted(std::ptrdiff_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

void print_as_json(const doctor::Findings& findings) {
  Json list = Json::array();
  for (const Finding& each : findings) {
    list.push_back(Json{{"subject", each.subject},
                        {"level", word_of(each.level)},
                        {"text", each.text},
                        {"cure", each.cure.empty() ? Json(nullptr) : Json(each.cure)}});
  }
  print_json(Json{{"findings", std::move(list)},
                  {"problems", count_of(findings, Level::kProblem)},
                  {"warnings", count_of(findings, Level::kWarning)}});
}

constexpr std::size_t kLevelWidth = 9;
constexpr const char* kBeforeRemark = "   #";  // behind the command of a cure

// A cure on lines of its own. A command is never broken; what is remarked on it goes below where there is no room.
std::string cure_lines(const std::string& cure, std::optional<std::size_t> width, const Paint& paint) {
  const std::string indent(kLevelWidth, ' ');
  const std::size_t end = cure.find(kBeforeRemark);
  const bool fits = !width || kLevelWidth + characters_in(cure) <= *width;
  if (fits || end == std::string::npos) return indent + paint.bold(cure) + "\n";
  return indent + paint.bold(cure.substr(0, end)) + "\n" + indent +
         paint.bold(wrapped(cure.substr(end), *width, kLevelWidth)) + "\n";
}

void print_for_people(const doctor::Findings& findings) {
  const Paint paint(STDOUT_FILENO);
  std::optional<std::size_t> width;  // of a terminal
  if (::isatty(STDOUT_FILENO) == 1) width = columns_of(STDOUT_FILENO);
  for (const Finding& each : findings) {
    const std::string level = word_of(each.level);
    const std::string text = each.subject + ": " + each.text;
    std::printf("%s%s%s\n", in_colour(paint, each.level, level).c_str(),
                std::string(kLevelWidth - level.size(), ' ').c_str(),
                (width ? wrapped(text, *width, kLevelWidth) : text).c_str());
    if (!each.cure.empty()) std::printf("%s", cure_lines(each.cure, width, paint).c_str());
  }
  std::printf("%s, %s\n", counted(count_of(findings, Level::kProblem), "problem").c_str(),
              counted(count_of(findings, Level::kWarning), "warning").c_str());
}

// Where a cure is a command of ours that reads the settings, it reads those that doctor has read.
std::string with_settings(std::string cure, const SettingsRequest& request) {
  if (!cure.starts_with("rkllm-mcp ") || cure.starts_with("rkllm-mcp --")) return cure;
  const std::string options = as_options(request, cure);
  return cure.insert(std::min(cure.find(kBeforeRemark), cure.size()), options);
}

// What to do about a line of what is refused, which begins with the place that it is about.
std::string cure_of_refused(const std::string& line, const SettingsRequest& request) {
  const auto is_about = [&line](const std::string& place) { return line.starts_with(place + ": "); };
  for (const Assignment& each : request.assignments) {
    if (is_about(each.place)) return "leave out " + each.place + ", or correct it";
  }
  for (const auto& [name, value] : request.environment) {
    if (is_about(name)) return "unset " + name + kBeforeRemark + " or correct it";
  }
  if (!request.path) return std::string("rkllm-mcp settings path") + kBeforeRemark + " the file to mend";
  return "rkllm-mcp settings check " + shell_word(*request.path) + kBeforeRemark + " until it is right";
}

}  // namespace

int run_doctor(const DoctorOptions& options, const SettingsRequest& request) {
  doctor::Machine machine;
  doctor::Findings findings;
  bool is_refused = false;
  try {
    LoadedSettings loaded = load_settings(request);
    machine.settings = std::move(loaded.values);
    machine.settings_file = std::move(loaded.file);
  } catch (const SettingsRefused& refused) {  // the rest is looked at as if there were none
    for (const std::string& line : refused.lines()) {
      findings.push_back({"settings", Level::kProblem, line, cure_of_refused(line, request)});
    }
    findings.push_back(
        {"built-in settings", Level::kWarning, "all else was looked at with them, since yours are refused"});
    is_refused = true;
  }
  if (options.root.empty()) {
    machine.resolve = has_address;
    machine.variable = [](const char* name) -> const char* { return std::getenv(name); };
  } else {
    machine.root = options.root;
  }
  std::ranges::move(doctor::examine(machine), std::back_inserter(findings));
  if (!is_refused) {  // else the commands would be refused as well
    for (Finding& each : findings) each.cure = with_settings(std::move(each.cure), request);
  }
  if (options.json) {
    print_as_json(findings);
  } else {
    print_for_people(findings);
  }
  return count_of(findings, Level::kProblem) == 0 ? kExitOk : kExitFailed;
}

}  // namespace rkllm_mcp
