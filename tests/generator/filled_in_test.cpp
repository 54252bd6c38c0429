// What a function fills in: into room that is known, chosen by what stands before it.
#include "refusal.hpp"
#include "support/catch.hpp"

using bindgen::test::with_entry;
using rkllm_mcp::test::has_text;

TEST_CASE("what a function fills in is a parameter with room that is known") {
  const auto out = [](const std::string& header, const std::string& entries) { return with_entry(header, entries); };
  CHECK_THAT(out("typedef struct { int* n; } S;", R"({"for":"S.n","quote":"int* n","out":{}})"),
             has_text("S.n: only a parameter can be \"out\" or \"changed\", not a field [outs-are-of-parameters]"));
  CHECK_THAT(out("int f(const int* n);", R"({"for":"f.n","quote":"const int* n","out":{}})"),
             has_text("its meaning in the overlay does not fit its C type"));
  CHECK_THAT(out("int f(void* n);", R"({"for":"f.n","quote":"void* n","out":{}})"),
             has_text("does not fit its C type"));
  CHECK_THAT(out("struct T; int f(struct T* t);", R"({"for":"f.t","quote":"T* t","out":{}})"),
             has_text("its C type is no struct or enum that the header declares"));
  const std::string text = "int f(char* text, int size);";
  CHECK_THAT(out(text, R"({"for":"f.text","quote":"char* text","out":{}})"), has_text("does not fit its C type"));
  const std::string entry = R"({"for":"f.text","quote":"char* text","out":{"room":"size"}})";
  CHECK_THAT(out(text, entry), has_text("f.size: it says how much room there is, so its \"value\" needs"));
  CHECK_THAT(out(text, R"({"for":"f.text","quote":"char* text","out":{"room":"none"}})"),
             has_text("its \"room\" names no integer parameter"));
  const auto sized = [](const std::string& value) {
    return R"(,{"for":"f.size","quote":"int size","value":)" + value + "}";
  };
  CHECK_THAT(out(text, entry + sized(R"({"minimum":0,"maximum":9})")), has_text("needs a \"minimum\" of 1"));
  CHECK_THAT(out(text, entry + sized(R"({"minimum":1,"maximum":99999999})")), has_text("no more than 16777216"));
  CHECK(out(text, entry + sized(R"({"minimum":1,"maximum":9})")) == "accepted");
  CHECK_THAT(out("typedef struct { int all[1024]; } S;\nint f(S* s, int size);",
                 R"({"for":"f.s","quote":"S* s","out":{"room":"size"}},
                    {"for":"S.all","quote":"int all[1024]","array":{"whole":true}})" +
                     sized(R"({"minimum":1,"maximum":5000})")),
             has_text("no more than 4096"));
  CHECK_THAT(out("typedef struct { int all[5000000]; } S;\nint f(S* s, int size);",
                 R"({"for":"f.s","quote":"S* s","out":{"room":"size"}},
                    {"for":"S.all","quote":"int all[5000000]","array":{"whole":true}})" +
                     sized(R"({"minimum":1,"maximum":1})")),
             has_text("f.s: one element has 20000000 bytes, and the room for all is 16777216 at most") &&
                 !has_text("no more than 0"));
  CHECK_THAT(out("int f(const int m[2][3]);", R"({"for":"f.m","quote":"const int (*m)[3]","out":{"whole":true}})"),
             has_text("f.m: its meaning in the overlay does not fit its C type"));
  CHECK_THAT(out("int f(char** text);", R"({"for":"f.text","quote":"char** text","out":{}})"),
             has_text("does not fit its C type"));  // it would have to be freed
  CHECK(out("int f(const char** text);", R"({"for":"f.text","quote":"const char** text","out":{}})") == "accepted");
  CHECK_THAT(out("int f(char* names[2]);", R"({"for":"f.names","quote":"char** names","out":{"whole":true}})"),
             has_text("does not fit its C type"));
  CHECK(out("int f(const char* names[2]);", R"({"for":"f.names","quote":"const char** names","out":{"whole":true}})") ==
        "accepted");
  CHECK_THAT(out("int f(char* a, char* b, int size);",
                 R"({"for":"f.a","quote":"char* a","out":{"room":"size"}},
                    {"for":"f.b","quote":"char* b","out":{"room":"size"}})" +
                     sized(R"({"minimum":1,"maximum":9})")),
             has_text("its \"room\" is that of another parameter, too"));
}

