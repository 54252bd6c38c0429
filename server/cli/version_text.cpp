#include "cli/version_text.hpp"

#include "app/from_settings.hpp"
#include "settings/load.hpp"
#include "version.hpp"

#include <rkllm_mcp/json.hpp>

#include <exception>
#include <optional>
#include <string_view>
#include <utility>

namespace rkllm_mcp {
namespace {

std::optional<LibraryFile> runtime_found() {
  try {
    return find_library(library_search(load_settings({std::nullopt, {}, current_environment()}).values));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::string words_of(const std::optional<LibraryFile>& runtime) {
  if (!runtime) return "none found";
  return runtime->version + (runtime->simulated ? " SIMULATED" : "") + ", " + runtime->path;
}

Json abi_sets() {
  Json sets = Json::array();
  constexpr std::string_view kBetween = ", ";
  for (std::string_view rest = kAbiSetVersions; !rest.empty();) {
    const auto end = rest.find(kBetween);
    sets.push_back(std::string(rest.substr(0, end)));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + kBetween.size());
  }
  return sets;
}

}  // namespace

std::string versions_line() {
  return "rkllm-mcp " + std::string(kProgramVersion) + " (ABI sets: " + std::string(kAbiSetVersions) +
         "; runtime: " + words_of(runtime_found()) + ")";
}

std::string versions_json() {
  Json runtime;
  if (const auto found = runtime_found()) {
    runtime = Json{{"version", found->version}, {"path", found->path}, {"simulated", found->simulated}};
  }
  return Json{{"version", std::string(kProgramVersion)}, {"abi_sets", abi_sets()}, {"runtime", std::move(runtime)}}
      .dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace rkllm_mcp
