#include "library/elf_file.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <system_error>

namespace rkllm_mcp {
namespace {

// Reads numbers in the file's own byte order; what is beyond the end of `bytes` reads as 0.
class Numbers {
 public:
  Numbers(std::string_view bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  std::uint64_t at(std::size_t offset, std::size_t size) const {
    if (offset > bytes_.size() || bytes_.size() - offset < size) return 0;
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t place = big_endian_ ? i : size - 1 - i;
      number = number << 8U | static_cast<unsigned char>(bytes_[offset + place]);
    }
    return number;
  }

 private:
  const std::string_view bytes_;
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

// Where the program headers are, in the file.
struct ProgramHeaders {
  std::uint64_t begin;
  std::uint64_t count;
  std::size_t size;  // of each

  std::uint64_t bytes() const { return count * size; }
};

ProgramHeaders program_headers(const Numbers& header, bool is_64_bit) {
  if (is_64_bit) {
    return {header.at(offsetof(Elf64_Ehdr, e_phoff), 8), header.at(offsetof(Elf64_Ehdr, e_phnum), 2),
            sizeof(Elf64_Phdr)};
  }
  return {header.at(offsetof(Elf32_Ehdr, e_phoff), 4), header.at(offsetof(Elf32_Ehdr, e_phnum), 2), sizeof(Elf32_Phdr)};
}

// The end of what the program headers want to be loaded.
std::uint64_t end_of_segments(const Numbers& table, const ProgramHeaders& headers, bool is_64_bit) {
  std::uint64_t end = headers.begin + headers.bytes();
  for (std::uint64_t at = 0; at < headers.bytes(); at += headers.size) {
    const std::uint64_t begin =
        is_64_bit ? table.at(at + offsetof(Elf64_Phdr, p_offset), 8) : table.at(at + offsetof(Elf32_Phdr, p_offset), 4);
    const std::uint64_t size =
        is_64_bit ? table.at(at + offsetof(Elf64_Phdr, p_filesz), 8) : table.at(at + offsetof(Elf32_Phdr, p_filesz), 4);
    end = std::max(end, begin + size);
  }
  return end;
}

}  // namespace

std::string_view bytes_at(std::istream& file, std::uint64_t offset, std::string& buffer) {
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
  if (file.bad()) throw std::system_error(errno, std::generic_category());
  return std::string_view(buffer).substr(0, static_cast<std::size_t>(file.gcount()));
}

std::optional<ElfFile> read_elf(std::istream& file) {
  std::string buffer_of_header(sizeof(Elf64_Ehdr), '\0');
  const std::string_view header = bytes_at(file, 0, buffer_of_header);
  if (!header.starts_with(std::string_view(ELFMAG, SELFMAG))) return std::nullopt;
  if (header.size() < sizeof(Elf32_Ehdr)) return ElfFile{"", sizeof(Elf32_Ehdr)};
  const bool is_64_bit = header[EI_CLASS] == ELFCLASS64;
  const bool big_endian = header[EI_DATA] == ELFDATA2MSB;
  const Numbers numbers(header, big_endian);
  const ProgramHeaders headers = program_headers(numbers, is_64_bit);
  std::string buffer_of_table(static_cast<std::size_t>(headers.bytes()), '\0');
  const std::string_view table = bytes_at(file, headers.begin, buffer_of_table);
  ElfFile elf;
  elf.machine = machine_name(numbers.at(offsetof(Elf64_Ehdr, e_machine), 2), is_64_bit, big_endian);
  elf.bytes = end_of_segments(Numbers(table, big_endian), headers, is_64_bit);
  return elf;
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

namespace {

struct Elf32 {
  using Header = Elf32_Ehdr;
  using Segment = Elf32_Phdr;
  using Entry = Elf32_Dyn;
};
struct Elf64 {
  using Header = Elf64_Ehdr;
  using Segment = Elf64_Phdr;
  using Entry = Elf64_Dyn;
};

// Nothing if the file ends before it.
template <class Struct>
std::optional<Struct> struct_at(std::string_view content, std::uint64_t at) {
  if (at > content.size() || content.size() - at < sizeof(Struct)) return std::nullopt;
  Struct value;
  std::memcpy(&value, content.data() + at, sizeof value);
  return value;
}

template <class Elf>
class Reader {
 public:
  explicit Reader(std::string_view content) : content_(content) {}

  std::vector<std::string> needed() {
    const auto header = struct_at<typename Elf::Header>(content_, 0);
    if (!header || header->e_phentsize != sizeof(Segment)) return {};
    for (unsigned at = 0; at < header->e_phnum; ++at) {
      if (const auto segment = struct_at<Segment>(content_, header->e_phoff + at * sizeof(Segment))) {
        segments_.push_back(*segment);
      }
    }
    for (const Segment& segment : segments_) {
      if (segment.p_type == PT_DYNAMIC) read_entries(segment);
    }
    std::vector<std::string> names;
    for (const std::uint64_t place : names_) {
      if (const std::string_view name = text_at(offset_of(strings_) + place); !name.empty()) names.emplace_back(name);
    }
    return names;
  }

 private:
  using Segment = typename Elf::Segment;

  void read_entries(const Segment& segment) {
    for (std::uint64_t at = 0; at < segment.p_filesz; at += sizeof(typename Elf::Entry)) {
      const auto entry = struct_at<typename Elf::Entry>(content_, segment.p_offset + at);
      if (!entry || entry->d_tag == DT_NULL) return;
      if (entry->d_tag == DT_NEEDED) names_.push_back(entry->d_un.d_val);
      if (entry->d_tag == DT_STRTAB) strings_ = entry->d_un.d_ptr;
    }
  }

  // Where in the file that address of the loaded library comes from.
  std::uint64_t offset_of(std::uint64_t address) const {
    for (const Segment& segment : segments_) {
      if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
      if (address - segment.p_vaddr < segment.p_filesz) return address - segment.p_vaddr + segment.p_offset;
    }
    return content_.size();
  }

  // Empty if the file ends before it does.
  std::string_view text_at(std::uint64_t at) const {
    const auto end = at < content_.size() ? content_.find('\0', at) : std::string_view::npos;
    return end == std::string_view::npos ? std::string_view() : content_.substr(at, end - at);
  }

  const std::string_view content_;
  std::vector<Segment> segments_;
  std::vector<std::uint64_t> names_;  // places in the table of strings
  std::uint64_t strings_ = 0;
};

}  // namespace

std::vector<std::string> needed_libraries(std::string_view content) {
  const bool is_elf = content.size() > EI_DATA && content.starts_with(std::string_view(ELFMAG, SELFMAG));
  if (!is_elf || content[EI_DATA] != ELFDATA2LSB) return {};
  return content[EI_CLASS] == ELFCLASS32 ? Reader<Elf32>(content).needed() : Reader<Elf64>(content).needed();
}

}  // namespace rkllm_mcp
