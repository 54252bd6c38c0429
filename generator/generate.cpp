#include "generate.hpp"

#include "check.hpp"
#include "overlay.hpp"
#include "read_header.hpp"
#include "understand.hpp"

#include <utility>

namespace bindgen {

Api read_api(const Request& request, const std::string& overlay_path) {
  const Overlay overlay = read_overlay(overlay_path);
  Api api = understand(read_header(request.header, request.include_folders), overlay, request.version);
  check(api);
  return api;
}

std::vector<File> generate(const std::vector<Request>& requests, const std::string& overlay_path) {
  std::vector<Api> sets;
  std::vector<File> files;
  for (const Request& request : requests) {
    sets.push_back(read_api(request, overlay_path));
    for (File& file : emit_set(sets.back())) files.push_back(std::move(file));
  }
  for (File& file : emit_shared(sets, files)) files.push_back(std::move(file));
  return files;
}

}  // namespace bindgen
