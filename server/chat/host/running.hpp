// Something that is being made for somebody. Destroying it gives it up. Event loop only.
#pragma once

namespace rkllm_mcp::chat {

class Running {
 public:
  virtual ~Running() = default;
  virtual void hold() {}   // whoever asked cannot take more for now
  virtual void go_on() {}  // or can again
};

}  // namespace rkllm_mcp::chat
