// Who may read what is secret, and who may change what the server obeys.
#include "doctor/doctor.hpp"
#include "text/shown.hpp"

#include <sys/stat.h>

namespace rkllm_mcp::doctor {
namespace {

constexpr const char* kPermissions = "permissions";

enum class Keep { kUnchanged, kUnread };  // by other users

void examine_file(const std::string& path, const std::string& what, Keep keep, Findings& findings) {
  if (path.empty()) return;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    findings.push_back({kPermissions, Level::kProblem, path + " (" + what + ") is not there, or cannot be reached",
                        "ls -l " + shell_word(path) + "   # then put it there, or take it out of the settings"});
    return;
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    findings.push_back({kPermissions, Level::kProblem, path + " (" + what + ") can be changed by other users",
                        "chmod go-w " + shell_word(path)});
    return;
  }
  if (keep == Keep::kUnread && (status.st_mode & (S_IRGRP | S_IROTH)) != 0) {
    findings.push_back({kPermissions, Level::kProblem, path + " (" + what + ") can be read by other users",
                        "chmod 600 " + shell_word(path)});
    return;
  }
  findings.push_back({kPermissions, Level::kOk, path + " (" + what + ")"});
}

}  // namespace

Findings examine_secrets(const Machine& machine) {
  Findings findings;
  const Settings& settings = machine.settings;
  examine_file(machine.settings_file, "settings", Keep::kUnchanged, findings);
  examine_file(settings.auth.tokens, "access tokens", Keep::kUnread, findings);
  examine_file(settings.tls.key, "private key", Keep::kUnread, findings);
  if (findings.empty()) findings.push_back({kPermissions, Level::kOk, "no files with settings or secrets"});
  return findings;
}

}  // namespace rkllm_mcp::doctor
