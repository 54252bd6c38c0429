// The runtime library: found, for this machine, of a version that this program knows, with all that it needs.
#include "doctor/doctor.hpp"
#include "library/elf_file.hpp"
#include "library/library_file.hpp"
#include "library/loaded_library.hpp"
#include "text/shown.hpp"

#include <rkllm_mcp/abi_set.hpp>
#include <rkllm_mcp/errors.hpp>

#include <array>
#include <exception>
#include <fstream>
#include <iterator>
#include <optional>

namespace rkllm_mcp::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "library";
constexpr const char* kLibraryUrl =
    "https://github.com/airockchip/rknn-llm/raw/main/rkllm-runtime/Linux/librkllm_api/aarch64/librkllmrt.so";
constexpr std::array kFolders{"usr/local/lib",
                              "lib/aarch64-linux-gnu",
                              "usr/lib/aarch64-linux-gnu",
                              "lib",
                              "usr/lib",
                              "lib/arm-linux-gnueabihf",
                              "usr/lib64",
                              "usr/lib/arm-linux-gnueabihf",
                              "lib64",
                              "usr/lib/x86_64-linux-gnu",
                              "lib/x86_64-linux-gnu"};

std::optional<fs::path> find_below(const Machine& machine, const std::string& name) {
  for (const char* const folder : kFolders) {
    std::error_code error;
    const fs::path path = machine.root / folder / name;
    if (fs::is_regular_file(path, error)) return path;
  }
  return std::nullopt;
}

// The library that the settings lead to. Throws what inspect_library() throws.
LibraryFile library_of(const Machine& machine) {
  const RuntimeSettings& runtime = machine.settings.runtime;
  if (runtime.library == kSimulatorLibrary) return find_library({{}, LibrarySearch::Simulator::kAlways});
  if (!runtime.library.empty()) return inspect_library(runtime.library);
  if (machine.root == "/") return find_library({});
  const auto found = find_below(machine, "librkllmrt.so");
  if (!found) throw std::runtime_error("no librkllmrt.so on this system");
  return inspect_library(found->string());
}

// Without "runtime unavailable: ", which only clients have to be told.
std::string reason_of(const std::exception& error) {
  const auto* const unavailable = dynamic_cast<const RpcError*>(&error);
  const bool has_reason = unavailable != nullptr && unavailable->code() == ErrorCode::kRuntimeUnavailable;
  return has_reason ? unavailable->data().value("reason", std::string(error.what())) : error.what();
}

std::string content_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void examine_needs(const Machine& machine, const LibraryFile& file, Findings& findings) {
  for (const std::string& name : needed_libraries(content_of_file(file.path))) {
    const bool is_there = find_below(machine, name) || (machine.root == "/" && find_in_system(name)) ||
                          fs::exists(fs::path(file.path).parent_path() / name);
    if (is_there) continue;
    findings.push_back({kLibrary, Level::kProblem, file.path + " needs " + name + ", which is not there",
                        name.starts_with("libgomp") ? "sudo apt-get install libgomp1"
                                                    : "apt-file search " + name + "   # then install that package"});
  }
}

}  // namespace

// A server that runs has the old file mapped, and would crash if it was written over.
std::string fetch_library(const Machine& machine) {
  const std::string& named = machine.settings.runtime.library;
  const bool is_default = named.empty() || named == kSimulatorLibrary;
  const fs::path path = is_default ? fs::path("/usr/lib/librkllmrt.so") : fs::path(named);
  const std::string fresh = shell_word(path.string() + ".new");
  std::string folder;
  std::error_code error;
  if (path.has_parent_path() && !is_default && !fs::is_directory(path.parent_path(), error)) {
    folder = "sudo mkdir -p " + shell_word(path.parent_path().string()) + " && ";
  }
  return folder + "sudo curl -fLo " + fresh + " " + kLibraryUrl + " && sudo mv " + fresh + " " +
         shell_word(path.string());
}

std::string runtime_version_of(const Machine& machine) {
  try {
    return library_of(machine).version;
  } catch (const std::exception&) {
    return {};  // examine_library() tells
  }
}

Findings examine_library(const Machine& machine) {
  LibraryFile file;
  try {
    file = library_of(machine);
  } catch (const std::exception& error) {
    return {{kLibrary, Level::kProblem, reason_of(error),
             platform_of(machine).empty() ? "rkllm-mcp serve --simulator   # on a machine without an NPU"
                                          : fetch_library(machine)}};
  }
  Findings findings;
  if (file.simulated) {
    findings.push_back({kLibrary, Level::kWarning, file.path + " is the simulator: answers are made up, no model runs",
                        "rkllm-mcp serve --set runtime.library=   # on a board; and so in the settings file"});
  }
  try {
    const AbiChoice choice = choose_abi_set(file.version, machine.settings.runtime.abi);
    const std::string text =
        file.path + ", version " + file.version + ", used with ABI set " + std::string(choice.set->version);
    if (!choice.warning.empty()) {
      findings.push_back(
          {kLibrary, Level::kWarning, choice.warning,
           "rkllm-mcp serve --set runtime.abi=VERSION   # if answers are wrong; rkllm-mcp --version shows the sets"});
    } else if (!file.simulated) {
      findings.push_back({kLibrary, Level::kOk, text});
    }
  } catch (const std::exception& error) {
    findings.push_back({kLibrary, Level::kProblem, error.what(), fetch_library(machine)});
  }
  examine_needs(machine, file, findings);
  return findings;
}

}  // namespace rkllm_mcp::doctor
