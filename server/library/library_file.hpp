// What a runtime library's file says about itself, read before anything of it is executed. The version decides which
// ABI set may be used: all published versions export the same symbol names, so asking the loaded library would be too
// late.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// Identifies the file at a path. Differs after the file has been replaced, or written to.
struct FileMark {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t bytes = 0;
  std::int64_t seconds = 0;  // when it was last written to
  std::int64_t nanoseconds = 0;

  static std::optional<FileMark> of(const std::string& path);  // nothing if there is no file
  friend bool operator==(const FileMark&, const FileMark&) = default;
};

struct LibraryFile {
  std::string path;                // as it will be loaded: absolute, links resolved
  std::string version;             // from the text "RKLLM SDK (version: X.Y.Z" in the file
  bool simulated = false;          // the file calls itself SIMULATED
  std::string asked{};             // the path as it was given, perhaps a link, which leads elsewhere after an upgrade
  std::optional<FileMark> mark{};  // as it was when it was read

  friend bool operator==(const LibraryFile&, const LibraryFile&) = default;
};

// What has happened to the file since it was read, in words that follow its path: "has been replaced". Empty: nothing.
std::string_view change_of(const LibraryFile& file);

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
