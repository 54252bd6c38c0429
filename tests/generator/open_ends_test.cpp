// Structs that end in an array of which nothing says how long it is: a library may read or write behind what is there.
#include "refusal.hpp"
#include "support/catch.hpp"

using namespace bindgen;
using rkllm_mcp::test::has_text;

namespace {

std::string with_open_end(const std::string& header, const std::string& entries) {
  return test::refusal(header, test::overlay(entries));
}

}  // namespace

TEST_CASE("a struct that ends in an array without a length is left by no function") {
  const std::string types =
      "typedef struct { int n; float data[]; } Open;\ntypedef struct { int a; Open open; } Around;\n";
  const std::string unused = R"({"for":"Open.data","quote":"float data[]","unused":{}},)";
  CHECK_THAT(
      with_open_end(types + "int f(Open* o);", unused + R"({"for":"f.o","quote":"Open* o","out":{}})"),
      has_text("x.h:3:13: error: f.o: Open ends in an array without a length, for which there would be no room"));
  CHECK_THAT(with_open_end(types + "int f(Around* o);", unused + R"({"for":"f.o","quote":"Around* o","out":{}})"),
             has_text("f.o: Around ends in an array without a length"));
}

TEST_CASE("no number that a client gives can say how much there is behind the end of a struct") {
  const std::string open = "typedef struct {\n  int n;\n  float data[];\n} Open;\n";
  const std::string unused = R"({"for":"Open.data","quote":"float data[]","unused":{}},)";
  const std::string o = R"({"for":"f.o","quote":"const Open* o","object":{}})";
  const std::string nothing = R"(,{"for":"Open.n","quote":"int n","unused":{}})";
  const auto given = [&](const std::string& function, const std::string& entries) {
    return with_open_end(open + function, unused + entries);
  };
  CHECK_THAT(given("int f(const Open* o);", o),
             has_text("x.h:3:9: error: Open.data: nothing says how many elements it has, and Open.n, which a client "
                      "gives to f, could say more than there is room for") &&
                 has_text("[open-ends-stay-empty]"));
  CHECK(given("int f(const Open* o);", o + nothing) == "accepted");
  CHECK(given("int f(const Open* o, bool all, float x);", o + nothing) == "accepted");
  CHECK(given("int f(const Open* o);", o + R"(,{"for":"Open.n","quote":"int n","value":{"minimum":0,"maximum":0}})") ==
        "accepted");
  CHECK_THAT(given("int f(const Open* o);", o + R"(,{"for":"Open.n","quote":"int n","value":{"maximum":0}})"),
             has_text("Open.data: nothing says"));
  // Beside it, around it, beside what leads to it, and where it counts something else.
  CHECK_THAT(given("int f(const Open* o, unsigned long bytes);", o + nothing), has_text("and f.bytes, which"));
  CHECK_THAT(given("int f(const Open* o, unsigned* n);",
                   o + nothing + R"(,{"for":"f.n","quote":"unsigned int* n","in_out":{}})"),
             has_text("and f.n, which"));
  CHECK_THAT(given("typedef struct { int k; Open open; } Around;\nint f(Around o);", nothing.substr(1)),
             has_text("and Around.k, which"));
  CHECK_THAT(given("typedef struct { int k; const Open* open; } Around;\nint f(Around o);",
                   R"({"for":"Around.open","quote":"const Open* open","object":{}})" + nothing),
             has_text("and Around.k, which"));
  CHECK_THAT(given("int f(const Open* o, const int* v, int count);",
                   o + nothing + R"(,{"for":"f.v","quote":"const int* v","array":{"counted_by":"count"}})"),
             has_text("and f.v, which a client gives to f"));
  // Before C99 such an array had one element.
  const std::string one = "typedef struct {\n  int n;\n  float data[1];\n} Open;\n";
  const auto with_one = [&](const std::string& function, const std::string& says, const std::string& entries) {
    return with_open_end(one + function, R"({"for":"Open.data","quote":"float data[1]",)" + says + "}," + entries);
  };
  CHECK_THAT(
      with_one("int f(const Open* o);", R"("unused":{})", o),
      has_text("to 1; if this array has one element, say \"unused\": {\"whole\": true}, or \"array\": {\"whole\": "
               "true} to have it on the wire"));
  CHECK(with_one("int f(const Open* o);", R"("unused":{"whole":true})", o) == "accepted");
  CHECK(with_one("int f(const Open* o);", R"("array":{"whole":true})", o) == "accepted");
  CHECK(with_one("int f(const Open* o);", R"("array":{"counted_by":"n"})", o) == "accepted");
  CHECK_THAT(with_one("int f(const Open* o, int k);", R"("unused":{})",
                      R"({"for":"f.o","quote":"const Open* o","array":{"counted_by":"k"}})"),
             has_text("and Open.n, which"));
  CHECK_THAT(with_one("int f(Open* o, int k);", R"("unused":{})", R"({"for":"f.o","quote":"Open* o","out":{}})"),
             has_text("and f.k, which"));
  CHECK(with_one("int f(Open* o);", R"("unused":{})", R"({"for":"f.o","quote":"Open* o","out":{}})") == "accepted");
  CHECK_THAT(with_open_end("typedef struct {\n  unsigned n;\n  char name[1];\n} S;\nint f(S s);",
                           R"({"for":"S.name","quote":"char name[1]","text":{}})"),
             has_text("x.h:3:8: error: S.name: nothing says"));
  CHECK_THAT(with_open_end("typedef struct {\n  int n;\n  union { int a; float b[1]; };\n} S;\nint f(S s);",
                           R"({"for":"S.union","quote":"union { int a; float b[1]; }","unused":{}})"),
             has_text("S.b: nothing says"));
}

