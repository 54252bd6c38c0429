// What a runtime library's file says about itself, read before anything of it is executed. The version decides which
// ABI set may be used: all published versions export the same symbol names, so asking the loaded library would be too
// late.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

struct LibraryFile {
  std::string path;        // as it will be loaded: absolute, links resolved
  std::string version;     // from the text "RKLLM SDK (version: X.Y.Z" in the file
  bool simulated = false;  // the file calls itself SIMULATED
};

// Reads the file. Throws RpcError kRuntimeUnavailable: no such file, not readable, no version text in it, for another
// machine, cut off.
LibraryFile inspect_library(const std::string& path);

// How the library is to be found; see the settings of section `runtime`.
struct LibrarySearch {
  enum class Simulator { kNever, kAsFallback, kAlways };  // the one that comes with this program

  std::string library;  // an explicit path; empty: the system's librkllmrt.so
  Simulator simulator = Simulator::kNever;
};

// The library to load. Throws RpcError kRuntimeUnavailable with what was looked for and how to mend it.
LibraryFile find_library(const LibrarySearch& search);

// The path that the dynamic loader would take for `name`; nothing if it knows none.
std::optional<std::string> find_in_system(std::string_view name);

}  // namespace rkllm_mcp
