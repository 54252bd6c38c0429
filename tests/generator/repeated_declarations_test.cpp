// What C declares and the generated code declares once more, in C++: where it cannot, that is refused with the place,
// and what is accepted compiles.
#include "refusal.hpp"
#include "support/catch.hpp"

#include "compare/dump.hpp"
#include "read/header.hpp"

#include <algorithm>

using namespace bindgen;
using rkllm_mcp::test::has_text;

namespace {

std::string repeated(const std::string& header, const std::string& entries = "") {
  return test::refusal(header, test::overlay(entries));
}

// The generated file whose name ends so, from a header that is accepted.
std::string made_of(const std::string& header, const std::string& entries, const std::string& end) {
  const auto folder = test::scratch("repeated");
  const auto files =
      generate({{test::file(folder, "x.h", header), "1"}}, test::file(folder, "o.json", test::overlay(entries)));
  for (const File& file : files) {
    if (file.path.ends_with(end)) return file.text;
  }
  return "";
}

std::string model_of(const std::string& header) {
  return dump_tree(read_header(test::file(test::scratch("repeated_dump"), "x.h", header)));
}

}  // namespace

TEST_CASE("an enum that C does not know is refused") {
  CHECK_THAT(
      repeated("enum E {};\nint f(enum E e);"),
      has_text("x.h:1:6: error: E has no enumerators, which every enum of C has [declarations-can-be-repeated]"));
  CHECK_THAT(repeated("typedef enum {} E;\nE f(E e);"), has_text("E has no enumerators"));
  CHECK_THAT(repeated("enum E : char { kA };"), has_text("x.h:1:6: error: E is made of char, which no enum of C is"));
  CHECK_THAT(repeated("enum E : bool { kA };"), has_text("E is made of bool, which no enum of C is"));
  CHECK(repeated("enum E : int8_t { kA };\nint f(enum E e);") == "accepted");
}

TEST_CASE("a struct or enum without a name is refused where something else is made of it") {
  const std::string nameless = "without a name, which the generated code cannot name; give it one in the header";
  CHECK_THAT(repeated("typedef struct {\n  struct { int a; } t[2];\n} S;",
                      R"({"for":"S.t","quote":"struct { int a; } t[2]","unused":{}})"),
             has_text("x.h:2:21: error: this holds a struct or union " + nameless));
  CHECK_THAT(repeated("typedef struct { int a; } *P;\n"), has_text("x.h:1:28: error: this holds a struct or union"));
  CHECK_THAT(repeated("typedef enum { kA } P[2];\n"), has_text("error: this holds an enum " + nameless));
  CHECK_THAT(repeated("typedef struct { enum { kA } a; } S;"), has_text("error: this holds an enum " + nameless));
  CHECK_THAT(model_of("typedef struct { int a; } P, *PP;\nint f(PP p);\n"), has_text("typedef P* PP"));
  CHECK(repeated("typedef struct { int a; } P, *PP;\nint f(PP p);\n",
                 R"({"for":"f.p","quote":"PP p","object":{}},{"for":"PP","quote":"typedef P* PP"})") == "accepted");
}

TEST_CASE("a number keeps its sign and its type, also if it is zero") {
  CHECK_THAT(made_of("#define A -0.0\n#define B 0.0\n#define C -2.0\n#define D -0\n", "", "constants.hpp"),
             has_text("double A = -0.0;") && has_text("double B = 0.0;") && has_text("double C = -2.0;") &&
                 has_text("std::int64_t D = 0;"));
}

