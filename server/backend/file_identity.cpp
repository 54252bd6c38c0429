#include "backend/file_identity.hpp"

#include <sys/stat.h>

#include <chrono>
#include <ctime>
#include <exception>

namespace rkllm_mcp {
namespace {

std::chrono::nanoseconds since_1970(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

std::string file_identity(const FileRules& rules, const std::string& path) {
  std::string file;
  try {
    file = rules.path_for(path, FileUse::kRead);
  } catch (const std::exception&) {
    return {};  // whoever loads it is told
  }
  timespec now{};
  struct stat status {};
  // The clock that the kernel writes into files: it moves every few milliseconds.
  if (::clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0 || ::stat(file.c_str(), &status) != 0) return {};
  // Whatever writes into a file or puts it in its place changes this time, also where it sets that of its contents.
  const auto changed = since_1970(status.st_ctim);
  if (changed >= since_1970(now)) return {};
  return file + "\n" + std::to_string(status.st_dev) + "\n" + std::to_string(status.st_ino) + "\n" +
         std::to_string(status.st_size) + "\n" + std::to_string(changed.count());
}

}  // namespace rkllm_mcp