TEST_CASE("what says how much was filled in is left by the function") {
  const auto filled = [](const std::string& by) {
    return with_entry("int f(int* v, int n);",
                      R"({"for":"f.v","quote":"int* v","out":{"room":"n","filled":")" + by + R"("}},)" +
                          R"({"for":"f.n","quote":"int n","value":{"minimum":1,"maximum":4}})");
  };
  CHECK_THAT(filled("n"), has_text("f.v: its \"filled\" names no integer that is \"out\" or \"in_out\""));
  CHECK_THAT(filled("return"), has_text("f.v: its \"filled\" is what is returned, and that is no integer \"value\""));
  CHECK_THAT(with_entry("int f(int* v);", R"({"for":"f.v","quote":"int* v","out":{"whole":true}})"),
             has_text("f.v: \"whole\" is for what is declared with a number of elements"));
  CHECK_THAT(with_entry("int f(int* n);", R"({"for":"f.n","quote":"int* n","in_out":{"maximum":4},"default":9})"),
             has_text("f.n: its \"default\" in the overlay is impossible: it is out of range"));
  CHECK_THAT(with_entry("int f(int x, ...);", R"x({"for":"f","quote":"int f(int y, ...)","unused":{}})x"),
             has_text("x.h:1:5: error: f is not what its overlay entry was written for"));
}

TEST_CASE("what chooses stands before what it chooses, and both are known") {
  const auto chosen = [](const std::string& params, const std::string& structs) {
    return with_entry(
        "typedef enum { kA, kB } E;\ntypedef struct { int x; } S;\nint f(" + params + ");",
        R"({"for":"f.info","quote":"void* info","out":{"chosen_by":"e","size":"n","structs":)" + structs + "}}");
  };
  CHECK(chosen("E e, void* info, unsigned n", R"({"kA":"S"})") == "accepted");
  CHECK_THAT(chosen("void* info, unsigned n, E e", R"({"kA":"S"})"),
             has_text("x.h:3:13: error: f.info: \"chosen_by\" names no enum before it that is on the wire"));
  CHECK_THAT(chosen("E e, void* info, unsigned n", R"({"kC":"S"})"),
             has_text("f.info: kC is no enumerator of its \"chosen_by\""));
  CHECK_THAT(chosen("E e, void* info, unsigned n", R"({"kA":"T"})"),
             has_text("f.info: T is no struct that the header declares"));
}

TEST_CASE("an enumerator chooses one struct, whose size fits into what is told it") {
  const auto chosen = [](const std::string& size, const std::string& structs) {
    return with_entry(
        "typedef enum { kA, kB, kAlsoB = kB } E;\ntypedef struct { char big[200]; } S;\n"
        "typedef struct { int n; float data[]; } Open;\nint f(E e, void* info, " +
            size + " n);",
        R"({"for":"S.big","quote":"char big[200]","text":{}},{"for":"Open.data","quote":"float data[]","unused":{}},
           {"for":"f.info","quote":"void* info","out":{"chosen_by":"e","size":"n","structs":)" +
            structs + "}}");
  };
  CHECK(chosen("unsigned char", R"({"kA":"S"})") == "accepted");
  CHECK_THAT(chosen("signed char", R"({"kA":"S"})"),
             has_text("x.h:4:18: error: f.info: its \"size\" n is too narrow for the 200 bytes of S"));
  CHECK_THAT(chosen("int", R"({"kB":"S","kAlsoB":"S"})"),
             has_text("f.info: kB and kAlsoB have one value, so they choose no struct each"));
  CHECK_THAT(chosen("int", R"({"kB":"Open"})"), has_text("f.info: Open ends in an array without a length"));
}
