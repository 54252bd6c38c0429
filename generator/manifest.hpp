// What an earlier run has left in a folder, as its manifest.json says: the only knowledge of which files are ours to
// replace or remove. It may have been edited, or merged badly, so nothing in it is believed unchecked. Files are known
// by their SHA-256.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bindgen {

inline constexpr const char* kManifestName = "manifest.json";

struct Manifest {
  struct Entry {
    std::string path;    // relative, with "/", without "." and ".."
    std::string sha256;  // of the bytes that were generated; empty in manifests of older versions of the tool
  };
  std::vector<Entry> files;
  std::vector<std::string> versions;  // of the sets

  const Entry* find(const std::string& path) const;
};

// Empty if the folder has none. Throws Refusal, with the place in the file, if it is not what the tool writes or names
// a path outside the folder.
Manifest read_manifest(const std::filesystem::path& folder);

// The SHA-256 of some bytes, in hexadecimal: how the manifest names the inputs that generated code was made from, and
// the files.
std::string sha256(std::string_view bytes);

}  // namespace bindgen
