#include "generate.hpp"

#include "check.hpp"
#include "elsewhere.hpp"
#include "read_header.hpp"
#include "understand.hpp"

#include <utility>

namespace bindgen {

Api read_api(const Request& request, const Overlay& overlay) {
  Api api = understand(read_header(request.header, request.include_folders), at_version(overlay, request.version),
                       request.version);
  api.stands_for = request.stands_for.empty() ? std::vector{request.version} : request.stands_for;
  check(api);
  return api;
}

std::vector<File> generate(const std::vector<Request>& requests, const std::string& overlay_path,
                           std::vector<std::string> known) {
  const Overlay overlay = read_overlay(overlay_path);
  for (const Request& request : requests) known.push_back(request.version);
  refuse_idle_entries(overlay, known);
  std::vector<Api> sets;
  for (const Request& request : requests) sets.push_back(read_api(request, overlay));
  note_elsewhere(sets);
  return emit(sets);
}

}  // namespace bindgen
