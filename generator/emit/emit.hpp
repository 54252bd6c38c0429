// The last step before writing: an understood API becomes files, in memory. The same API gives the same bytes, on every
// machine and with every libclang.
#pragma once

#include "emit/code_text.hpp"
#include "emit/several_versions.hpp"
#include "meaning/model.hpp"

#include <string>
#include <vector>

namespace bindgen {

struct File {
  std::string path;  // inside the output folder
  std::string text;
};

// Where code stands: in the namespace and the folder of one version, or in those that all versions share.
struct Home {
  std::string cpp_namespace;  // of the output
  std::string include_root;
  std::string name;     // "v1_3_0", "any_version"
  std::string sources;  // of what it is generated, for the comment at the beginning

  // "<root/v1_3_0/abi.hpp>"
  std::string include(const std::string& header) const;
};
Home home_of(const Api& api);
// The home of what is written once for all sets; if there is only one set, that set's own home.
Home shared_home(const std::vector<Api>& sets);

// A generated header under way: what it is, what it includes, and its sections.
struct HeaderFile {
  Home home;
  std::string name;  // "abi"
  std::string about;
  std::vector<std::string> includes;
  CodeText code = {};  // the section under way
  std::string body = {};
  std::string after = {};  // behind the end of the namespace: code in the namespaces of the versions

  // Ends a section. Nothing if nothing was written.
  void end_section();
};

// The files. A header without sections gives no file, and the other headers do not include it.
std::vector<File> render(const std::vector<HeaderFile>& headers);

// All files of all ABI sets, which go from old to new.
std::vector<File> emit(const std::vector<Api>& sets);

// Of each version:
HeaderFile emit_abi(const Api& api);        // types and the table of functions
HeaderFile emit_enums(const Api& api);      // enumerators by name
HeaderFile emit_defaults(const Api& api);   // what absent fields hold
HeaderFile emit_constants(const Api& api);  // macros, and every fact that can be asked for by name
// Once for all of them:
HeaderFile emit_types(const std::vector<Api>& sets);   // types by one name for all versions; no file if only one set
HeaderFile emit_codecs(const std::vector<Api>& sets);  // JSON to struct and back
// emit_schemas() comes first: emit_methods() asks `texts` which schemas differ between versions.
HeaderFile emit_schemas(const std::vector<Api>& sets, SharedTexts& texts);  // JSON Schemas of parameters and results
HeaderFile emit_methods(const std::vector<Api>& sets, SharedTexts& texts);  // one stub per function
// The ABI set of a version, appended to `into`: methods.hpp if there is one set alone, else a file of its own.
void emit_set(HeaderFile& into, const Api& api, bool is_shared);
HeaderFile emit_set_header(const std::vector<Api>& sets, const Api& api);

File emit_api(const Api& api);  // all of it as JSON
// Names the inputs and the other files with their SHA-256. No date and no path of the machine: the same inputs give the
// same.
File emit_manifest(const std::vector<Api>& sets, const std::vector<File>& files);

}  // namespace bindgen
