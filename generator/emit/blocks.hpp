// What an emitter makes: one file of one ABI set, as blocks that each belong to one declaration.
//
// A declaration for which several sets emit the same text, and which leans on nothing that differs, is written once, in
// the oldest of these sets; the newer ones refer to it. So a new set adds no more than its differences.
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

struct Block {
  std::string symbol;  // the declaration it belongs to; empty: it is written for every set
  std::string text;
  std::vector<std::string> names;  // that others may refer to; C++ finds everything else by its arguments
  std::vector<std::string> taken;  // what a set that shares the block writes instead, with % for the owner's namespace
};

struct BlockFile {
  std::string name;  // "abi"
  std::string about;
  std::vector<std::string> includes;
  std::vector<Block> blocks;
};

// Makes a file block by block: what is written to `code` becomes a block with finish().
class BlockWriter {
 public:
  BlockWriter(std::string name, std::string about, std::vector<std::string> includes)
      : file_{std::move(name), std::move(about), std::move(includes), {}} {}

  CodeText code;

  // Nothing if nothing was written.
  void finish(const std::string& symbol, std::vector<std::string> names = {}, std::vector<std::string> taken = {});
  BlockFile file() { return std::move(file_); }

 private:
  BlockFile file_;
};

// The namespace that holds what a declaration's blocks define, with "::", to be put before a name of it; empty in the
// set that owns it.
std::string qualifier(const std::string& symbol);

// All files of all sets. `files_of_sets` has a list for each of `sets`, which go from old to new.
std::vector<File> render(const std::vector<Api>& sets, const std::vector<std::vector<BlockFile>>& files_of_sets);

}  // namespace bindgen
