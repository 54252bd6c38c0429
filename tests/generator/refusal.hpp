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

// The same of a header, and an overlay with these entries for it.
inline std::string with_entry(const std::string& header, const std::string& entries) {
  return refusal(header, overlay(entries));
}

// Of a struct with one field `a` of this type, and what the overlay says of it besides the quote.
inline const std::string kTag = "typedef enum { kA, kB } T;\n";
inline std::string with_field(const std::string& type, const std::string& says) {
  return with_entry(kTag + "typedef struct {\n  " + type + " a;\n} S;",
                    R"({"for":"S.a","quote":")" + type + R"( a",)" + says + "}");
}

}  // namespace bindgen::test
