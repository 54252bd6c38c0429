// Whole text files: read, split into lines, compared, put in place in one step; and a folder for those that are needed
// for a while.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bindgen {

// Throws Refusal if the file cannot be read.
std::string read_text(const std::filesystem::path& path);
// Without their line ends.
std::vector<std::string> lines_of(const std::string& text);
// Whether there is a file that holds exactly this.
bool holds(const std::filesystem::path& path, const std::string& text);

// A folder that goes when its owner does, for what clang can only read from a disk.
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

// A file written beside its place, complete and on the disk, to be put in place in one step: whoever reads the place
// finds the old file or the new one, never a part of it.
class StagedFile {
 public:
  // Writes. Makes missing directories. Throws Refusal that says why if that is not possible (no space left, no right).
  StagedFile(std::filesystem::path place, const std::string& text);
  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&& other) noexcept;
  ~StagedFile();  // takes away what was not put in place

  void put_in_place();  // once; throws Refusal

  // Staged files have names of their own until they are put in place. Which file the staged one of this name is to
  // become; empty if the name is no staged file's.
  static std::string place_of(const std::string& staged);

 private:
  std::filesystem::path place_;
  std::filesystem::path staged_;  // empty: put in place, or moved from
};

}  // namespace bindgen
