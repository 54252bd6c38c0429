// The access tokens that clients may present, and what each permits. Of a token itself only the SHA-256 is kept.
//
// The file has one line for each token:
//
//   NAME  TOKEN  [PERMISSION,...]
//
// TOKEN is the token itself, 16 characters or more, or "sha256:" and the 64 hexadecimal digits of its hash. Permissions
// are `call` (use what is loaded) and `admin` (also load and unload models); without any both are granted. Empty lines
// and those that begin with # do not count.
#pragma once

#include "text/sha256.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

// The holder of a token, with what it may do. Without tokens there is one for everybody, which may do all.
struct Principal {
  std::string name;
  bool may_call = true;
  bool may_admin = true;
};

class AccessTokens {
 public:
  // Throws std::runtime_error that names the file and the line, never a token. The file must belong to this process's
  // user (or to root) and be closed to all others.
  static AccessTokens read(const std::string& path);

  bool empty() const { return entries_.empty(); }
  // Null if nobody has this token. Takes the same time in each case, so that the time tells nothing about the tokens.
  const Principal* find(std::string_view token) const;

 private:
  struct Entry {
    Sha256 hash;
    Principal principal;
  };

  void add(std::string_view line);  // throws std::runtime_error without a place

  std::vector<Entry> entries_;
};

}  // namespace rkllm_mcp
