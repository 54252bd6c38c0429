// A file that is still on its way: NAME.part beside the place where it is to be, and NAME.part.tag with what says which
// file these bytes are the beginning of. What has come stays when the program ends, however it ends, and the next pull
// goes on from there. One pull at a time writes to it.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace rkllm_mcp {

class PartFile {
 public:
  // Throws std::runtime_error if another pull has it, if it cannot be written, or if the target is there by now.
  explicit PartFile(std::filesystem::path target);
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile();

  const std::filesystem::path& path() const { return part_; }
  const std::filesystem::path& tag_path() const { return tag_path_; }
  std::int64_t bytes() const { return bytes_; }
  // What was said of its contents when it was begun (a hash, an ETag); empty if nothing was.
  const std::string& tag() const { return tag_; }

  // From here on it has no bytes, and is the beginning of what `tag` names.
  void start_anew(const std::string& tag);
  // Throws std::runtime_error: what could be written stays.
  void append(std::string_view bytes);
  // SHA-256 of all that is there, in hexadecimal; empty if `goes_on` has said no.
  std::string digest(const std::function<bool()>& goes_on) const;
  // Puts it in its place, whole and on disk. Throws std::runtime_error if there is a file by now.
  void finish();
  // Deletes it: what it has is not what was wanted. Returns why it is still there, if it is.
  std::error_code discard();

 private:
  [[noreturn]] void fail(const char* what) const;
  void open();
  void close();

  const std::filesystem::path target_;
  const std::filesystem::path part_;
  const std::filesystem::path tag_path_;
  int descriptor_ = -1;
  std::int64_t bytes_ = 0;
  bool is_over_ = false;  // finished or discarded: a file of its name would be another pull's
  std::string tag_;
};

// "tiny.rkllm", of "tiny" as of "tiny.rkllm".
std::string file_of_model(const std::string& name);

// The beginnings of that model's file in these folders, left by pulls that were not finished. While the result is kept
// no pull can go on with them. Throws std::runtime_error if a pull is under way.
std::vector<std::unique_ptr<PartFile>> unfinished_pulls(const std::vector<std::string>& folders,
                                                        const std::string& name);

// Deletes these models, and these beginnings of some. Throws std::runtime_error that names the file. Nothing is deleted
// if one of their folders may not be written to; a later error of the disk can leave some of them deleted.
void delete_models(const std::vector<std::string>& paths, const std::vector<std::unique_ptr<PartFile>>& beginnings);

}  // namespace rkllm_mcp
