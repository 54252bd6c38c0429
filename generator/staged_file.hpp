// A file written beside its place, complete and on the disk, to be put in place in one step: whoever reads the place
// finds the old file or the new one, never a part of it.
#pragma once

#include <filesystem>
#include <string>

namespace bindgen {

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
