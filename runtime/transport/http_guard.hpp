// Tells whether somebody speaks HTTP on a port that does not: a web page can make a browser post to any local port, and
// a body line of such a request must not be executed as a message. Looks at the first bytes only; no JSON text begins
// like an HTTP request line.
#pragma once

#include <string>
#include <string_view>

namespace rkllm_mcp {

class HttpGuard {
 public:
  // Feeds the next bytes of the connection. True from the moment they prove to be an HTTP request. While that is
  // undecided the bytes hold no complete line, so that passing them on executes nothing.
  bool is_http(std::string_view bytes);

 private:
  enum class Verdict { kUndecided, kHttp, kOther };

  Verdict verdict_ = Verdict::kUndecided;
  std::string first_;  // the first characters of the first line that has any
};

}  // namespace rkllm_mcp
