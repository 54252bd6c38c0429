#include "engine/record.hpp"

#include "answers/random.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace rkllm_mcp::sim {
namespace {

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

std::filesystem::path text_file(const std::filesystem::path& directory, std::uint64_t handle, std::uint64_t run,
                                std::size_t entry) {
  const std::string suffix = entry == 0 ? "" : "." + std::to_string(entry);
  return directory / (std::to_string(handle) + "-" + std::to_string(run) + suffix + ".txt");
}

// Takes the first number for which no record exists.
std::uint64_t claim_number(const std::filesystem::path& directory) {
  for (std::uint64_t number = 1;; ++number) {
    const int file = ::open(text_file(directory, number, 1, 0).c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (file >= 0) {
      ::close(file);
      return number;
    }
    if (errno != EEXIST) return 0;  // the directory cannot be written; the records will be missing, nothing else
  }
}

// One write, so that lines of several threads and processes do not mix.
void append_line(const std::filesystem::path& path, const std::string& line) {
  const int file = ::open(path.c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0644);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = ::write(file, line.data(), line.size());
  ::close(file);
}

}  // namespace

Record::Record() {
  const char* directory = std::getenv("RKLLM_SIM_RECORD");
  if (directory == nullptr || *directory == '\0') return;
  directory_ = directory;
  std::error_code ignored;  // a directory that cannot be made shows as missing records
  std::filesystem::create_directories(*directory_, ignored);
  handle_ = claim_number(*directory_);
}

void Record::begin(std::string_view prompt, std::size_t entries) {
  if (!is_on()) return;
  ++run_;
  prompt_ = prompt;
  texts_.resize(entries);
  for (std::string& text : texts_) text.clear();
}

void Record::end(std::size_t callbacks, bool aborted, int status, std::string_view ending, std::size_t prefilled,
                 std::size_t reused) {
  if (!is_on()) return;
  for (std::size_t entry = 0; entry < texts_.size(); ++entry) {
    std::ofstream file(text_file(*directory_, handle_, run_, entry), std::ios::binary | std::ios::trunc);
    file << texts_[entry];
  }
  const nlohmann::ordered_json line{{"handle", handle_},
                                    {"run", run_},
                                    {"pid", ::getpid()},
                                    {"prompt", prompt_},
                                    {"prefilled", prefilled},
                                    {"reused", reused},
                                    {"tokens", callbacks},
                                    {"text_bytes", texts_[0].size()},
                                    {"fnv1a", hexadecimal(fnv1a(texts_[0]))},
                                    {"aborted", aborted},
                                    {"status", status},
                                    {"ending", ending}};
  append_line(*directory_ / "runs.jsonl",
              line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace rkllm_mcp::sim
