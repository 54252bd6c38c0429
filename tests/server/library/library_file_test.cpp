#include "library/library_file.hpp"

#include "library/elf_file.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"

#include <rkllm_mcp/errors.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

using namespace rkllm_mcp;

namespace {

std::string write_file(const std::string& name, const std::string& content) {
  const auto path = std::filesystem::temp_directory_path() / ("rkllm-mcp-test-" + name);
  std::ofstream(path, std::ios::binary) << content;
  return path.string();
}

std::string refusal(const std::string& path) {
  try {
    inspect_library(path);
  } catch (const RpcError& error) {
    CHECK(error.code() == ErrorCode::kRuntimeUnavailable);
    return error.what();
  }
  return "accepted";
}

// The beginning of an ELF file of 64 bytes and one program header, for a segment as long as the file; then the version.
std::string elf_file(char elf_class, unsigned char machine, std::size_t missing = 0, bool big_endian = false) {
  const bool is_64_bit = elf_class == 2;
  std::string file(400, '\0');
  const auto put = [&file, big_endian](std::size_t at, std::size_t size, std::uint64_t number) {
    for (std::size_t i = 0; i < size; ++i) {
      file[at + (big_endian ? size - 1 - i : i)] = static_cast<char>(number >> (8 * i));
    }
  };
  file.replace(0, 4,
               "\x7f"
               "ELF");
  file[4] = elf_class;
  file[5] = big_endian ? 2 : 1;
  put(18, 2, machine);
  put(is_64_bit ? 32 : 28, is_64_bit ? 8 : 4, 64);          // where the program headers are
  put(is_64_bit ? 56 : 44, 2, 1);                           // how many
  put(64 + (is_64_bit ? 32 : 16), is_64_bit ? 8 : 4, 500);  // size of the segment in the file
  file += "RKLLM SDK (version: 1.3.0 | test";
  file.resize(500 - missing);
  return file;
}

constexpr unsigned char kX86_64 = 62;
constexpr unsigned char kArm = 40;
constexpr unsigned char kAarch64 = 183;

}  // namespace

TEST_CASE("a library for another machine is refused, naming both") {
  struct Machine {
    char elf_class;
    unsigned char number;
    std::string name;
  };
  for (const Machine& machine :
       {Machine{2, kX86_64, "x86_64"}, Machine{2, kAarch64, "aarch64"}, Machine{1, kArm, "arm"},
        Machine{2, 100, "machine 100 (64 bits)"}, Machine{1, kX86_64, "x86_64 (32 bits)"}}) {
    INFO(machine.name);
    const auto path = write_file("machine.so", elf_file(machine.elf_class, machine.number));
    const std::string complaint = path + " is for " + machine.name + ", this is " + std::string(own_machine());
    const bool is_own = machine.name == own_machine();
    CHECK(refusal(path) == (is_own ? "accepted" : "runtime unavailable: " + complaint));
  }
}

TEST_CASE("a library of the other byte order is read in that, and named as what it is") {
  struct Machine {
    char elf_class;
    unsigned char number;
    std::string name;
  };
  for (const Machine& machine :
       {Machine{2, kAarch64, "aarch64 (big-endian)"}, Machine{1, kArm, "arm (big-endian)"},
        Machine{2, 21, "powerpc64 (big-endian)"}, Machine{2, 22, "s390x (big-endian)"},
        Machine{1, 8, "mips (big-endian)"}, Machine{2, 100, "machine 100 (64 bits) (big-endian)"}}) {
    INFO(machine.name);
    const auto path = write_file("big.so", elf_file(machine.elf_class, machine.number, 0, true));
    CHECK(refusal(path) ==
          "runtime unavailable: " + path + " is for " + machine.name + ", this is " + std::string(own_machine()));
    const auto half = write_file("half-big.so", elf_file(machine.elf_class, machine.number, 1, true));
    CHECK(refusal(half).find("is cut off: it has 499 bytes of at least 500") != std::string::npos);
  }
}

TEST_CASE("half a library is refused before it is loaded") {
  const auto path = write_file("half.so", elf_file(2, kAarch64, 1));
  CHECK(refusal(path).find("is cut off: it has 499 bytes of at least 500") != std::string::npos);
  CHECK(refusal(write_file("short.so",
                           "\x7f"
                           "ELF"))
            .find("is cut off") != std::string::npos);
  CHECK(refusal(write_file("empty.so", "")).find("is empty") != std::string::npos);
}

TEST_CASE("the version is read from anywhere in the file") {
  const std::string padding(1'000'000, '\0');
  const auto path = write_file("version.so", padding + "RKLLM SDK (version: 1.2.3 | build" + padding);
  const LibraryFile file = inspect_library(path);
  CHECK(file.version == "1.2.3");
  CHECK_FALSE(file.simulated);
}

TEST_CASE("a text is read whole wherever it lies, however the file is read") {
  const std::string text = "RKLLM SDK (version: 1.2.1b1 | SIMULATED";
  const std::size_t piece = 64 << 10;
  for (const std::size_t before : {piece - text.size(), piece - 30, piece - 15, piece - 1, piece, 2 * piece - 5}) {
    INFO(before);
    for (const std::string& after : {std::string(), std::string(piece, 'x')}) {
      const LibraryFile file = inspect_library(write_file("cut.so", std::string(before, 'x') + text + after));
      CHECK(file.version == "1.2.1b1");
      CHECK(file.simulated);
    }
  }
}

TEST_CASE("the first text that tells a version counts, also where it tells none") {
  for (const std::size_t between : {1, 100'000}) {
    INFO(between);
    const std::string rest = std::string(between, 'x') + "RKLLM SDK (version: 1.2.3 |";
    CHECK(refusal(write_file("none.so", "RKLLM SDK (version: %s" + rest)).find("not an RKLLM runtime") !=
          std::string::npos);
    CHECK(inspect_library(write_file("first.so", "RKLLM SDK (version: 1.2.0 |" + rest)).version == "1.2.0");
  }
}

TEST_CASE("program headers are read where the file says that they are") {
  std::string file = elf_file(2, kX86_64);
  file.resize(300'000);
  file.replace(200'000, 64, file.substr(64, 64));
  file.replace(32, 8, std::string("\x40\x0d\x03\0\0\0\0\0", 8));            // 200,000
  file.replace(200'000 + 32, 8, std::string("\xe1\x93\x04\0\0\0\0\0", 8));  // 300,001
  CHECK(refusal(write_file("far.so", file)).find("is cut off: it has 300000 bytes of at least 300001") !=
        std::string::npos);
}

TEST_CASE("a simulator is recognised by its file") {
  CHECK(inspect_library(write_file("sim.so", "RKLLM SDK (version: 1.3.0 | SIMULATED)")).simulated);
  CHECK(inspect_library(test::kSimulator).simulated);
  CHECK(inspect_library(test::kSimulator).version == "1.3.0");
}

TEST_CASE("what is no runtime library is refused with the reason") {
  CHECK(refusal("/no/such/file.so").find("No such file") != std::string::npos);
  CHECK(refusal("/tmp").find("not a file") != std::string::npos);
  CHECK(refusal(write_file("other.so", "just a library")).find("not an RKLLM runtime") != std::string::npos);
}

TEST_CASE("an explicit library comes first, and nothing replaces one that is missing") {
  const auto path = write_file("explicit.so", "RKLLM SDK (version: 1.3.0 |");
  CHECK(find_library({path, LibrarySearch::Simulator::kAsFallback}).path == path);
  CHECK_THROWS_AS(find_library({"/no/such/file.so", LibrarySearch::Simulator::kAsFallback}), RpcError);
}
