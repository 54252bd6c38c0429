// The project file, generator/bindgen.json: what is generated when nobody says otherwise.
#pragma once

#include <string>
#include <vector>

namespace bindgen {

struct Project {
  struct Set {
    std::string version;
    std::string header;                   // path, below the root
    std::vector<std::string> stands_for;  // every version with this interface; empty: this one alone
  };
  std::string overlay;  // a path below the root, as the next
  std::string out;
  std::vector<Set> sets;  // from old to new
};

// Throws Refusal, with the place, if the file cannot be read, is no JSON, or says what no project file can mean.
Project read_project(const std::string& path);

}  // namespace bindgen
