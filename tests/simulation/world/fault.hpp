// A fault that is put back for as long as this lives.
#pragma once

#include "faults.hpp"

#include <string_view>

namespace rkllm_mcp::simulation {

class Fault {
 public:
  explicit Fault(std::string_view name) { present_fault = name; }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
  ~Fault() { present_fault = before_; }

 private:
  const std::string_view before_ = present_fault;
};

}  // namespace rkllm_mcp::simulation
