// The second input: a data file that says what C cannot. Each entry names one declaration and quotes it.
// Also the order of the versions that it tells of.
#pragma once

#include "meaning/model.hpp"
#include "read/c_facts.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bindgen {

struct OverlayEntry {
  std::string path;    // of what it is about, see model.hpp
  std::string quote;   // the declaration it was written for
  Location at;         // of the entry, in the overlay
  std::string says;    // the key that tells what it is: "array"; empty if the C type alone does
  std::string guess;   // a proposal that nobody has looked at yet: no meaning, and to be refused; empty: it is none
  std::string reason;  // of a proposal
  std::optional<Meaning> meaning;
  std::optional<FunctionRole> function;
  std::optional<Stream> stream;
  std::optional<Constant> default_value;
  std::optional<Constant> wire_default;
  std::string remembered_as;
  std::string documentation;
  std::optional<std::string> brief;  // the documentation in few words, for lists of tools
  std::string group;                 // the object that a field stands in on the wire
  std::string since;                 // the versions it is about, both inclusive; empty: no limit
  std::string until;
  bool default_is_unknown = false;  // in this version
  std::string default_since;        // the first version that the default is known of; empty: all
};

struct Overlay {
  std::string path;  // as it was given
  std::string sha256;
  std::string cpp_namespace;
  std::string include_root;
  std::vector<HandleValue> handle_values;
  std::map<std::string, Meaning> returns;      // by C type
  std::map<std::string, std::string> groups;   // objects that fields stand in on the wire: their documentation
  std::map<std::string, std::string> renamed;  // older name of a struct: the name it has now
  std::vector<std::string> methods;            // the functions that become methods; empty: all
  std::vector<OverlayEntry> entries;
};

extern const char* const kOverlaySchema;  // overlay/overlay.schema.json, compiled in

// Both throw Refusal if the text is no JSON, breaks overlay.schema.json, or has an entry that says two things at once.
Overlay read_overlay(const std::string& path);
Overlay parse_overlay(const std::string& text, const std::string& path);  // `path` is for complaints

// What it says about one version; "" is a version newer than all known.
Overlay at_version(const Overlay& overlay, const std::string& version);
// Throws Refusal if an entry is about none of the known versions. With only one known, entries that end before it may
// stay: they are about older headers.
void refuse_idle_entries(const Overlay& overlay, const std::vector<std::string>& known);

// --- versions of an interface, in order: "1.2.0" < "1.2.1b1" (a beta of 1.2.1) < "1.2.1" < "1.3.0"

// Digits, then digits, letters, dots and hyphens: what can be part of a C++ name and of a path.
bool is_version(std::string_view text);
// Negative, zero or positive, as `left` is older than, the same as, or newer than `right`.
int compare_versions(std::string_view left, std::string_view right);

}  // namespace bindgen
