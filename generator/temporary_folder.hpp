// A folder that goes when its owner does, for what clang can only read from a disk.
#pragma once

#include <filesystem>
#include <string>

namespace bindgen {

class TemporaryFolder {
 public:
  TemporaryFolder();  // empty, and nobody else's. Throws Refusal if there can be none.
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Makes missing folders below it. Throws Refusal.
  void write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

}  // namespace bindgen
