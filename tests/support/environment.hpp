// Sets an environment variable for the time of a test. Then it is unset, whatever it was before.
#pragma once

#include <cstdlib>
#include <string>

namespace rkllm_mcp::test {

class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Environment() { ::unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

}  // namespace rkllm_mcp::test
