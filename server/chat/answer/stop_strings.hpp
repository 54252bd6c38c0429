// Ends an answer's text at the first of the request's stop strings. The text of the answer ends before it.
#pragma once

#include "chat/answer/marker_search.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

class StopStrings {
 public:
  explicit StopStrings(std::vector<std::string> stops);

  // The text that may go out now; whatever might be the beginning of a stop string stays here. Nothing once one came.
  std::string feed(std::string_view text);
  // What stayed here: none of it is a stop string, since nothing follows.
  std::string flush();

  // The one that came; empty: none has.
  const std::string& stopped_by() const { return stopped_by_; }

 private:
  std::string take(bool at_end);

  MarkerSearch search_;
  std::string pending_;
  std::string stopped_by_;
};

}  // namespace rkllm_mcp::chat