TEST_CASE("an array without a length stands at the end of a struct, behind something else") {
  const std::string open = " holds an array without a length, which C++ has only at the end of a struct";
  const auto with_entry = [](const std::string& header, const std::string& path, const std::string& quote) {
    return repeated(header, R"({"for":")" + path + R"(","quote":")" + quote + R"(","unused":{}})");
  };
  CHECK(with_entry("struct S { int a; int b[]; };", "S.b", "int b[]") == "accepted");
  CHECK_THAT(with_entry("struct S { char b[0]; int c; };", "S.b", "char b[]"), has_text("x.h:1:17: error: S.b" + open));
  CHECK_THAT(with_entry("struct S { int b[]; };", "S.b", "int b[]"), has_text("S.b" + open));
  CHECK_THAT(repeated("union U { int a; int b[]; };"), has_text("U.b" + open));
  const std::string inner = "struct S { int a; int b[]; };\n";
  const auto nested = [&](const std::string& fields, const std::string& quote) {
    return repeated(
        inner + "struct T { " + fields + " };",
        R"({"for":"S.b","quote":"int b[]","unused":{}},{"for":"T.s","quote":")" + quote + R"(","unused":{}})");
  };
  CHECK(nested("int c; struct S s;", "S s") == "accepted");
  CHECK_THAT(nested("struct S s; int c;", "S s"), has_text("x.h:2:21: error: T.s" + open));
  CHECK_THAT(nested("int c; struct S s[2];", "S s[2]"), has_text("T.s" + open));
  CHECK(nested("int c; struct S* s; int d;", "S* s") == "accepted");
}

TEST_CASE("a function that is called in a way of its own is refused") {
  const std::string own = " is called in a way of its own (an attribute), which the generated code would not know";
  CHECK_THAT(repeated("int f(int a) __attribute__((ms_abi));"), has_text("x.h:1:5: error: f" + own));
  CHECK_THAT(repeated("int f(float a) __attribute__((pcs(\"aapcs\")));"), has_text("error: f" + own));
  CHECK_THAT(repeated("typedef void (*cb)(int a) __attribute__((ms_abi));"), has_text("error: cb" + own));
  CHECK_THAT(repeated("typedef struct { int (*p)(int a) __attribute__((ms_abi)); } S;",
                      R"-({"for":"S.p","quote":"int (*p)(int)","unused":{}})-"),
             has_text("error: this" + own));
}

TEST_CASE("what wraps its name in C is declared so, and variable arguments of a callback stay") {
  CHECK_THAT(made_of("void (*sig(int n, int m))(int y);\nint (*row(int a))[3];\n",
                     R"-({"for":"sig.return","quote":"void (*)(int)","unused":{}},
                          {"for":"row.return","quote":"int (*)[3]","unused":{}})-",
                     "abi.hpp"),
             has_text("  void (*(*sig)(int n, int m))(int);\n") && has_text("  int (*(*row)(int a))[3];\n"));
  CHECK_THAT(made_of("typedef void (*(*cb)(int a))(int b);\ntypedef void (*log_t)(int a, ...);\n", "", "abi.hpp"),
             has_text("typedef void (*(*cb)(int))(int);\n") && has_text("using log_t = void (*)(int a, ...);\n"));
}

TEST_CASE("a header without functions has no methods, and compiles") {
  CHECK_THAT(made_of("typedef struct { int a; } S;\n", "", "methods.hpp"),
             has_text("inline constexpr std::span<const Method> kMethods;\n"));
}

TEST_CASE("names with a dollar, and types that C++ names by using, are read") {
  CHECK_THAT(model_of("struct S$x { int a; };\n"), has_text("struct S$x, size 4"));
  CHECK_THAT(model_of("using P = int;\nusing Q = P*;\n"), has_text("typedef int P") && has_text("typedef P* Q"));
}

TEST_CASE("a macro whose value depends on where or when it is used is no constant") {
  const std::string header =
      "#define LINE __LINE__\n#define FILE_NAME __FILE__\n#define COUNT (__COUNTER__ + 1)\n#define DAY __DATE__\n"
      "#define HOUR \"at \" __TIME__\n#define INDIRECT (LINE * 2)\n#define BUILTIN __builtin_LINE()\n"
      "#define STAYS (1 + 2)\n#define TEXT \"one\"\n";
  const std::string text = model_of(header);
  for (const char* name : {"LINE", "FILE_NAME", "COUNT", "DAY", "HOUR", "INDIRECT", "BUILTIN"}) {
    CHECK_THAT(text, !has_text("macro " + std::string(name)));
  }
  CHECK_THAT(text, has_text("macro STAYS = ( 1 + 2 )\n") && has_text("macro TEXT = \"one\"\n"));
}

