// Where tests find what they drive: programs in bin/ and libraries in lib/ of the build. Only paths.cpp knows the
// build's folder: what includes this is compiled the same way for each build, and once, where there is a compiler
// cache.
#pragma once

#include <string>

namespace rkllm_mcp::test {

std::string built_program(const std::string& name);
std::string built_library(const std::string& name);
std::string build_directory();
std::string source_directory();
std::string cmake_command();

inline const std::string kProgram = built_program("rkllm-mcp");
inline const std::string kSimulator = built_library("rkllm_sim");
inline const std::string kSourceDirectory = source_directory();
inline const std::string kModels = kSourceDirectory + "/simulator/models";  // simulated ones
inline const std::string kCmakeCommand = cmake_command();

}  // namespace rkllm_mcp::test
