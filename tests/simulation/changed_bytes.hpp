// Faults of what the server writes: each is the name of a fault that can be put back (put_back.hpp), and bytes that
// come to the clients as others. So what a client says of a wrong answer is shown to be said, without a switch for each
// in the code that makes answers.
#pragma once

#include <cstddef>
#include <string>

namespace rkllm_mcp::simulation {

// Of one connection.
class ChangedBytes {
 public:
  // What is on its way from the server to a client; all but the first `known` bytes of it are new.
  void change(std::string& on_its_way, std::size_t known);

 private:
  std::size_t found_ = 0;  // so often, so far
};

}  // namespace rkllm_mcp::simulation