TEST_CASE("a struct that is named before it is declared is announced") {
  const std::string header =
      "typedef struct T T;\ntypedef union U U;\ntypedef void (*cb)(T* t);\ntypedef U* up;\n"
      "struct S { struct V* v; struct { T* t; } in; int a; };\nstruct V { int a; };\nstruct T { cb c; int a; };\n"
      "union U { int a; float b; };\n";
  const std::string abi = made_of(header,
                                  R"-({"for":"S.v","quote":"V* v","object":{"nullable":true}},
                                     {"for":"S.in.t","quote":"T* t","unused":{}},
                                     {"for":"T.c","quote":"cb c","unused":{}})-",
                                  "abi.hpp");
  CHECK_THAT(abi, has_text("struct T;\n\nusing cb = void (*)(T* t);\n"));
  CHECK_THAT(abi, has_text("union U;\n\nusing up = U*;\n") && has_text("struct V;\n\nstruct S {\n"));
  CHECK(abi.find("struct T;", abi.find("struct T;") + 1) == std::string::npos);
}

TEST_CASE("a handle may be called like its struct, not like its typedef") {
  const std::string uses = R"("handle":{"role":"uses"}})";
  CHECK_THAT(made_of("struct archive;\nint f(struct archive* archive);\n",
                     R"({"for":"f.archive","quote":"archive* archive",)" + uses, "methods.hpp"),
             has_text("params.handle<struct archive*>("));
  CHECK_THAT(repeated("typedef struct a* h_t;\nint f(h_t h_t);", R"({"for":"h_t","quote":"typedef a* h_t",)" + uses),
             has_text("x.h:2:11: error: the parameter h_t is called like its own type"));
}

TEST_CASE("what a function fills in is not called like its type where the code of the call names that") {
  const std::string n = R"({"for":"f.n","quote":"int n","value":{"minimum":1,"maximum":9}},)";
  CHECK_THAT(repeated("typedef enum { A } Mode;\nint f(Mode* Mode, int n);",
                      n + R"({"for":"f.Mode","quote":"Mode* Mode","out":{"room":"n"}})"),
             has_text("x.h:2:13: error: the parameter Mode is called like its own type"));
  CHECK_THAT(repeated("enum Ask { A };\ntypedef struct { int i; } Info;\nint f(enum Ask ask, void* Info, int n);",
                      R"({"for":"f.Info","quote":"void* Info",)"
                      R"("out":{"chosen_by":"ask","size":"n","structs":{"A":"Info"}}})"),
             has_text("x.h:3:27: error: the parameter Info is called like its own type"));
  CHECK_THAT(test::refusal("typedef float level;\ntypedef struct c c;\nc* mk(int n);\nint f(c* h, level* level);",
                           R"({"output":{"namespace":"rkllm_mcp","include":"rkllm_mcp"},"session":{"n":{"learn":"x"}},)"
                           R"("returns":{"int":{"status":{}}},"entries":[)"
                           R"({"for":"mk.n","quote":"int n","session":"n"},)"
                           R"({"for":"mk.return","quote":"c*","handle":{"role":"creates"}},)"
                           R"({"for":"f.h","quote":"c* h","handle":{"role":"uses"}},)"
                           R"({"for":"f.level","quote":"level* level","out":{"count":"session.n"}}]})"),
             has_text("x.h:4:20: error: the parameter level is called like its own type"));
  CHECK(repeated("typedef struct { int i; } Info;\nint f(Info* Info);",
                 R"({"for":"f.Info","quote":"Info* Info","out":{}})") == "accepted");
}

TEST_CASE("what is const by its typedef, or volatile behind a pointer, is refused") {
  CHECK_THAT(
      repeated("typedef const int ci;\nint f(ci a);"),
      has_text("x.h:1:19: error: ci is const or volatile; generated code could not fill in what is of this type"));
  CHECK_THAT(repeated("int f(volatile int* a, int n);",
                      R"({"for":"f.a","quote":"volatile int* a","array":{"counted_by":"n"}})"),
             has_text("f.a: its meaning in the overlay does not fit its C type"));
  CHECK(repeated("int f(volatile int* a);", R"({"for":"f.a","quote":"volatile int* a","unused":{}})") == "accepted");
}

TEST_CASE("a struct that is declared in a named union is found there") {
  CHECK_THAT(made_of("struct S { union { int i; struct { int c; } b; } a; };\n",
                     R"({"for":"S.a","quote":"union { int i; struct { int c; } b; } a","unused":{}})", "abi.hpp"),
             has_text("using S_a_b = decltype(decltype(S::a)::b);\n"));
}
