// The access tokens that clients may present, and what each permits. Of a token itself only the SHA-256 is kept. And,
// by token or by address, who owns what the server keeps for clients.
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

// What is kept for clients is bounded for all together. When a bound is reached, those who have most give way: so each
// kept thing has an owner.

// The client machine in an address, without its port: the host; of IPv6 the /64 network, since one machine may use any
// address of it; of a Unix socket the user.
std::string source_of(std::string_view address);

// The owner: the token's holder if one was presented, wherever it calls from; else source_of(address).
std::string owner_of(const Principal* principal, std::string_view address);
// The owner by the holder's name; empty: no token was presented, or there are none.
std::string owner_of(std::string_view name, std::string_view address);

}  // namespace rkllm_mcp
