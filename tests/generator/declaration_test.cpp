#include "support/catch.hpp"
#include "temporary.hpp"

#include "read/declaration.hpp"
#include "read/header.hpp"

using namespace bindgen;

TEST_CASE("declarations are spelled from facts, as the header names its types") {
  const auto folder = test::scratch("declarations");
  const c::Header header = read_header(test::file(folder, "x.h", R"(
    typedef struct { int32_t a[3]; const char* const* names; struct { size_t n; } in; union { bool b; float f; }; } S;
    typedef void* handle_t;
    typedef int (*callback_t)(handle_t who, const S* what);
    void call(handle_t* h, unsigned char c, const float* v);
  )"));
  const auto& record = *c::find<c::Record>(header, "S");
  CHECK(declaration(record.fields[0]) == "int32_t a[3]");
  CHECK(declaration(record.fields[1]) == "const char* const* names");
  CHECK(declaration(record.fields[2]) == "struct { size_t n; } in");
  CHECK(declaration(record.fields[3]) == "union { bool b; float f; }");
  CHECK(declaration(*c::find<c::Alias>(header, "handle_t")) == "typedef void* handle_t");
  CHECK(declaration(*c::find<c::Callback>(header, "callback_t")) ==
        "typedef int (*callback_t)(handle_t who, const S* what)");
  CHECK(declaration(*c::find<c::Function>(header, "call")) ==
        "void call(handle_t* h, unsigned char c, const float* v)");
}

TEST_CASE("function pointers, variable arguments, bit-fields and arrays are spelled as C spells them") {
  const auto folder = test::scratch("idioms");
  const c::Header header = read_header(test::file(folder, "x.h", R"(
    #include <stdarg.h>
    typedef struct stream stream;
    typedef int id_type;
    typedef struct {
      int (*open)(stream* s, const char*, ...);
      void (*at_exit[2])(void);
      char* (*(*factory)(int a))(void);
      int grid[2][3];
      int (*row)[3];
      unsigned low : 3, high : 5;
      long double precise;
      char rest[];
    } S;
    void (*signal_of(int n, void (*action)(int)))(int);
    int sum(int values[4], int each(int));
    int print(const char* format, va_list arguments);
    int print(const char* format, va_list arguments);
    void touch(volatile int* flag);
    struct outer { struct inner { int a; } b; };
  )"));
  const auto fields = c::find<c::Record>(header, "S")->fields;
  const char* const expected[] = {"int (*open)(stream*, const char*, ...)",
                                  "void (*at_exit[2])(void)",
                                  "char* (*(*factory)(int))(void)",
                                  "int grid[2][3]",
                                  "int (*row)[3]",
                                  "unsigned int low : 3",
                                  "unsigned int high : 5",
                                  "long double precise",
                                  "char rest[]"};
  REQUIRE(fields.size() == std::size(expected));
  for (std::size_t i = 0; i < fields.size(); ++i) CHECK(declaration(fields[i]) == expected[i]);
  CHECK(spelling(fields[3].type) == "int[2][3]");
  CHECK(fields[6].first_bit == Layout{3, 3});
  CHECK(declaration(*c::find<c::Alias>(header, "id_type")) == "typedef int id_type");
  CHECK(c::find<c::Opaque>(header, "stream") != nullptr);
  CHECK(c::find<c::Record>(header, "stream") == nullptr);
  CHECK(declaration(*c::find<c::Function>(header, "signal_of")) ==
        "void (*signal_of(int n, void (*action)(int)))(int)");
  const auto& sum = *c::find<c::Function>(header, "sum");
  CHECK(declaration(sum) == "int sum(int* values, int (*each)(int))");
  CHECK(sum.params.front().type.size == Layout{8, 4});
  CHECK(declaration(*c::find<c::Function>(header, "print")) == "int print(const char* format, va_list arguments)");
  CHECK(c::all<c::Function>(header).size() == 4);  // print is declared twice
  CHECK(declaration(*c::find<c::Function>(header, "touch")) == "void touch(volatile int* flag)");
  CHECK(declaration(c::find<c::Record>(header, "outer")->fields[0]) == "inner b");
  CHECK(c::find<c::Record>(header, "inner")->size == Layout{4, 4});
}

TEST_CASE("spacing does not make declarations different, words do") {
  CHECK(normalized("const  char *name ;") == normalized("const char* name"));
  CHECK(normalized("int f( int a,int b )") == normalized("int f(int a, int b)"));
  CHECK(normalized("const char* name") != normalized("char* name"));
  CHECK(normalized("unsigned int a") != normalized("unsignedint a"));
}

TEST_CASE("macros are values if C says so") {
  const auto folder = test::scratch("macros");
  const c::Header header = read_header(test::file(folder, "x.h", R"(
#ifndef GUARD
#define GUARD
/** One bit. */
#define BIT (1 << 4)
#define RATIO 0.5
#define NAME "name"
#define EXPORT __attribute__((visibility("default")))
#define BRACE }
#define TWICE(x) ((x) * 2)
#endif
  )"));
  const auto macros = c::all<c::Macro>(header);
  REQUIRE(macros.size() == 3);
  CHECK(std::get<std::int64_t>(macros[0]->value) == 16);
  CHECK(macros[0]->documentation.text == "One bit.");
  CHECK(std::get<double>(macros[1]->value) == 0.5);
  CHECK(std::get<std::string>(macros[2]->value) == "name");
}

TEST_CASE("a header that relies on others having been included is read, as C and as C++ spell them") {
  const auto folder = test::scratch("includes");
  const c::Header header = read_header(test::file(folder, "x.h", R"(
#include <cstdint>
#ifdef __cplusplus
extern "C" {
#endif
typedef enum { kA = 1 } E;
struct Tagged { size_t size; bool flag; E e; };
typedef struct Tagged Tagged;
int use(struct Tagged* t);
#ifdef __cplusplus
}
#endif
  )"));
  CHECK(c::find<c::Enum>(header, "E")->enumerators.front().value == 1);
  CHECK(c::find<c::Record>(header, "Tagged")->size == Layout{16, 12});
  CHECK(c::all<c::Record>(header).size() == 1);
  CHECK(declaration(*c::find<c::Function>(header, "use")) == "int use(Tagged* t)");
}

TEST_CASE("a typedef that is said again is one") {
  const auto folder = bindgen::test::scratch("typedef_again");
  const c::Header header = read_header(bindgen::test::file(
      folder, "x.h",
      "typedef struct _X X; typedef struct _X X;\ntypedef int (*cb)(int a); typedef int (*cb)(int a);\n"
      "typedef unsigned U; typedef unsigned U;\nint f(X* x, cb c, U u);\n"));
  CHECK(c::all<c::Alias>(header).size() == 2);
  CHECK(c::all<c::Callback>(header).size() == 1);
}

TEST_CASE("enumerators have the sign of their enum") {
  const auto folder = test::scratch("enumerators");
  const auto values = [&](const std::string& text) {
    const c::Header header = read_header(test::file(folder, "x.h", text));
    std::vector<std::int64_t> found;
    for (const c::Enumerator& one : c::all<c::Enum>(header).front()->enumerators) found.push_back(one.value);
    return found;
  };
  CHECK(values("enum F { A = 0xFFFFFFFF, B = 0x80000000, C = 1 };") ==
        std::vector<std::int64_t>{0xFFFFFFFF, 0x80000000, 1});
  CHECK(values("enum F { A = 0xFFFFFFFF, B = -1 };") == std::vector<std::int64_t>{0xFFFFFFFF, -1});
  CHECK(values("enum F : unsigned char { A = 255 };") == std::vector<std::int64_t>{255});
  CHECK(values("enum F { A = -2147483647 - 1 };") == std::vector<std::int64_t>{-2147483648});
  CHECK(values("enum F { A = 0x7FFFFFFFFFFFFFFF };") == std::vector<std::int64_t>{INT64_MAX});
}

TEST_CASE("the type of an enum that needs 64 bits has one name on all targets") {
  const auto folder = test::scratch("enum_types");
  const c::Header header = read_header(
      test::file(folder, "x.h", "enum F { A = 0xFFFFFFFF, B = -1 };\nenum G { C = 0xFFFFFFFFFF };\nenum H { D };"));
  std::vector<std::string> names;
  for (const c::Enum* entity : c::all<c::Enum>(header)) names.push_back(spelling(entity->underlying));
  CHECK(names == std::vector<std::string>{"long long", "unsigned long long", "unsigned int"});
}
