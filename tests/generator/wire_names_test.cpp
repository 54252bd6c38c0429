// What a call answers is one JSON object, which has each name once; and what an overlay says of a text, a code or a
// function agrees with itself.
#include "refusal.hpp"
#include "support/catch.hpp"

using namespace bindgen;
using rkllm_mcp::test::has_text;

namespace {

std::string refused_names(const std::string& header, const std::string& entries) {
  return test::refusal(header, test::overlay(entries));
}

std::string entry(const std::string& path, const std::string& quote, const std::string& says) {
  return R"({"for":")" + path + R"(","quote":")" + quote + R"(",)" + says + "}";
}

std::string of_return(const std::string& type, const std::string& says) {
  return refused_names(type + " f(void);", entry("f.return", type, says));
}

std::string of_text(const std::string& says) {
  return refused_names("int f(const char* t);", entry("f.t", "const char* t", R"("text":{)" + says + "}"));
}

}  // namespace

TEST_CASE("a result has each name once") {
  const auto out = [](const std::string& name) { return entry("f." + name, "int* " + name, R"("out":{})"); };
  CHECK(refused_names("int f(int* a);", out("a")) == "accepted");
  CHECK_THAT(refused_names("int f(int* status);", out("status")),
             has_text("x.h:1:12: error: the result of f would have two members status; call one otherwise "
                      "[wire-names-are-different]"));
  CHECK_THAT(refused_names("unsigned f(int* value);", out("value")), has_text("two members value"));
  CHECK_THAT(refused_names("typedef struct { int a; } P;\nP f(int* a);", out("a")), has_text("two members a"));
  const auto predicate = [](const std::string& name) {
    return entry("f.return", "int", R"("predicate":{"name":")" + name + R"(","yes":1,"no":0})");
  };
  CHECK_THAT(refused_names("int f(void);", predicate("status")), has_text("two members status"));
  CHECK_THAT(refused_names("int f(int* x);", predicate("x") + "," + out("x")), has_text("two members x"));
}

TEST_CASE("a status or predicate fits into an int, and a predicate's answers into its type") {
  CHECK(of_return("int", R"("status":{})") == "accepted");
  CHECK_THAT(of_return("long long", R"("status":{})"),
             has_text("f.return: long long is wider than an int, which a status and a predicate are"));
  CHECK_THAT(of_return("unsigned long", R"("predicate":{"name":"x","yes":1,"no":0})"),
             has_text("is wider than an int"));
  CHECK(of_return("unsigned char", R"("predicate":{"name":"x","yes":255,"no":0})") == "accepted");
  CHECK_THAT(of_return("unsigned char", R"("predicate":{"name":"x","yes":256,"no":0})"),
             has_text("f.return: no unsigned char is 256"));
  CHECK_THAT(of_return("signed char", R"("predicate":{"name":"x","yes":1,"no":-129})"),
             has_text("no signed char is -129"));
}

TEST_CASE("what is said of a text is possible") {
  CHECK(of_text(R"("one_of":["a","b"],"min_length":1)") == "accepted");
  CHECK_THAT(of_text(R"("one_of":["a"],"min_length":2)"), has_text(R"("a" is shorter than its "min_length")"));
  CHECK_THAT(of_text(R"("one_of":["a","a"])"), has_text(R"("a" stands twice in "one_of" [texts-are-possible])"));
  CHECK_THAT(of_text(R"("one_of":["a\u0000b"])"), has_text("has NUL in it"));
  CHECK_THAT(of_text(R"("one_of":["[]"],"json":true)"), has_text("exclude each other"));
  CHECK_THAT(of_text(R"("file":"written","file_if_absent":"x")"), has_text("is for what is \"nullable\""));
  CHECK_THAT(of_return("const char*", R"("text":{"min_length":1})"), has_text("only \"freed_by\" is said"));
  const auto in_place = [](const std::string& says) {
    return refused_names(
        "typedef struct { char n[4]; } S;\nint f(const S* s);",
        entry("S.n", "char n[4]", R"("text":{)" + says + "}") + "," + entry("f.s", "const S* s", R"("object":{})"));
  };
  CHECK(in_place(R"("min_length":3,"one_of":["abc"])") == "accepted");
  CHECK_THAT(in_place(R"("min_length":4)"), has_text(R"(S.n: "min_length" is more than the array holds)"));
  CHECK_THAT(in_place(R"("one_of":["abcd"])"), has_text(R"("abcd" is longer than the array that holds it)"));
}

TEST_CASE("a status or predicate is of what a function returns, and no field holds a handle or callbacks") {
  CHECK_THAT(refused_names("int f(int z);", entry("f.z", "int z", R"("predicate":{"name":"q","yes":1,"no":0})")),
             has_text("are of what a function returns"));
  CHECK_THAT(refused_names("int f(int z);", entry("f.z", "int z", R"("status":{})")),
             has_text("are of what a function returns"));
  const std::string header = "typedef struct C C;\nC* mk(void);\ntypedef struct { C* c; } W;\nint w(const W* a);";
  const std::string rest = entry("mk.return", "C*", R"("handle":{"role":"creates"})") + "," +
                           entry("w.a", "const W* a", R"("object":{})") + ",";
  for (const char* const role : {"uses", "destroys", "creates"}) {
    INFO(role);
    CHECK_THAT(refused_names(header, rest + entry("W.c", "C* c", std::string(R"("handle":{"role":")") + role + "\"}")),
               has_text("W.c: \"handle\" and \"callbacks\" are of what a function is given"));
  }
}

TEST_CASE("an enum may be a status") {
  const std::string header = "typedef enum { kOk = 0, kBad = -1 } Code;\nCode f(int a);";
  CHECK(refused_names(header, entry("f.return", "Code", R"("status":{})")) == "accepted");
  CHECK(refused_names(header, "") == "accepted");
}

