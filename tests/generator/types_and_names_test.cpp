// What the overlay says of a type, or by a name, that C means otherwise.
#include "refusal.hpp"
#include "support/catch.hpp"

using namespace bindgen;
using bindgen::test::kTag;
using bindgen::test::with_entry;
using rkllm_mcp::test::has_text;

TEST_CASE("parameters have names that the generated code does not use itself") {
  CHECK_THAT(with_entry("int f(int params);", ""), has_text("f: the generated code has a variable params of its own"));
  CHECK_THAT(with_entry("int f(int call);", ""), has_text("[names-are-usable]"));
}

TEST_CASE("parameters are called like nothing that the stub of their function calls") {
  const auto refused = [](const std::string& name) {
    return has_text("the generated code means something else by " + name + "; rename the parameter in the header");
  };
  for (const char* name : {"counted_by", "Functions", "Json", "kRequired", "tell_out_value"}) {
    CHECK_THAT(with_entry(std::string("int f(int ") + name + ");", ""), refused(name));
  }
  const std::string buffer = R"({"for":"f.buf","quote":"char* buf","out":{"room":"room","filled":"filled"}},)"
                             R"({"for":"f.room","quote":"int room","value":{"minimum":1,"maximum":9}},)"
                             R"({"for":"f.filled","quote":"int* filled","out":{}})";
  CHECK_THAT(with_entry("int f(char* buf, int room, int* filled);", buffer), refused("filled"));
  CHECK(with_entry("int f(int filled, float factor, int choice, int encode, int remember);", "") == "accepted");
  CHECK_THAT(with_entry("typedef struct { int a; } S;\nS f(int encode);", ""), refused("encode"));
}

TEST_CASE("a default is an enumerator also where a parameter has its name") {
  const auto folder = test::scratch("default_names");
  const std::string header = test::file(folder, "x.h", kTag + "int f(T kB, T t);");
  const std::string entries = test::file(folder, "o.json",
                                         test::overlay(R"({"for":"f.kB","quote":"T kB","default":"kB"},)"
                                                       R"({"for":"f.t","quote":"T t","default":"kB"})"));
  std::string methods;
  for (const File& file : generate({{header, "1.0"}}, entries)) {
    if (file.path.ends_with("methods.hpp")) methods = file.text;
  }
  CHECK_THAT(methods, has_text("T kB = T::kB;") && has_text("T t = T::kB;"));
}

TEST_CASE("a type that only an included header declares is refused, unless it is a number") {
  CHECK_THAT(with_entry("#include <sys/time.h>\nint f(struct timeval t);", ""),
             has_text("timeval is declared in another header, which is not read; declare it in this one"));
  CHECK(with_entry(kTag + "typedef T Other;\nint f(Other t);", "") == "accepted");
  CHECK(with_entry("#include <stdint.h>\nint f(uint_fast8_t t, unsigned long long u);", "") == "accepted");
}

TEST_CASE("a typedef is another name for a struct or an enum of the header, by whose own name it goes") {
  const std::string header =
      "typedef struct _point { int x; struct _point* next; } point;\ntypedef enum _kind { kOne } kind;\n"
      "typedef point other;\nint f(const point* p, const struct _point* q, const other* r, kind k);";
  CHECK(with_entry(header, R"({"for":"_point.next","quote":"_point* next","unused":{}},)"
                           R"({"for":"f.p","quote":"const _point* p","object":{}},)"
                           R"({"for":"f.q","quote":"const _point* q","object":{}},)"
                           R"({"for":"f.r","quote":"const _point* r","object":{}})") == "accepted");
  // Not where it says more, or where nothing is known of the struct.
  CHECK_THAT(with_entry("struct _point { int x; };\ntypedef const struct _point cpoint;\nint f(cpoint* p);",
                        R"({"for":"f.p","quote":"cpoint* p","unused":{}})"),
             has_text("cpoint is const or volatile"));
  CHECK(with_entry("typedef struct _op op;\nint f(op* p);",
                   R"({"for":"f.p","quote":"op* p","handle":{"role":"uses"}})") == "accepted");
}

TEST_CASE("what is declared as several is none of it") {
  CHECK_THAT(with_entry("int f(int n[2]);", R"({"for":"f.n","quote":"int* n","in_out":{}})"),
             has_text("f.n: it is declared as an array of 2, and this would be one of them"));
  CHECK_THAT(with_entry("typedef struct obj obj;\nint f(obj* o[2]);",
                        R"({"for":"f.o","quote":"obj** o","handle":{"role":"creates"}})"),
             has_text("f.o: it is declared as an array of 2, and this would be one of them"));
  CHECK_THAT(with_entry("int f(const char key[16]);", R"({"for":"f.key","quote":"const char* key","text":{}})"),
             has_text("f.key: it is declared as an array of 16, and a text may be shorter; say \"array\": {\"whole\": "
                      "true} for so many bytes"));
  CHECK_THAT(with_entry("typedef int M[2];\nint f(const M v);",
                        R"({"for":"f.v","quote":"const int* v","out":{"whole":true}})"),
             has_text("does not fit its C type"));
  CHECK_THAT(
      with_entry(
          "typedef struct { int n; int v[]; } S;\nint f(const S* s, int k);",
          R"({"for":"S.v","quote":"int v[]","unused":{}},{"for":"f.s","quote":"const S* s","array":{"counted_by":"k"}})"),
      has_text("f.s: S ends in an array without a length, so there is no array of them"));
}

