// The second input: a data file that says what C cannot. Each entry names one declaration and quotes it.
#pragma once

#include "c_facts.hpp"
#include "model.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bindgen {

struct OverlayEntry {
  std::string path;   // of what it is about, see model.hpp
  std::string quote;  // the declaration it was written for
  Location at;        // of the entry, in the overlay
  std::optional<Meaning> meaning;
  std::optional<FunctionRole> function;
  std::optional<Stream> stream;
  std::optional<Constant> default_value;
  std::optional<Constant> wire_default;
  std::string remembered_as;
  std::string documentation;
};

struct Overlay {
  std::string path;  // as it was given
  std::string sha256;
  std::string cpp_namespace;
  std::string include_root;
  std::vector<SessionValue> session;
  std::map<std::string, Meaning> returns;  // by C type
  std::vector<OverlayEntry> entries;
};

// Throws Refusal if the file is no JSON, breaks overlay.schema.json, or has an entry that says two things at once.
Overlay read_overlay(const std::string& path);

}  // namespace bindgen
