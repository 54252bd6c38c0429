// What a C header may hold and generated code cannot: each is refused with the place of the declaration, and never left
// for the compiler of the generated code, or for whoever runs it, to find.
#include "refusal.hpp"
#include "support/catch.hpp"

#include "compare/dump.hpp"
#include "generate.hpp"
#include "read/header.hpp"

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

TEST_CASE("parameters that are others on another machine are refused") {
  const auto differs = [](const std::string& machine, const std::string& here, const std::string& there) {
    return refused("#ifdef " + machine + "\n" + there + "\n#else\n" + here + "\n#endif\n");
  };
  for (const char* machine : {"__aarch64__", "__arm__"}) {
    INFO(machine);
    CHECK_THAT(differs(machine, "int f(int a, int b);", "int f(int b, int a);"),
               has_text("x.h:4:5: error: this calls parameter 1 a and b on "));
    CHECK_THAT(differs(machine, "typedef int (*F)(int a, int b);", "typedef int (*F)(int b, int a);"),
               has_text("calls parameter 1 a and b on "));
    CHECK_THAT(differs(machine, "int f(int a[2]);", "int f(int a[4]);"), has_text("has arrays of different lengths"));
    CHECK_THAT(differs(machine, "int f(const int* a);", "int f(int* a);"),
               has_text("has different types: const int* and int*"));
  }
}

TEST_CASE("a function that the library exports under another name is refused, but read") {
  const std::string header = "int f(int a) __asm__(\"g\");\n";
  CHECK_THAT(refused(header), has_text("x.h:1:5: error: f is called g in the library; no table of functions can "
                                       "find it by its name [names-are-usable]"));
  CHECK(refused("int f(int a) __asm__(\"f\");\n") == "accepted");
  const std::string path = test::file(test::scratch("asm"), "x.h", header);
  CHECK_THAT(dump_json(read_header(path)), has_text(R"("symbol": "g")"));
}

