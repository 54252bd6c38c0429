// The flow from inputs to files, as one function: read, overlay, understand, check, emit.
#pragma once

#include "diagnostics.hpp"
#include "emit/emit.hpp"
#include "overlay/overlay.hpp"

#include <string>
#include <vector>

namespace bindgen {

// One ABI set to generate.
struct Request {
  std::string header;  // path
  std::string version;
  std::vector<std::string> clang_options = {};  // for reading the header
  std::vector<std::string> stands_for = {};  // every version with this interface, oldest first; empty: this one alone
};

// Both throw Refusal if an input cannot be used.
Api read_api(const Request& request, const Overlay& overlay);
// `known` are versions that the overlay may speak of although they are not generated now. `warnings`: gets what is left
// out of the headers, if it is not null.
std::vector<File> generate(const std::vector<Request>& requests, const std::string& overlay_path,
                           std::vector<std::string> known = {}, std::vector<Diagnostic>* warnings = nullptr);

}  // namespace bindgen
