#include "cli/doctor_command.hpp"

#include "cli/exit_codes.hpp"
#include "cli/help/terminal.hpp"
#include "cli/serve_options.hpp"
#include "doctor/doctor.hpp"
#include "settings/refused.hpp"

#include <netdb.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
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

void print_for_people(const doctor::Findings& findings) {
  const Paint paint(STDOUT_FILENO);
  constexpr std::size_t kLevelWidth = 9;
  for (const Finding& each : findings) {
    const std::string level = word_of(each.level);
    std::printf("%s%s%s: %s\n", in_colour(paint, each.level, level).c_str(),
                std::string(kLevelWidth - level.size(), ' ').c_str(), each.subject.c_str(), each.text.c_str());
    if (!each.cure.empty()) std::printf("%s%s\n", std::string(kLevelWidth, ' ').c_str(), paint.bold(each.cure).c_str());
  }
  std::printf("%s, %s\n", counted(count_of(findings, Level::kProblem), "problem").c_str(),
              counted(count_of(findings, Level::kWarning), "warning").c_str());
}

// Where a cure is a command of ours that reads the settings, it reads those that doctor has read.
std::string with_settings(std::string cure, const SettingsRequest& request) {
  if (!cure.starts_with("rkllm-mcp ") || cure.starts_with("rkllm-mcp --")) return cure;
  const std::string options = as_options(request, cure);
  return cure.insert(std::min(cure.find("   #"), cure.size()), options);
}

}  // namespace

int run_doctor(const DoctorOptions& options, const SettingsRequest& request) {
  doctor::Machine machine;
  doctor::Findings findings;
  try {
    LoadedSettings loaded = load_settings(request);
    machine.settings = std::move(loaded.values);
    machine.settings_file = std::move(loaded.file);
  } catch (const SettingsRefused& refused) {  // the rest is looked at as if there were none
    for (const std::string& line : refused.lines()) {
      findings.push_back({"settings", Level::kProblem, line, "rkllm-mcp settings path   # the file to mend"});
    }
  }
  if (!options.root.empty()) machine.root = options.root;
  if (options.root.empty()) machine.resolve = has_address;
  std::ranges::move(doctor::examine(machine), std::back_inserter(findings));
  for (Finding& each : findings) each.cure = with_settings(std::move(each.cure), request);
  if (options.json) {
    print_as_json(findings);
  } else {
    print_for_people(findings);
  }
  return count_of(findings, Level::kProblem) == 0 ? kExitOk : kExitFailed;
}

}  // namespace rkllm_mcp
