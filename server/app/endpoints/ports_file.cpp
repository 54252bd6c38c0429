#include "app/endpoints/ports_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace rkllm_mcp {

void write_ports_file(const std::string& path, const Json& content) {
  const std::string unfinished = path + "." + std::to_string(::getpid());
  std::ofstream file(unfinished);
  file << content.dump(2) << "\n";
  file.close();
  if (!file || std::rename(unfinished.c_str(), path.c_str()) != 0) {
    const int why = errno;
    std::remove(unfinished.c_str());
    throw std::runtime_error("cannot write the ports file " + path + ": " + std::strerror(why));
  }
}

}  // namespace rkllm_mcp
