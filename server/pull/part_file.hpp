// A file that is still on its way: NAME.part beside the place where it is to be, and NAME.part.tag with what says which
// file these bytes are the beginning of. What has come stays when the program ends, and the next pull goes on from there.
// One pull at a time writes to it.
//
// Threads: one.
#pragma once

#include "text/sha256.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace rkllm_mcp {

class PartFile {
 public:
  // `tag` names the content (a hash, an ETag); a part with another one, or without any, is begun anew. An empty tag never
  // matches. Throws std::runtime_error if another pull has it, or if it cannot be written.
  PartFile(std::filesystem::path target, const std::string& tag);
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile();

  std::int64_t bytes() const { return bytes_; }
  // Throws std::runtime_error: what could be written stays.
  void append(std::string_view bytes);
  void start_anew();
  // Of all that is there, in hexadecimal. `goes_on` is asked from time to time; false: an empty text.
  template <class GoesOn>
  std::string digest(GoesOn goes_on) const;
  // Puts it in its place, whole and on disk. Throws std::runtime_error if there is a file by now.
  void finish();
  // It is of no use.
  void discard();

 private:
  [[noreturn]] void fail(const char* what) const;
  std::size_t read_at(std::int64_t offset, char* buffer, std::size_t count) const;
  static std::string in_hex(Sha256Sum& sum);

  const std::filesystem::path target_;
  const std::filesystem::path part_;
  const std::filesystem::path tag_;
  int descriptor_ = -1;
  std::int64_t bytes_ = 0;
};

template <class GoesOn>
std::string PartFile::digest(GoesOn goes_on) const {
  constexpr std::size_t kPiece = std::size_t{1} << 20U;
  std::string piece(kPiece, '\0');
  Sha256Sum sum;
  for (std::int64_t at = 0; at < bytes_;) {
    if (!goes_on()) return {};
    const std::size_t count = read_at(at, piece.data(), piece.size());
    sum.add({piece.data(), count});
    at += static_cast<std::int64_t>(count);
  }
  return in_hex(sum);
}

}  // namespace rkllm_mcp
