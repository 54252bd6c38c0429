#include "doctor/needed_libraries.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>

namespace rkllm_mcp::doctor {
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

}  // namespace rkllm_mcp::doctor
