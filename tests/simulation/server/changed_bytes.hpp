// Faults in what the server writes: bytes that are replaced on their way to a client, each under the name of a fault
// that can be put back (faults.hpp). They show that clients complain of wrong answers, without a switch for each in
// the code that makes answers.
#pragma once

#include <cstddef>
#include <string>

namespace rkllm_mcp::simulation {

// There is one for each connection.
class ChangedBytes {
 public:
  // What is on its way from the server to a client; all but the first `known` bytes of it are new.
  void change(std::string& on_its_way, std::size_t known);

 private:
  std::size_t found_ = 0;  // how often the bytes of the fault have been written so far
};

}  // namespace rkllm_mcp::simulation
