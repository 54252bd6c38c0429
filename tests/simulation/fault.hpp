// A fault that is put back for as long as this lives.
#pragma once

#include "put_back.hpp"

#include <string_view>

namespace rkllm_mcp::simulation {

class Fault {
 public:
  explicit Fault(std::string_view name) { fault_put_back = name; }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
  ~Fault() { fault_put_back = before_; }

 private:
  const std::string_view before_ = fault_put_back;
};

}  // namespace rkllm_mcp::simulation