TEST_CASE("a value that must be given has no default, and the bounds of an array are those of its elements") {
  CHECK_THAT(refused_names("int f(int a);", entry("f.a", "int a", R"("value":{"required":true},"default":1)")),
             has_text("f.a: what is \"required\" has no \"default\""));
  CHECK_THAT(refused_names("int f(uint8_t* a, int n);",
                           entry("f.a", "uint8_t* a", R"("array":{"counted_by":"n","minimum":256})")),
             has_text("f.a: its bounds are beyond those of its C type"));
  CHECK_THAT(refused_names("int f(int* a, int n);",
                           entry("f.a", "int* a", R"("array":{"counted_by":"n","nullable":true,"together_with":"a"})")),
             has_text("\"together_with\" is for two parameters"));
}

TEST_CASE("what is said of a function agrees with its parameters") {
  const auto said = [](const std::string& says) {
    return refused_names("int f(int a);", entry("f", "int f(int a)", R"("function":{)" + says + "}"));
  };
  CHECK_THAT(said(R"("read_only":true,"destructive":true)"), has_text("exclude each other [functions-can-be-so]"));
  CHECK_THAT(said(R"("streams_by_default":true)"), has_text("f: it streams nothing, so not by default either"));
  CHECK_THAT(said(R"("aborts":true)"), has_text("f: it is given no handle whose run it could abort"));
  CHECK_THAT(refused_names("int f(void* u);", entry("f.u", "void* u", R"("userdata":{})")),
             has_text("f: there is no stream that its \"userdata\" could carry"));
}

TEST_CASE("a parameter that is declared as an array is given as many elements, or room for them") {
  const std::string point = "typedef struct { int x; } P;\n";
  const std::string object = R"("object":{})";
  CHECK(refused_names(point + "int f(const P p[1]);", entry("f.p", "const P* p", object)) == "accepted");
  CHECK_THAT(refused_names(point + "int f(const P p[4]);", entry("f.p", "const P* p", object)),
             has_text("x.h:2:15: error: f.p: it is declared as an array of 4, and this would be one of them "
                      "[declared-arrays-are-whole]"));
  CHECK_THAT(
      refused_names("int f(const int v[4], int n);", entry("f.v", "const int* v", R"("array":{"counted_by":"n"})")),
      has_text(
          "f.v: it is declared as an array of 4, and there may be fewer; if fewer will do, declare it as a pointer "
          "in the header, else say \"array\": {\"whole\": true} [declared"));
  CHECK_THAT(
      refused_names("int f(const char* v[3], int n);", entry("f.v", "const char** v", R"("array":{"counted_by":"n"})")),
      has_text("it is declared as an array of 3, and there may be fewer") && has_text("else mark it \"unused\""));
  CHECK_THAT(refused_names("int f(float v[4]);", entry("f.v", "float* v", R"("out":{"count":"session.n"})")),
             has_text("f.v: it is declared as an array of 4, and there may be fewer") &&
                 has_text("else say \"out\": {\"whole\": true}"));
  CHECK_THAT(refused_names("int f(int out[3]);", entry("f.out", "int* out", R"("out":{})")),
             has_text("f.out: it is declared as an array of 3"));
  const auto room = [](const std::string& least) {
    return refused_names("int f(char out[16], int n);",
                         entry("f.out", "char* out", R"("out":{"room":"n"})") + "," +
                             entry("f.n", "int n", R"("value":{"minimum":)" + least + R"(,"maximum":99})"));
  };
  CHECK(room("16") == "accepted");
  CHECK_THAT(room("15"), has_text("it is declared as an array of 16, so the \"minimum\" of its room is no less"));
}

TEST_CASE("a parameter is given as a whole only if it is declared with the number of its elements") {
  const auto whole = [](const std::string& declared, const std::string& quote, const std::string& more = "") {
    return refused_names("typedef int row[3];\ntypedef struct { int x; } P;\nint f(" + declared + ");",
                         entry("f.v", quote, R"("array":{"whole":true)" + more + "}"));
  };
  CHECK(whole("const float v[4]", "const float* v") == "accepted");
  CHECK(whole("float v[1]", "float* v") == "accepted");
  CHECK(whole("const float v[4]", "const float* v", R"(,"nullable":true)") == "accepted");
  CHECK(whole("const int v[2][3]", "const int (*v)[3]", R"(,"minimum":0)") == "accepted");
  CHECK(whole("const row v", "const int* v") == "accepted");
  CHECK(whole("const char v[16]", "const char* v") == "accepted");
  CHECK(whole("const P v[2]", "const P* v") == "accepted");
  const std::string misfit =
      "x.h:3:18: error: f.v: its meaning in the overlay does not fit its C type: \"whole\" is for an array of numbers, "
      "structs, characters or texts (not volatile ones), declared with the number of its elements (v[4]); say what "
      "counts it, as with \"counted_by\", or mark it \"unused\" [meanings-fit-types]";
  CHECK_THAT(whole("const int* v", "const int* v"), has_text(misfit));
  CHECK_THAT(whole("const int v[]", "const int* v"), has_text("f.v: its meaning in the overlay does not fit"));
  CHECK_THAT(whole("const int (*v)[4]", "const int (*v)[4]"), has_text("f.v: its meaning in the overlay does not fit"));
  CHECK(whole("const char* v[2]", "const char** v") == "accepted");
  for (const char* held : {"int*", "void*", "volatile int", "const char**"}) {
    const std::string type = held;
    CHECK_THAT(whole(type + " v[2]", type + "* v"), has_text("f.v: its meaning in the overlay does not fit"));
  }
}
