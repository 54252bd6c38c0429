#include "generate.hpp"

#include "check.hpp"
#include "elsewhere.hpp"
#include "overlay.hpp"
#include "read_header.hpp"
#include "understand.hpp"

#include <utility>

namespace bindgen {

Api read_api(const Request& request, const std::string& overlay_path) {
  const Overlay overlay = at_version(read_overlay(overlay_path), request.version);
  Api api = understand(read_header(request.header, request.include_folders), overlay, request.version);
  api.stands_for = request.stands_for.empty() ? std::vector{request.version} : request.stands_for;
  check(api);
  return api;
}

std::vector<File> generate(const std::vector<Request>& requests, const std::string& overlay_path) {
  std::vector<std::string> versions;
  for (const Request& request : requests) versions.push_back(request.version);
  refuse_idle_entries(read_overlay(overlay_path), versions);
  std::vector<Api> sets;
  for (const Request& request : requests) sets.push_back(read_api(request, overlay_path));
  note_elsewhere(sets);
  return emit(sets);
}

}  // namespace bindgen
