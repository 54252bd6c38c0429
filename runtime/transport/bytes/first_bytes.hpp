// Tells whether a connection that takes lines of JSON is spoken to in JSON at all. A web page can make a browser send a
// request to any local port, and tools take any port for one of HTTP or TLS: a line of such a request's body must not
// be executed as a message. The first byte that is no JSON white space decides: of all texts that a message can be, and
// of no other protocol's, it is { or [.
#pragma once

#include <string_view>

namespace rkllm_mcp {

class FirstBytes {
 public:
  // Drops the white space that the connection begins with, here from the front of the next `bytes`. False if what
  // follows is no message; once that is so it stays so.
  bool allow(std::string_view& bytes);

 private:
  enum class Verdict { kUndecided, kMessages, kOther };

  Verdict verdict_ = Verdict::kUndecided;
};

}  // namespace rkllm_mcp
