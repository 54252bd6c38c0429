// Headers that other people wrote: what is read from each must be what the C compiler of this machine reads. A probe
// states every name, type, size, offset, value and signature of the model; the compiler has to agree with all of it.
#include "compiler_probe.hpp"
#include "support/catch.hpp"
#include "temporary.hpp"

#include "meaning/understand.hpp"
#include "read/header.hpp"

using namespace bindgen;

namespace {

struct Foreign {
  const char* path;
  const char* package;
  const char* include_folder;  // where its own #includes are, if not beside it
  std::size_t functions;       // no fewer than these must be found
  std::size_t records;
};

const Foreign kForeign[] = {
    {"/usr/include/sqlite3.h", "libsqlite3-dev", "", 250, 14},
    {"/usr/include/expat.h", "libexpat1-dev", "", 60, 5},
    {"/usr/include/zlib.h", "zlib1g-dev", "", 60, 3},
    {"/usr/include/yaml.h", "libyaml-dev", "", 30, 12},
    {"/usr/include/bzlib.h", "libbz2-dev", "", 20, 1},
    {"/usr/include/lz4.h", "liblz4-dev", "", 30, 1},
    {"/usr/include/zstd.h", "libzstd-dev", "", 60, 3},
    {"/usr/include/cjson/cJSON.h", "libcjson-dev", "", 70, 2},
    {"/usr/include/uchardet/uchardet.h", "libuchardet-dev", "", 6, 0},
    {"/usr/include/libusb-1.0/libusb.h", "libusb-1.0-0-dev", "", 70, 15},
    {LIBCLANG_INCLUDE "/clang-c/Index.h", "libclang-dev", LIBCLANG_INCLUDE, 200, 20},
};

c::Header read(const Foreign& foreign) {
  std::vector<std::string> folders;
  if (*foreign.include_folder != '\0') folders = {"-I", foreign.include_folder};
  return read_header(foreign.path, folders);
}

std::string include_option(const Foreign& foreign) {
  return *foreign.include_folder == '\0' ? "" : "-I'" + std::string(foreign.include_folder) + "'";
}

// What is installed here; ./dev test installs all of it.
std::vector<Foreign> installed() {
  std::vector<Foreign> found;
  for (const Foreign& foreign : kForeign) {
    if (std::filesystem::exists(foreign.path)) {
      found.push_back(foreign);
    } else {
      WARN(foreign.path << " is not compared: it is not installed; apt-get install " << foreign.package);
    }
  }
  REQUIRE(found.size() >= 8);
  return found;
}

}  // namespace

TEST_CASE("what is read from other people's headers is what the compiler reads") {
  for (const Foreign& foreign : installed()) {
    INFO(foreign.path);
    const c::Header header = read(foreign);
    CHECK(c::all<c::Function>(header).size() >= foreign.functions);
    CHECK(c::all<c::Record>(header).size() >= foreign.records);
    if (sizeof(void*) == 8) CHECK(test::compile(test::Probe(header).text(), include_option(foreign)) == "");
  }
}

TEST_CASE("the probe can fail: a wrong offset, type or signature does not compile") {
  const auto folder = test::scratch("foreign_wrong");
  const std::string path = test::file(folder, "x.h", "typedef struct { char a; int b; } S;\nint f(int a);\n");
  c::Header header = read_header(path);
  const auto& record = std::get<c::Record>(header.symbols[0]);
  const auto& function = std::get<c::Function>(header.symbols[1]);
  const auto refused = [&](c::Symbol symbol) {
    c::Header wrong = header;
    wrong.symbols = {std::move(symbol)};
    return !test::compile(test::Probe(wrong).text(), "").empty();
  };
  REQUIRE_FALSE(refused(record));
  c::Record moved = record;
  moved.fields[1].offset = {8, 8};
  CHECK(refused(moved));
  c::Record retyped = record;
  retyped.fields[1].type.name = "unsigned int";
  CHECK(refused(retyped));
  c::Function resigned = function;
  resigned.returns.name = "long";
  CHECK(refused(resigned));
}

TEST_CASE("what other people's headers leave open is told entry by entry, and refused with line and column") {
  for (const Foreign& foreign : installed()) {
    INFO(foreign.path);
    const c::Header header = read(foreign);
    const Needs needs = needs_of(header, {});
    CHECK_FALSE(needs.unanswered.empty());
    for (const Declared& declared : needs.unanswered) CHECK_FALSE(declared.declaration.empty());
    try {
      understand(header, {}, "1");
      FAIL("nothing was left open");
    } catch (const Refusal& refusal) {
      CHECK(refusal.diagnostics().size() >= needs.in_the_way.size());
      for (const Diagnostic& diagnostic : refusal.diagnostics()) {
        INFO(diagnostic.message);
        CHECK(diagnostic.at.file == foreign.path);
        CHECK(diagnostic.at.line != 0);
        CHECK_FALSE(diagnostic.source_line.empty());
      }
    }
  }
}

TEST_CASE("a header whose includes are not there is refused with the line of the include") {
  const auto folder = test::scratch("foreign_missing");
  const std::string path = test::file(folder, "x.h", "#include <no_such_header.h>\nint f(void);\n");
  try {
    read_header(path);
    FAIL("accepted");
  } catch (const Refusal& refusal) {
    CHECK(std::string(refusal.what()).find("x.h:1:10: error: 'no_such_header.h' file not found") != std::string::npos);
  }
}

TEST_CASE("a macro keeps its sign, and has no value if that differs between machines") {
  const auto folder = test::scratch("macros");
  const c::Header header = read_header(test::file(folder, "x.h",
                                                  "#define ALL 0xFFFFFFFFFFFFFFFFULL\n#define NONE (-1LL)\n"
                                                  "#define SOME 0x7FFFFFFFFFFFFFFFULL\n#define WORD sizeof(long)\n"));
  const auto macros = c::all<c::Macro>(header);
  REQUIRE(macros.size() == 3);
  CHECK(std::get<std::uint64_t>(macros[0]->value) == 0xFFFFFFFFFFFFFFFFULL);
  CHECK(std::get<std::int64_t>(macros[1]->value) == -1);
  CHECK(std::get<std::int64_t>(macros[2]->value) == 0x7FFFFFFFFFFFFFFFLL);
}
