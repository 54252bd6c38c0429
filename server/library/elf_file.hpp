// What an ELF file says about where it can be loaded, and with what. It is read before the dynamic loader sees the
// file, since the loader says "No such file or directory" of a library for another machine.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

struct ElfFile {
  std::string machine;      // "aarch64", "arm", "mips (big-endian)"; else "machine 62 (64 bits)"
  std::uint64_t bytes = 0;  // that the file must have at least, by its headers

  friend bool operator==(const ElfFile&, const ElfFile&) = default;
};

// Reads bytes from `offset` on into `buffer`, and shows them: as many as there is room for, fewer where the file ends.
// Throws std::system_error if it cannot be read.
std::string_view bytes_at(std::istream& file, std::uint64_t offset, std::string& buffer);

// Reads the headers only. Throws what bytes_at() throws. Nothing if the file does not begin as ELF files do.
std::optional<ElfFile> read_elf(std::istream& file);

// The machine that this program was compiled for, as ElfFile names it.
std::string_view own_machine();

// The DT_NEEDED entries of an ELF file of 32 or 64 bits, little-endian. Empty if it has none, or is no such file. A
// name that the file does not hold to its end is left out.
std::vector<std::string> needed_libraries(std::string_view content);

}  // namespace rkllm_mcp
