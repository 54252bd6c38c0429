// What a C header may hold and generated code cannot: each is refused with the place of the declaration, and never left
// for the compiler of the generated code, or for whoever runs it, to find.
#include "refusal.hpp"
#include "support/catch.hpp"

#include "dump.hpp"
#include "read_header.hpp"

using namespace bindgen;
using rkllm_mcp::test::has_text;

namespace {

// A header with this in it, and an overlay with these entries.
std::string refused(const std::string& header, const std::string& entries = "") {
  return test::refusal(header, test::overlay(entries));
}

}  // namespace

TEST_CASE("an enumerator beyond every number on the wire is refused") {
  CHECK_THAT(refused("enum F {\n  A = 0x8000000000000000\n};"),
             has_text("x.h:2:3: error: the value of A is beyond 9223372036854775807"));
}

TEST_CASE("a type that is another one on another machine is refused") {
  const auto differs = [](const std::string& machine, const std::string& here, const std::string& there) {
    return refused("#ifdef " + machine + "\n" + there + "\n#else\n" + here + "\n#endif\n");
  };
  const std::string kinds = "has different types: ";
  CHECK_THAT(differs("__aarch64__", "typedef struct { int a; } S;", "typedef struct { float a; } S;"),
             has_text("x.h:4:22: error: this " + kinds + "int and float on x86_64 and aarch64"));
  CHECK_THAT(differs("__arm__", "int f(int a);", "int f(float a);"),
             has_text("x.h:4:5: error: this " + kinds + "int and float on 64-bit and 32-bit targets"));
  CHECK_THAT(differs("__arm__", "typedef int real;", "typedef unsigned real;"), has_text(kinds));
  CHECK_THAT(differs("__arm__", "typedef struct { int a; } S;", "typedef struct { int a; } U;"),
             has_text("declares different symbols"));
  CHECK_THAT(differs("__arm__", "typedef struct { int a; } S;", "typedef union { int a; } S;"),
             has_text("has different fields"));
  CHECK_THAT(refused("typedef struct { char a[sizeof(void*)]; } S;"),
             has_text("x.h:1:23: error: this has arrays of different lengths on 64-bit and 32-bit targets"));
  CHECK(refused("typedef __SIZE_TYPE__ count_t;\nint f(count_t n);") == "accepted");
}

TEST_CASE("a function that the library exports under another name is refused, but read") {
  const std::string header = "int f(int a) __asm__(\"g\");\n";
  CHECK_THAT(refused(header), has_text("x.h:1:5: error: f is called g in the library; no table of functions can "
                                       "find it by its name [names-are-usable]"));
  CHECK(refused("int f(int a) __asm__(\"f\");\n") == "accepted");
  const std::string path = test::file(test::scratch("asm"), "x.h", header);
  CHECK_THAT(dump_json(read_header(path)), has_text(R"("symbol": "g")"));
}

TEST_CASE("a constant that no generated code can hold is refused, but read") {
  CHECK_THAT(refused("#define A \"a\\0b\"\n"), has_text("x.h:1:9: error: A is a text with NUL in it"));
  CHECK_THAT(refused("#define A L\"a\"\n"), has_text("x.h:1:9: error: A is a text of wide characters"));
  CHECK_THAT(refused("#define A u\"a\"\n"), has_text("A is a text of wide characters"));
  CHECK_THAT(refused("#define A \"\\xff\"\n"), has_text("A is a text that is no UTF-8"));
  CHECK_THAT(refused("#define A 1e400\n"), has_text("x.h:1:9: error: A is no finite number [constants-can-be-told]"));
  CHECK_THAT(refused("#define A (-1e400)\n"), has_text("A is no finite number"));
  CHECK(refused("#define A \"tab\\t, bell\\a, \\r\\n and \\\"\"\n#define B u8\"\\u00e9\"\n") == "accepted");
  const std::string path = test::file(test::scratch("constants"), "x.h", "#define A 1e400\n#define B L\"b\"\n");
  CHECK_THAT(dump_json(read_header(path)), has_text(R"("body": "1e400")"));
}
