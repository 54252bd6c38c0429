#include "library/library_file.hpp"

#include "library/program_folders.hpp"

#include "library/elf_file.hpp"

#include <rkllm_mcp/errors.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

namespace rkllm_mcp {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVersionMarker = "RKLLM SDK (version: ";
constexpr std::size_t kLongestVersion = 32;
constexpr std::string_view kSimulatedMarker = "SIMULATED";
constexpr std::string_view kRuntimeName = "librkllmrt.so";
constexpr std::string_view kSimulatorName = "librkllm_sim.so";

// Where boards keep their libraries, in the order of the loader's own defaults.
constexpr std::array<std::string_view, 6> kSystemDirectories{"/usr/local/lib",
                                                             "/lib/aarch64-linux-gnu",
                                                             "/usr/lib/aarch64-linux-gnu",
                                                             "/lib/arm-linux-gnueabihf",
                                                             "/usr/lib",
                                                             "/lib"};

// What a library says of itself somewhere in its file.
struct LibraryTexts {
  std::optional<std::string> version;  // by the first text that tells one
  bool simulated = false;
};

// Behind the first marker; nothing if none begins within the first `size` bytes.
std::optional<std::string> version_in(std::string_view bytes, std::size_t size) {
  const auto marker = bytes.find(kVersionMarker);
  if (marker == std::string_view::npos || marker >= size) return std::nullopt;
  const auto rest = bytes.substr(marker + kVersionMarker.size(), kLongestVersion);
  const auto is_in_version = [](unsigned char c) { return c == '.' || std::isalnum(c) != 0; };  // "1.2.1b1"
  return std::string(rest.begin(), std::find_if_not(rest.begin(), rest.end(), is_in_version));
}

// Piece by piece: a library has megabytes, and is read again by each worker. A piece goes on into the next one by a
// text's length, so that no text is cut.
LibraryTexts read_texts(std::istream& file) {
  constexpr std::size_t kPiece = 64U << 10U;
  constexpr std::size_t kLongestText = kVersionMarker.size() + kLongestVersion;
  LibraryTexts texts;
  std::string buffer(kPiece + kLongestText, '\0');
  for (std::uint64_t offset = 0;; offset += kPiece) {
    const std::string_view bytes = bytes_at(file, offset, buffer);
    if (bytes.empty()) return texts;
    if (!texts.version) texts.version = version_in(bytes, kPiece);
    texts.simulated = texts.simulated || bytes.find(kSimulatedMarker) != std::string_view::npos;
  }
}

std::uint64_t size_of(std::istream& file) {
  file.clear();
  file.seekg(0, std::ios::end);
  return static_cast<std::uint64_t>(file.tellg());
}

// The dynamic loader would not say it, or not so clearly; and it may crash on half a file.
void require_whole(const std::string& path, std::uint64_t bytes, const std::optional<ElfFile>& elf) {
  if (bytes == 0) throw runtime_unavailable(path + " is empty");
  if (!elf || elf->bytes <= bytes) return;  // the loader says clearly that it is no ELF file
  throw runtime_unavailable(path + " is cut off: it has " + std::to_string(bytes) + " bytes of at least " +
                            std::to_string(elf->bytes));
}

void require_own_machine(const std::string& path, const std::optional<ElfFile>& elf) {
  if (!elf || own_machine().empty() || elf->machine == own_machine()) return;
  throw runtime_unavailable(path + " is for " + elf->machine + ", this is " + std::string(own_machine()));
}

// The simulator as it lies beside this program: in the build tree, or installed.
std::optional<std::string> find_simulator() {
  std::error_code error;
  for (const std::string_view folder : kLibraryFolders) {
    const fs::path candidate = program_folder() / folder / kSimulatorName;
    if (fs::exists(candidate, error)) return candidate.string();
  }
  return find_in_system(kSimulatorName);
}

}  // namespace

std::optional<FileMark> FileMark::of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileMark{.device = static_cast<std::uint64_t>(status.st_dev),
                  .inode = static_cast<std::uint64_t>(status.st_ino),
                  .bytes = static_cast<std::int64_t>(status.st_size),
                  .seconds = static_cast<std::int64_t>(status.st_mtim.tv_sec),
                  .nanoseconds = static_cast<std::int64_t>(status.st_mtim.tv_nsec)};
}

std::string_view change_of(const LibraryFile& file) {
  const auto now = FileMark::of(file.asked);
  if (now == file.mark) return {};
  return now ? "has been replaced" : "is gone";
}

LibraryFile inspect_library(const std::string& path) {
  std::error_code error;
  // Before it is read: what is written meanwhile is a change.
  const auto mark = FileMark::of(path);
  const fs::path real = fs::canonical(path, error);
  if (error) throw runtime_unavailable("no library at " + path + ": " + error.message());
  if (!fs::is_regular_file(real)) throw runtime_unavailable(real.string() + " is not a file");
  const std::string cannot_read = "cannot read " + real.string() + ": ";
  std::ifstream file(real, std::ios::binary);
  if (!file.is_open()) throw runtime_unavailable(cannot_read + std::strerror(errno));
  LibraryTexts texts;
  std::optional<ElfFile> elf;
  try {
    texts = read_texts(file);
    elf = read_elf(file);
  } catch (const std::system_error& unread) {
    throw runtime_unavailable(cannot_read + unread.code().message());
  }
  require_whole(real.string(), size_of(file), elf);
  if (!texts.version || texts.version->empty()) {
    throw runtime_unavailable(real.string() + " holds no text \"" + std::string(kVersionMarker) +
                              "...\": it is not an RKLLM runtime, or one that is too old");
  }
  require_own_machine(real.string(), elf);
  return {real.string(), *texts.version, texts.simulated, path, mark};
}

std::optional<std::string> find_in_system(std::string_view name) {
  std::vector<std::string> directories;
  if (const char* const listed = std::getenv("LD_LIBRARY_PATH")) {
    std::string_view rest = listed;
    while (!rest.empty()) {
      const auto colon = rest.find(':');
      if (colon != 0) directories.emplace_back(rest.substr(0, colon));
      rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
    }
  }
  directories.insert(directories.end(), kSystemDirectories.begin(), kSystemDirectories.end());
  for (const auto& directory : directories) {
    std::error_code error;
    const fs::path candidate = fs::path(directory) / name;
    if (fs::is_regular_file(candidate, error)) return candidate.string();
  }
  return std::nullopt;
}

LibraryFile find_library(const LibrarySearch& search) {
  using Simulator = LibrarySearch::Simulator;
  if (search.simulator != Simulator::kAlways) {
    if (!search.library.empty()) return inspect_library(search.library);
    if (const auto system = find_in_system(kRuntimeName)) return inspect_library(*system);
  }
  if (search.simulator == Simulator::kNever) {
    throw runtime_unavailable(
        "no " + std::string(kRuntimeName) +
        " on this system; set runtime.library to its path, or runtime.fallback to \"simulator\" to "
        "go on without a board");
  }
  if (const auto simulator = find_simulator()) return inspect_library(*simulator);
  throw runtime_unavailable("the simulator " + std::string(kSimulatorName) + " was not found beside this program");
}

}  // namespace rkllm_mcp
