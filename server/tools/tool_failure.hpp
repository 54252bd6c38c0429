// Why a tool could not do what it was asked to: the message is for people and models, and says what to do about it.
#pragma once

#include <stdexcept>

namespace rkllm_mcp {

class ToolFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace rkllm_mcp