TEST_CASE("a function that a pragma gives another name in the library is refused") {
  const std::string pragma = "#pragma redefine_extname f g\n";
  const std::string called = "error: f is called g in the library";
  CHECK_THAT(refused("extern \"C\" {\n" + pragma + "int f(int a);\n}\n"), has_text("x.h:3:5: " + called));
  CHECK_THAT(refused("extern \"C\" {\nint f(int a);\n" + pragma + "}\n"), has_text("x.h:2:5: " + called));
  // Where it is not in extern "C", compilers of C alone rename it, but those have made the library.
  const std::string otherwise = "error: this is called otherwise in the library, by #pragma redefine_extname";
  CHECK_THAT(refused(pragma + "int f(int a);\n"), has_text("x.h:2:5: " + otherwise));
  CHECK_THAT(refused("int f(int a);\n" + pragma), has_text("x.h:1:5: " + otherwise));
  CHECK(refused("#ifdef __sun\n" + pragma + "#endif\nint f(int a);\n") == "accepted");
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

TEST_CASE("a struct that does not lie as its fields alone would is refused") {
  const std::string packed = " is packed or aligned in a way of its own (an attribute, a pragma)";
  CHECK_THAT(refused("struct __attribute__((packed)) S { int8_t a; int b; };"),
             has_text("x.h:1:32: error: S" + packed));
  for (const char* header :
       {"#pragma pack(push, 2)\ntypedef struct { int8_t a; int b; } S;\n#pragma pack(pop)\n",
        "typedef struct { int8_t a; int b __attribute__((aligned(16))); } S;",
        "typedef struct { int a; } __attribute__((aligned(16))) S;", "struct __attribute__((packed)) S { int a; };",
        "typedef int wide_t __attribute__((aligned(8)));\ntypedef struct { int8_t a; wide_t b; } S;",
        "typedef struct { struct { int8_t c; int d; } __attribute__((packed)) a; } S;",
        "union __attribute__((packed)) S { int8_t a; int b; };",
        "struct __attribute__((packed)) S { unsigned a : 3; int b; };",
        "struct __attribute__((packed)) S { unsigned a : 20; unsigned b : 20; };"}) {
    INFO(header);
    CHECK_THAT(refused(header), has_text("error: S" + packed));
    CHECK_THAT(refused(header), has_text("[structs-are-plain]"));
  }
  CHECK(
      refused(
          "typedef union { int8_t a; int64_t b; } U;\n"
          "typedef struct { int8_t a; int64_t b; short c; void* d; struct { int8_t e; U f[2]; } g; int8_t h[3]; } S;\n"
          "typedef struct { int8_t i; S s; int8_t last; } T;\n",
          R"({"for":"S.d","quote":"void* d","unused":{}},{"for":"S.g.f","quote":"U f[2]","unused":{}},
                   {"for":"S.h","quote":"int8_t h[3]","unused":{}})") == "accepted");
}

TEST_CASE("a field that cannot be filled in is refused") {
  CHECK_THAT(refused("typedef struct { const int a; } S;"),
             has_text("x.h:1:28: error: S.a is const or volatile; generated code could not fill it in"));
  CHECK_THAT(refused("typedef struct { struct { volatile int b; } a; } S;"), has_text("S.a.b is const or volatile"));
  CHECK_THAT(
      refused("typedef struct { const char a[4]; } S;", R"({"for":"S.a","quote":"const char a[4]","unused":{}})"),
      has_text("S.a is const or volatile"));
}

TEST_CASE("two types of one name, which C does not have, are refused") {
  CHECK_THAT(test::refusal(
                 "typedef struct { struct In { int a; } in; } S;\ntypedef struct { struct In { float a; } in; } T;\n",
                 test::overlay("")),
             has_text("x.h:2:25: error: another type is called In, too"));
}

TEST_CASE("a struct that only C++ knows is refused") {
  const std::string base = "struct A { int a; };\n";
  CHECK_THAT(refused(base + "struct B : A { int b; };"),
             has_text("x.h:2:8: error: B has a base class, which no struct of C has [structs-are-plain]"));
  CHECK_THAT(refused("struct A { int a; virtual void f(); };"), has_text("A has virtual functions"));
  CHECK_THAT(refused("struct A { int a; virtual ~A(); };"), has_text("A has virtual functions"));
  CHECK_THAT(refused("struct A { int a; ~A(); };"), has_text("A has a destructor"));
  CHECK_THAT(refused("struct A { int a; A(const A&); };"), has_text("A has a copy constructor"));
  CHECK(refused("struct A { int a; A(); void f(); };") == "accepted");
}

TEST_CASE("a type that only C++ knows is told as what it is, where a declaration uses it") {
  const auto complaint = [](const std::string& header, const std::string& quote) {
    return refused(header, R"({"for":"f.a","quote":")" + quote + R"(","unused":{}})");
  };
  for (const char* declared : {"class A { virtual void f(); };\n", "class A { public: int a; };\n", "class A;\n"}) {
    INFO(declared);
    CHECK_THAT(complaint(declared + std::string("int f(A* a);"), "A* a"),
               has_text("x.h:2:5: error: A is a class in C++, and nothing in C [types-are-declared]"));
  }
  CHECK_THAT(refused("class A { public: int a; };\ntypedef struct { A a; } S;"),
             has_text("x.h:2:20: error: A is a class in C++"));
  CHECK_THAT(complaint("template <class T> struct V { T t; };\nint f(V<int>* a);", "V<int>* a"),
             has_text("x.h:2:5: error: V<int> is made of a template in C++"));
  CHECK_THAT(complaint("namespace n { struct P { int a; }; }\nint f(n::P* a);", "P* a"),
             has_text("x.h:2:5: error: P is in a namespace in C++"));
  CHECK_THAT(complaint("int f(int& a);", "int & a"), has_text("x.h:1:5: error: int & is a reference in C++"));
  CHECK_THAT(refused("enum class E : int { kA };\nint f(E a);"), has_text("x.h:2:5: error: E is a scoped enum in C++"));
  CHECK(refused("class A { public: int a; };\nint f(int a);") == "accepted");
  CHECK_THAT(complaint("#include <stdarg.h>\nint f(va_list a);", "va_list a"),
             has_text("x.h:2:5: error: va_list is another type on each machine"));
}

TEST_CASE("a comment that ends in a backslash does not swallow what follows it") {
  const auto folder = test::scratch("backslash");
  const std::string header =
      "/// ends so: \\ \nint f(int a);\n/** kA \\ */\nenum E { /** kB \\ */ kB };\n"
      "/** K \\ */\n#define K 3\n";
  const auto files =
      generate({{test::file(folder, "x.h", header), "1"}}, test::file(folder, "o.json", test::overlay("")));
  for (const File& file : files) {
    if (file.path.find(".hpp") == std::string::npos) continue;
    for (const std::string& line : lines_of(file.text)) {
      INFO(file.path << ": " << line);
      const auto last = line.find_last_not_of(" \t");
      CHECK((last == std::string::npos || line[last] != '\\'));
    }
  }
}

TEST_CASE("a name that the generated code means something else by is refused") {
  const std::string other = ": the generated code means something else by this name [names-are-usable]";
  CHECK_THAT(refused("typedef struct { int a; } Json;"),
             has_text("x.h:1:27: error: Json" + other) || has_text("Json" + other));
  for (const char* header :
       {"typedef enum { kMethods } E;", "struct Functions;", "typedef int Method;", "#define kFacts 1",
        "int bind(int a);", "typedef void (*Codec)(int a);", "enum E { value };", "typedef int call;",
        "#define kFields_S 1", "typedef struct { struct { int b; } a; } S;\ntypedef int S_a;"}) {
    INFO(header);
    CHECK_THAT(refused(header), has_text(other));
  }
  CHECK(refused("int call(int a);\ntypedef struct { int Json; } value;") == "accepted");
}

TEST_CASE("what is declared twice under one name, or called like its type, is refused") {
  CHECK_THAT(refused("struct stat { int a; };\nint stat(int n);"),
             has_text("x.h:2:5: error: a second declaration of stat, which C++ cannot tell from the first"));
  CHECK_THAT(refused("struct size { int a; };\ntypedef struct { struct size size; } S;"),
             has_text("error: the field size is called like a type in the same struct"));
  CHECK_THAT(refused("int f(int a);\nint f(float a);\n"), has_text("x.h:2:5: error: a second f,"));
  CHECK(refused("int f(int a);\nint f(int b);\nint f(const int a);\n") == "accepted");
  CHECK_THAT(refused("struct T { int a; };\nint f(int T, struct T t);"),
             has_text("x.h:2:11: error: the parameter T is called like the type of another"));
  CHECK(refused("enum E { kOne };\n#define kOne kOne\n") == "accepted");
}

TEST_CASE("words of C++20 and macros of the C library are no names") {
  CHECK_THAT(refused("int requires(int a);"), has_text("x.h:1:5: error: requires is a word of C++20"));
  CHECK_THAT(refused("int f(int concept);"), has_text("x.h:1:11: error: concept is a word of C++20"));
  CHECK_THAT(refused("typedef struct { int consteval; } S;"), has_text("consteval is a word of C++20"));
  CHECK_THAT(refused("#define EOF (-1)\n"), has_text("x.h:1:9: error: EOF is a macro of the C library"));
  CHECK_THAT(refused("typedef struct { int errno; } S;"), has_text("errno is a macro of the C library"));
  CHECK_THAT(refused("enum E { EINVAL, PRId64 };"), has_text("PRId64 is a macro of the C library"));
  CHECK(refused("enum E { END, ERROR, ENABLE, INT_24_MAX };") == "accepted");
}

TEST_CASE("parameters have names") {
  CHECK_THAT(refused("int f(int, char*);"),
             has_text("x.h:1:10: error: f: a parameter without a name; give it one in the header"));
  CHECK_THAT(refused("typedef enum { kWord, kEnd } S;\ntypedef struct { const char* text; int token; } R;\n"
                     "typedef int (*on_t)(R*, void*, S);\n",
                     R"-({"for":"R.text","quote":"const char* text","text":{"nullable":true}},
                         {"for":"on_t","quote":"typedef int (*on_t)(R*, void*, S)",
                          "stream":{"result":"R","state":"S","states":{"kWord":"token","kEnd":"end"},
                                    "text":"text","token":"token"}})-"),
             has_text("the stream of on_t: a parameter has no name; give it one in the header"));
}

TEST_CASE("a bit-field is refused where its bits cannot hold what is said of it, or something would refer to it") {
  const std::string given = R"({"for":"f.s","quote":"S* s","object":{}})";
  const std::string function = "\nint f(S* s);\n";
  CHECK_THAT(refused("typedef struct { float* v; unsigned n : 3; } S;" + function,
                     given + R"(,{"for":"S.v","quote":"float* v","array":{"counted_by":"n"}})"),
             has_text("S.n: a bit-field is a value that stands for itself"));
  CHECK_THAT(refused("typedef struct { int on : 1; } S;" + function,
                     given + R"(,{"for":"S.on","quote":"int on : 1","value":{"flag":true}})"),
             has_text("S.on: its only bit is a sign"));
  CHECK_THAT(refused("typedef struct { unsigned a : 3; } S;" + function,
                     given + R"(,{"for":"S.a","quote":"unsigned int a : 3","value":{"maximum":8}})"),
             has_text("S.a: its bits cannot hold all of its bounds"));
  CHECK_THAT(refused("typedef enum { A, B = 9 } E;\ntypedef struct { E e : 3; } S;" + function, given),
             has_text("S.e: its bits cannot hold B"));
  CHECK(refused("typedef struct { unsigned a : 3; unsigned : 5; int : 0; int8_t b : 2; } S;" + function, given) ==
        "accepted");
}