TEST_CASE("a parameter that is an array of as many elements as another says is a pointer") {
  CHECK(with_entry("int f(int n, const int v[n]);",
                   R"({"for":"f.v","quote":"const int* v","array":{"counted_by":"n"}})") == "accepted");
}

TEST_CASE("a plain char is signed on some machines and not on others, so it is a question, and as a value its byte") {
  const std::string header = "typedef struct { char a; } S;\nint f(S* s);";
  const std::string object = R"(,{"for":"f.s","quote":"S* s","object":{}})";
  CHECK_THAT(with_entry("char f(char c);", ""),
             has_text("nothing says what f.c means") && has_text("nothing says what f.return means"));
  CHECK(with_entry(header, R"({"for":"S.a","quote":"char a","value":{"minimum":1,"maximum":255}})" + object) ==
        "accepted");
  CHECK(with_entry(header, R"({"for":"S.a","quote":"char a","value":{"flag":true},"default":true})" + object) ==
        "accepted");
  const auto said = [&](const std::string& says) {
    return with_entry(header, R"({"for":"S.a","quote":"char a",)" + says + "}" + object);
  };
  CHECK_THAT(said(R"("value":{"minimum":-1})"), has_text("its bounds are beyond those of its C type"));
  CHECK_THAT(said(R"("value":{"maximum":256})"), has_text("its bounds are beyond those of its C type"));
  CHECK_THAT(said(R"("value":{"minimum":0.5})"), has_text("the bounds of an integer are integers"));
  CHECK(said(R"("value":{},"default":127)") == "accepted");
  CHECK_THAT(said(R"("value":{},"default":128)"), has_text("it is out of range"));
  CHECK_THAT(said(R"("value":{},"default":0.5)"), has_text("it is no integer"));
  CHECK_THAT(
      with_entry("typedef struct { char a : 3; } S;\nint f(S s);", R"({"for":"S.a","quote":"char a : 3","value":{}})"),
      has_text("a bit-field of char is signed on some machines and not on others"));
  CHECK_THAT(with_entry("int f(char* c);", R"({"for":"f.c","quote":"char* c","out":{}})"),
             has_text("does not fit its C type"));
  CHECK_THAT(with_entry("char f(int n);", R"({"for":"f.return","quote":"char","status":{}})"),
             has_text("its meaning in the overlay is none of a result"));
  // It could say how long something is.
  CHECK_THAT(with_entry("typedef struct { char n; int v[]; } S;\nint f(const S* s);",
                        R"({"for":"S.v","quote":"int v[]","unused":{}},{"for":"S.n","quote":"char n","value":{}},)"
                        R"({"for":"f.s","quote":"const S* s","object":{}})"),
             has_text("S.n, which a client gives to f, could say more"));
}

TEST_CASE("an array in place of pointers at texts is an array, of one row") {
  const auto said = [](const std::string& type, const std::string& says, const std::string& use = "const S* s") {
    return with_entry("typedef struct { " + type + "; int n; } S;\nint f(" + use + ");",
                      R"({"for":"S.a","quote":")" + type + R"(",)" + says + R"(},{"for":"f.s","quote":")" + use +
                          R"(","object":{)" + (use == "S* s" ? R"("changed":true)" : "") + "}}");
  };
  CHECK(said("const char* a[4]", R"("array":{"whole":true})") == "accepted");
  CHECK(said("char* a[4]", R"("array":{"counted_by":"n"})") == "accepted");
  CHECK(said("const char* a[4]", R"("array":{"whole":true})", "S* s") == "accepted");
  CHECK_THAT(said("const char* a[2][4]", R"("array":{"whole":true})"), has_text("does not fit its C type"));
  CHECK_THAT(said("int* a[4]", R"("array":{"whole":true})"), has_text("does not fit its C type"));
  CHECK_THAT(with_entry("typedef struct { const char* volatile a[4]; } S;\nint f(S s);",
                        R"({"for":"S.a","quote":"const char* a[4]","array":{"whole":true}})"),
             has_text("does not fit its C type"));
  CHECK_THAT(said("const char* a[4]", R"("text":{})"), has_text("does not fit its C type"));
  CHECK(with_entry("int f(const char* const names[3]);",
                   R"({"for":"f.names","quote":"const char* const* names","array":{"whole":true}})") == "accepted");
}
