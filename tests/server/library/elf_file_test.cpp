#include "library/elf_file.hpp"

#include "support/catch.hpp"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;

namespace {

using NeededNames = std::vector<std::string>;

struct NeededElf32 {
  using Header = Elf32_Ehdr;
  using Segment = Elf32_Phdr;
  using Entry = Elf32_Dyn;
  static constexpr unsigned char kClass = ELFCLASS32;
};
struct NeededElf64 {
  using Header = Elf64_Ehdr;
  using Segment = Elf64_Phdr;
  using Entry = Elf64_Dyn;
  static constexpr unsigned char kClass = ELFCLASS64;
};

template <class Struct>
void needed_append(std::string& content, const Struct& value) {
  content.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// A shared library's file: a header, two segments, the dynamic entries, and the strings, which are loaded at 0x20000.
// The place of the strings stands behind the names, as it may. Behind the end of the entries stands one that is none.
template <class Elf>
std::string needed_file(const NeededNames& names, unsigned char order = ELFDATA2LSB) {
  constexpr unsigned kStringsAddress = 0x20000;
  std::string strings(1, '\0');
  std::vector<typename Elf::Entry> entries;
  const auto add = [&entries](auto tag, std::size_t value) {
    typename Elf::Entry entry{};
    entry.d_tag = tag;
    entry.d_un.d_val = static_cast<decltype(entry.d_un.d_val)>(value);
    entries.push_back(entry);
  };
  for (const std::string& name : names) {
    add(DT_NEEDED, strings.size());
    strings += name + '\0';
  }
  add(DT_SONAME, 1);
  add(DT_STRTAB, kStringsAddress);
  add(DT_NULL, 0);
  add(DT_NEEDED, 1);

  typename Elf::Header header{};
  std::copy_n(ELFMAG, SELFMAG, header.e_ident);
  header.e_ident[EI_CLASS] = Elf::kClass;
  header.e_ident[EI_DATA] = order;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(typename Elf::Segment);
  header.e_phnum = 2;
  typename Elf::Segment dynamic{};
  dynamic.p_type = PT_DYNAMIC;
  dynamic.p_offset = sizeof header + 2 * sizeof dynamic;
  dynamic.p_filesz = static_cast<decltype(dynamic.p_filesz)>(entries.size() * sizeof(typename Elf::Entry));
  typename Elf::Segment load{};
  load.p_type = PT_LOAD;
  load.p_offset = dynamic.p_offset + dynamic.p_filesz;
  load.p_vaddr = kStringsAddress;
  load.p_filesz = static_cast<decltype(load.p_filesz)>(strings.size());

  std::string content;
  needed_append(content, header);
  needed_append(content, dynamic);
  needed_append(content, load);
  for (const auto& entry : entries) needed_append(content, entry);
  return content + strings;
}

}  // namespace

TEST_CASE("what a library of 64 or 32 bits needs is named in the order of its file") {
  const NeededNames names{"libstdc++.so.6", "libgomp.so.1", "libc.so.6"};
  CHECK(needed_libraries(needed_file<NeededElf64>(names)) == names);
  CHECK(needed_libraries(needed_file<NeededElf32>(names)) == names);
}

TEST_CASE("a library that needs no other names none") {
  CHECK(needed_libraries(needed_file<NeededElf64>({})).empty());
  CHECK(needed_libraries(needed_file<NeededElf32>({})).empty());
}

TEST_CASE("a file that is no library of this byte order needs nothing") {
  std::string wrong_magic = needed_file<NeededElf64>({"libc.so.6"});
  wrong_magic[1] = 'X';
  for (const std::string& content :
       {std::string(), std::string("\x7f"), std::string(ELFMAG, SELFMAG), std::string("#!/bin/sh\nexit 0\n"),
        std::move(wrong_magic), needed_file<NeededElf64>({"libc.so.6"}, ELFDATA2MSB)}) {
    INFO(content.size());
    CHECK(needed_libraries(content).empty());
  }
}

TEST_CASE("a library's file that ends too early is read to its end, and no half of a name is taken for one") {
  const std::string whole = needed_file<NeededElf64>({"libstdc++.so.6"});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);  // of its own, so that a sanitizer sees what is read behind it
    INFO(length);
    CHECK(needed_libraries(cut).empty());
  }
}

TEST_CASE("segments of another size than this program knows are not read") {
  std::string content = needed_file<NeededElf64>({"libc.so.6"});
  content[offsetof(Elf64_Ehdr, e_phentsize)] = 1;
  CHECK(needed_libraries(content).empty());
}

TEST_CASE("numbers in a library's file that lead out of it are followed nowhere") {
  std::string content = needed_file<NeededElf64>({"libc.so.6"});
  content.replace(offsetof(Elf64_Ehdr, e_phoff), sizeof(Elf64_Off), sizeof(Elf64_Off), '\xFF');
  CHECK(needed_libraries(content).empty());
}