TEST_CASE("numbers of an array could say how much there is behind the end of a struct as well") {
  const std::string header = "typedef struct { int dims[4]; float data[]; } Open;\nint f(const Open* o);";
  const std::string entries = R"({"for":"Open.data","quote":"float data[]","unused":{}},)"
                              R"({"for":"f.o","quote":"const Open* o","object":{}},)"
                              R"({"for":"Open.dims","quote":"int dims[4]",)";
  CHECK_THAT(
      with_open_end(header, entries + R"("array":{"whole":true}})"),
      has_text(
          "Open.data: nothing says how many elements it has, and Open.dims, which a client gives to f, "
          "could say more than there is room for; mark what is given there \"unused\", or leave the function out"));
  CHECK(with_open_end(header, entries + R"("unused":{}})") == "accepted");
}

TEST_CASE("an array of one element that has no form on the wire can be said to be whole") {
  const auto with_private = [](const std::string& type, const std::string& path, const std::string& quote,
                               const std::string& says) {
    return with_open_end("typedef struct {\n  int n;\n  " + type + ";\n} S;\nint f(S s);",
                         R"({"for":")" + path + R"(","quote":")" + quote + R"(","unused":)" + says + "}");
  };
  const std::string whole = R"(; if this array has one element, say "unused": {"whole": true})";
  CHECK_THAT(with_private("void* priv[1]", "S.priv", "void* priv[1]", "{}"),
             has_text("x.h:3:9: error: S.priv: nothing says how many elements it has") &&
                 has_text(whole + " [open-ends-stay-empty]"));
  CHECK(with_private("void* priv[1]", "S.priv", "void* priv[1]", R"({"whole":true})") == "accepted");
  const std::string in_union = "union { int a; float b[1]; }";
  CHECK_THAT(with_private(in_union, "S.union", in_union, "{}"), has_text(whole + " of S.union [open"));
  CHECK(with_private(in_union, "S.union", in_union, R"({"whole":true})") == "accepted");
  CHECK_THAT(with_private("void* priv[]", "S.priv", "void* priv[]", R"({"whole":true})"),
             has_text("x.h:3:9: error: S.priv: its meaning in the overlay does not fit its C type: \"whole\" is for an "
                      "array with a length, a struct or a union; say \"unused\": {} [meanings-fit-types]"));
  CHECK_THAT(with_private("void* priv", "S.priv", "void* priv", R"({"whole":true})"),
             has_text("does not fit its C type: \"whole\" is for an array with a length"));
}

TEST_CASE("what is said to be whole is what ends a struct openly, and nothing else") {
  const std::string nothing =
      R"(: "whole" says nothing here: it is for what ends a struct in an array of one element, behind which there )"
      R"(could be more; say "unused": {} [wholes-are-open-ends])";
  const auto with_whole = [](const std::string& fields, const std::string& path, const std::string& quote) {
    return with_open_end("typedef struct {\n  int k;\n  void* end[1];\n} Inner;\ntypedef struct {\n  " + fields +
                             "\n} S;\nint f(S s);\n",
                         R"({"for":"Inner.end","quote":"void* end[1]","unused":{"whole":true}},)"
                         R"({"for":")" +
                             path + R"(","quote":")" + quote + R"(","unused":{"whole":true}})");
  };
  CHECK_THAT(with_whole("void* a[1];\n  int n;", "S.a", "void* a[1]"), has_text("x.h:6:9: error: S.a" + nothing));
  CHECK_THAT(with_whole("int n;\n  void* a[4];", "S.a", "void* a[4]"), has_text("x.h:7:9: error: S.a" + nothing));
  CHECK_THAT(with_whole("Inner in;\n  int n;", "S.in", "Inner in"), has_text("x.h:6:9: error: S.in" + nothing));
  CHECK(with_whole("int n;\n  Inner in;", "S.in", "Inner in") == "accepted");
  const std::string tail = "struct { int k; void* end[1]; }";
  CHECK(with_whole("int n;\n  " + tail + " in;", "S.in", tail + " in") == "accepted");
  CHECK(with_whole(tail + " in;\n  int n;", "S.in.end", "void* end[1]") == "accepted");
  // Nor is it for anything but fields.
  const std::string unused = R"("unused":{"whole":true}})";
  const std::string types = "typedef struct { int a; void* end[1]; } T;\ntypedef void* Ends[1];\n";
  const std::string end = R"({"for":"T.end","quote":"void* end[1]","unused":{}},)";
  const auto said = [&](const std::string& function, const std::string& entry) {
    return with_open_end(types + function, end + entry + unused);
  };
  CHECK_THAT(said("int f(T t);", R"({"for":"f.t","quote":"T t",)"), has_text("x.h:3:9: error: f.t" + nothing));
  CHECK_THAT(said("int f(T* t);", R"({"for":"f.t","quote":"T* t",)"), has_text("f.t: its meaning in the overlay does"));
  const std::string of_fields = R"( says "whole", which is for fields; say "unused": {})";
  CHECK_THAT(said("int f(void);", R"x({"for":"f","quote":"int f(void)",)x"), has_text("the entry for f" + of_fields));
  CHECK_THAT(said("int f(void);", R"({"for":"f.return","quote":"int",)"),
             has_text("the entry for f.return" + of_fields));
  CHECK_THAT(said("int f(void);", R"({"for":"Ends","quote":"typedef void* Ends[1]",)"),
             has_text("the entry for Ends" + of_fields));
}
