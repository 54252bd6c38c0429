// What generating from a made-up header and overlay says.
#pragma once

#include "temporary.hpp"

#include "diagnostics.hpp"
#include "generate.hpp"

#include <string>

namespace bindgen::test {

// The complaints, with the inputs called x.h and x.overlay.json; or "accepted".
inline std::string refusal(const std::string& header, const std::string& overlay) {
  const auto folder = scratch("refusals");
  const std::string header_path = file(folder, "x.h", header);
  const std::string overlay_path = file(folder, "x.overlay.json", overlay);
  try {
    generate({{header_path, "1.0"}}, overlay_path);
  } catch (const Refusal& refused) {
    std::string text = refused.what();
    for (auto at = text.find(folder.string() + "/"); at != std::string::npos; at = text.find(folder.string() + "/")) {
      text.erase(at, folder.string().size() + 1);
    }
    return text;
  }
  return "accepted";
}

}  // namespace bindgen::test
