#include "generate.hpp"

#include "check/rules.hpp"
#include "meaning/understand.hpp"
#include "read/header.hpp"

#include <utility>

namespace bindgen {

Api read_api(const Request& request, const Overlay& overlay) {
  c::Header header = read_header(request.header, request.clang_options);
  if (!header.borrowed.empty()) {
    Diagnostic complaint = warning_of_borrowed(header);
    complaint.severity = Severity::kError;
    complaint.message += "; what is said of another one may be wrong";
    throw Refusal({std::move(complaint)});
  }
  Api api = understand(std::move(header), at_version(overlay, request.version), request.version);
  api.stands_for = request.stands_for.empty() ? std::vector{request.version} : request.stands_for;
  check(api);
  return api;
}

std::vector<File> generate(const std::vector<Request>& requests, const std::string& overlay_path,
                           std::vector<std::string> known, std::vector<Diagnostic>* warnings) {
  const Overlay overlay = read_overlay(overlay_path);
  for (const Request& request : requests) {
    known.push_back(request.version);
    known.insert(known.end(), request.stands_for.begin(), request.stands_for.end());
  }
  refuse_idle_entries(overlay, known);
  std::vector<Api> sets;
  for (const Request& request : requests) {
    sets.push_back(read_api(request, overlay));
    if (warnings == nullptr) continue;
    for (Diagnostic& warning : warnings_of_machines(sets.back().header)) warnings->push_back(std::move(warning));
    for (Diagnostic& warning : warnings_of_variables(sets.back().header)) warnings->push_back(std::move(warning));
  }
  note_elsewhere(sets);
  return emit(sets);
}

}  // namespace bindgen
