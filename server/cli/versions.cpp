#include "cli/versions.hpp"

#include "app/runtime_search.hpp"
#include "settings/load.hpp"
#include "version.hpp"

#include <exception>

namespace rkllm_mcp {
namespace {

std::string runtime_found() {
  try {
    const LibraryFile file =
        find_library(library_search(load_settings({std::nullopt, {}, current_environment()}).values));
    return file.version + (file.simulated ? " SIMULATED" : "") + ", " + file.path;
  } catch (const std::exception&) {
    return "none found";
  }
}

}  // namespace

std::string versions_line() {
  return "rkllm-mcp " + std::string(kProgramVersion) + " (ABI sets: " + std::string(kAbiSetVersions) +
         "; runtime: " + runtime_found() + ")";
}

}  // namespace rkllm_mcp
