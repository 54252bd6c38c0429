#include "board/library_log.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace rkllm_mcp::sim {
namespace {

void write_line(std::FILE* file, std::string_view prefix, std::string_view line) {
  std::string text;
  text.reserve(prefix.size() + line.size() + 1);
  text.append(prefix).append(line).push_back('\n');
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

int level_from_environment() {
  const char* level = std::getenv("RKLLM_LOG_LEVEL");
  return level == nullptr ? 0 : std::atoi(level);
}

}  // namespace

Log::Log() : level_(level_from_environment()) {}

void Log::info(std::string_view line) const { write_line(stdout, "I rkllm: ", line); }
void Log::warning(std::string_view line) const { write_line(stdout, "W rkllm: ", line); }
void Log::error(std::string_view line) const { write_line(stderr, "E rkllm: ", line); }

void Log::bare(std::string_view line) const { write_line(stdout, "", line); }

void Log::detail(Detail detail, std::string_view line) const {
  if (shows(detail)) info(line);
}

}  // namespace rkllm_mcp::sim
