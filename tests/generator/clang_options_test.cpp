// Headers that need more than themselves: options for clang, and the headers of the system.
#include "refusal.hpp"
#include "support/catch.hpp"
#include "temporary.hpp"

#include "read/header.hpp"
#include "read/parse.hpp"
#include "read/system_headers.hpp"

using namespace bindgen;
using rkllm_mcp::test::has_text;

namespace {

c::Header read_with(const std::string& text, const std::vector<std::string>& options = {}) {
  return read_header(test::file(test::scratch("clang_options"), "x.h", text), options);
}

std::string complaint_about(const std::string& text, const std::vector<std::string>& options = {}) {
  try {
    read_with(text, options);
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "read";
}

}  // namespace

TEST_CASE("macros and folders that the user gives are used, for macros of the header as well") {
  const std::string text =
      "#if WIDTH == 8\n#include <other.h>\n#endif\ntypedef struct { word_t a; } S;\n#define W WIDTH\n";
  const auto folder = test::scratch("clang_options_other");
  test::file(folder, "other.h", "typedef unsigned char word_t;\n");
  CHECK_THAT(complaint_about(text), has_text("x.h:4:18: error: unknown type name 'word_t'"));
  const c::Header header = read_with(text, {"-DWIDTH=8", "-I", folder.string()});
  CHECK(c::find<c::Record>(header, "S")->size == Layout{1, 1});
  CHECK(std::get<std::int64_t>(c::find<c::Macro>(header, "W")->value) == 8);
}

TEST_CASE("plain comments are documentation if clang is asked to take them for it") {
  const std::string text = "/* Opens it.\n * Now. */\nint f(int a);\n// Closes it.\nint g(int a);\n";
  const auto said = [](const c::Header& header, const char* name) {
    return c::find<c::Function>(header, name)->documentation.text;
  };
  const c::Header plain = read_with(text);
  CHECK(said(plain, "f").empty());
  const c::Header all = read_with(text, {"-fparse-all-comments"});
  CHECK(said(all, "f") == "Opens it. Now.");
  CHECK(said(all, "g") == "Closes it.");
}

TEST_CASE("a header that is no C++ is read as C if a standard of C is asked for") {
  const std::string text =
      "struct S { int class; _Bool b; int values[2]; };\nint f(struct S* this);\n#define N (int)3.5\n";
  CHECK_THAT(complaint_about(text), has_text("error: "));
  const c::Header header = read_with(text, {"-std=c11"});
  const auto* record = c::find<c::Record>(header, "S");
  REQUIRE(record != nullptr);
  CHECK(record->fields.at(0).name == "class");
  CHECK(record->fields.at(1).type.kind == c::TypeKind::kBool);
  CHECK(std::get<std::int64_t>(c::find<c::Macro>(header, "N")->value) == 3);
  CHECK(c::find<c::Function>(header, "f")->params.at(0).name == "this");
  CHECK(is_c({"x.h", {"-std=gnu17"}}));
  CHECK_FALSE(is_c({"x.h", {"-std=c11", "-std=c++20"}}));
}

TEST_CASE("options that do not go together, and functions without a prototype, are refused with what to do") {
  CHECK_THAT(complaint_about("int f(void);", {"-x", "c"}), has_text("what is C is read with --std=c11"));
  const auto folder = test::scratch("clang_options_c");
  const std::string header = test::file(folder, "x.h", "int f();\n");
  const std::string overlay = test::file(folder, "o.json", test::overlay(""));
  std::string complaint;
  try {
    generate({{header, "1.0", {"-std=c11"}}}, overlay);
  } catch (const Refusal& refusal) {
    complaint = refusal.what();
  }
  CHECK_THAT(complaint, has_text("x.h:1:5: error: f: which parameters it takes is not said; if none, write f(void)"));
}

TEST_CASE("what the short standard headers lack is read from those of the system") {
  const c::Header header = read_with(
      "#include <pthread.h>\n#include <setjmp.h>\n#include <sys/socket.h>\n"
      "typedef struct { struct sockaddr* to; jmp_buf* back; pthread_t thread; } S;\n"
      "int f(struct sockaddr* a);\n");
  CHECK(c::find<c::Record>(header, "S")->size == Layout{24, 12});
  CHECK(c::all<c::Function>(header).size() == 1);
}

TEST_CASE("the headers of another system are read with --sysroot and -isystem") {
  const auto root = test::scratch("clang_options_sysroot");
  test::file(root / "usr/include", "of_root.h", "typedef struct { char a; long b; } of_root_t;\n");
  test::file(root / "beside", "of_system.h", "typedef unsigned short of_system_t;\n");
  const std::string text = "#include <of_root.h>\n#include <of_system.h>\nint f(of_root_t a, of_system_t b);\n";
  CHECK_THAT(complaint_about(text), has_text("'of_root.h' file not found"));
  const std::string sysroot = "--sysroot=" + root.string();
  CHECK_THAT(complaint_about(text, {sysroot}), has_text("'of_system.h' file not found"));
  test::file(root / "usr/include/aarch64-linux-gnu/of_board", "config.h", "#define BOARD 3588\n");
  const c::Header board = read_with("#include <of_board/config.h>\n#define B BOARD\n", {"--sysroot", root.string()});
  CHECK(std::get<std::int64_t>(c::find<c::Macro>(board, "B")->value) == 3588);
  CHECK_THAT(board.borrowed, has_text("aarch64-linux-gnu/of_board/config.h"));  // for the other processors
  test::file(root / "usr/include/arm-linux-gnueabihf/of_board", "config.h", "#define BOARD 32\n");
  test::file(root / "usr/include/x86_64-linux-gnu/of_board", "config.h", "#define BOARD 3588\n");
  CHECK(c::find<c::Macro>(read_with("#include <of_board/config.h>\n#define B BOARD\n", {sysroot}), "B") == nullptr);
  const c::Header header = read_with(text, {sysroot, "-isystem", (root / "beside").string()});
  const auto functions = c::all<c::Function>(header);
  REQUIRE(functions.size() == 1);
  CHECK(functions[0]->params[0].type.size == Layout{16, 8});
  CHECK(functions[0]->params[1].type.size == Layout{2, 2});
}

TEST_CASE("a header that cannot be read for a target says for which") {
  CHECK_THAT(complaint_about("#ifdef __arm__\n#error no such machine\n#endif\n"),
             has_text("x.h:2:2: error: no such machine, where it is read for armv7"));
  CHECK_THAT(complaint_about("int f(nothing_t a);"), has_text("'nothing_t'") && !has_text("where it is read"));
}

TEST_CASE("a struct that lies otherwise on another machine is never read with the headers of this one") {
  const std::string text = "#include <pthread.h>\ntypedef struct { pthread_mutex_t mutex[2]; } S;\n";
  // With an empty system for all targets, clang finds no headers but those that are borrowed.
  const std::string nowhere = test::scratch("clang_options_nowhere").string();
  const std::vector<std::string> options = {"--sysroot=" + nowhere, "--gcc-toolchain=" + nowhere};
  if (own_headers(kTargets[1], Language::kC, options)) FAIL("clang finds headers in an empty folder");
  CHECK_THAT(complaint_about(text, options),
             has_text("x.h:2:34: error: mutex holds a struct of ") &&
                 has_text("how that lies on aarch64-unknown-linux-gnu is not known here"));
  const std::string pointer = "#include <pthread.h>\ntypedef struct { pthread_mutex_t* mutex; } S;\n";
  const c::Header header = read_with(pointer, options);
  CHECK_THAT(header.borrowed, has_text(" for armv7-unknown-linux-gnueabihf"));
  const auto folder = test::scratch("clang_options_generate");
  const std::string generating = [&] {
    try {
      generate({{test::file(folder, "x.h", pointer), "1", options}}, test::file(folder, "o.json", test::overlay("")));
    } catch (const Refusal& refusal) {
      return std::string(refusal.what());
    }
    return std::string("generated");
  }();
  CHECK_THAT(generating, has_text("x.h: error: was read with headers of this machine: ") && has_text("may be wrong"));
  CHECK(read_with("#include <stdint.h>\nint f(int32_t a);\n", options).borrowed.empty());
}

TEST_CASE("a struct whose tag is made by a macro has the name that the compiler sees") {
  const c::Header header = read_with(
      "#define JOIN_(a, b) a##b\n#define JOIN(a, b) JOIN_(a, b)\n#define REAL JOIN(real_, 8)\n"
      "#define NOTHING\nstruct REAL { int a; };\ntypedef struct REAL thing;\ntypedef struct NOTHING { int b; } Plain;\n"
      "int f(thing* t, Plain* p);\n");
  CHECK(c::find<c::Record>(header, "real_8") != nullptr);
  CHECK(c::find<c::Record>(header, "Plain") != nullptr);
  CHECK(c::find<c::Record>(header, "REAL") == nullptr);
}
