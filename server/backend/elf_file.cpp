#include "backend/elf_file.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace rkllm_mcp {
namespace {

// Reads numbers in the file's own byte order; what is beyond its end reads as 0.
class Numbers {
 public:
  Numbers(std::string_view content, bool big_endian) : content_(content), big_endian_(big_endian) {}

  std::uint64_t at(std::size_t offset, std::size_t size) const {
    if (offset > content_.size() || content_.size() - offset < size) return 0;
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t place = big_endian_ ? i : size - 1 - i;
      number = number << 8U | static_cast<unsigned char>(content_[offset + place]);
    }
    return number;
  }

 private:
  const std::string_view content_;
  const bool big_endian_;
};

// What a processor is called in files of 32 and of 64 bits.
struct MachineNames {
  std::uint64_t machine;
  std::string_view of_32_bits;
  std::string_view of_64_bits;
};

constexpr std::array kMachineNames{
    MachineNames{EM_AARCH64, "aarch64 (32 bits)", "aarch64"},
    MachineNames{EM_ARM, "arm", "arm (64 bits)"},
    MachineNames{EM_X86_64, "x86_64 (32 bits)", "x86_64"},
    MachineNames{EM_386, "i386", "i386 (64 bits)"},
    MachineNames{EM_RISCV, "riscv32", "riscv64"},
    MachineNames{EM_MIPS, "mips", "mips64"},
    MachineNames{EM_PPC, "powerpc", "powerpc (64 bits)"},
    MachineNames{EM_PPC64, "powerpc64 (32 bits)", "powerpc64"},
    MachineNames{EM_S390, "s390", "s390x"},
};

std::string machine_name(std::uint64_t machine, bool is_64_bit, bool big_endian) {
  const auto known = std::ranges::find(kMachineNames, machine, &MachineNames::machine);
  std::string name;
  if (known != kMachineNames.end()) {
    name = is_64_bit ? known->of_64_bits : known->of_32_bits;
  } else {
    name = "machine " + std::to_string(machine) + (is_64_bit ? " (64 bits)" : " (32 bits)");
  }
  return big_endian ? name + " (big-endian)" : name;
}

// The end of what the program headers want to be loaded.
std::uint64_t end_of_segments(const Numbers& numbers, bool is_64_bit) {
  const std::uint64_t table =
      is_64_bit ? numbers.at(offsetof(Elf64_Ehdr, e_phoff), 8) : numbers.at(offsetof(Elf32_Ehdr, e_phoff), 4);
  const std::uint64_t count = numbers.at(is_64_bit ? offsetof(Elf64_Ehdr, e_phnum) : offsetof(Elf32_Ehdr, e_phnum), 2);
  const std::size_t entry = is_64_bit ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  std::uint64_t end = table + count * entry;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = table + i * entry;
    const std::uint64_t begin = is_64_bit ? numbers.at(at + offsetof(Elf64_Phdr, p_offset), 8)
                                          : numbers.at(at + offsetof(Elf32_Phdr, p_offset), 4);
    const std::uint64_t size = is_64_bit ? numbers.at(at + offsetof(Elf64_Phdr, p_filesz), 8)
                                         : numbers.at(at + offsetof(Elf32_Phdr, p_filesz), 4);
    end = std::max(end, begin + size);
  }
  return end;
}

}  // namespace

std::optional<ElfFile> read_elf(std::string_view content) {
  if (!content.starts_with(std::string_view(ELFMAG, SELFMAG))) return std::nullopt;
  if (content.size() < sizeof(Elf32_Ehdr)) return ElfFile{"", sizeof(Elf32_Ehdr), false};
  const bool is_64_bit = content[EI_CLASS] == ELFCLASS64;
  const bool big_endian = content[EI_DATA] == ELFDATA2MSB;
  const Numbers numbers(content, big_endian);
  ElfFile file;
  file.machine = machine_name(numbers.at(offsetof(Elf64_Ehdr, e_machine), 2), is_64_bit, big_endian);
  file.bytes = end_of_segments(numbers, is_64_bit);
  file.whole = file.bytes <= content.size();
  return file;
}

std::string_view own_machine() {
#if defined(__aarch64__)
  return "aarch64";
#elif defined(__arm__)
  return "arm";
#elif defined(__x86_64__)
  return "x86_64";
#elif defined(__i386__)
  return "i386";
#elif defined(__riscv) && __riscv_xlen == 64
  return "riscv64";
#else
  return "";  // every machine is accepted: the loader will tell
#endif
}

}  // namespace rkllm_mcp
