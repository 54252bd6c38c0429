// A generated header under way: what it is, what it includes, and its sections.
#pragma once

#include "emit/code_text.hpp"
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

}  // namespace bindgen
