// What a function changes, and what it has left there or returned that has to be given back.
#include "refusal.hpp"
#include "support/catch.hpp"

using bindgen::test::with_entry;
using rkllm_mcp::test::has_text;

TEST_CASE("what a function changes is a parameter that it can write into") {
  const auto changed = [](const std::string& header, const std::string& quote, const std::string& meaning) {
    return with_entry(header, R"({"for":"f.p","quote":")" + quote + R"(",)" + meaning + "}");
  };
  const std::string s = "typedef struct { int a; } S;\n";
  const std::string object = R"("object":{"changed":true})";
  const std::string array = R"("array":{"counted_by":"n","changed":true})";
  const std::string misfit = "f.p: its meaning in the overlay does not fit its C type";
  CHECK(changed(s + "int f(S* p);", "S* p", object) == "accepted");
  CHECK(changed("int f(int* p, int n);", "int* p", array) == "accepted");
  CHECK_THAT(changed(s + "int f(const S* p);", "const S* p", object), has_text(misfit));
  CHECK_THAT(changed("int f(const int* p, int n);", "const int* p", array), has_text(misfit));
  CHECK_THAT(changed("int f(const char** p, int n);", "const char** p", array), has_text(misfit));
  CHECK_THAT(changed("typedef struct { int n; char more[]; } S;\nint f(S* p);", "S* p",
                     object + R"(},{"for":"S.more","quote":"char more[]","unused":{})"),
             has_text("f.p: S ends in an array without a length"));
  CHECK_THAT(with_entry("typedef struct { int* p; int n; } S;\nint f(S s);",
                        R"({"for":"S.p","quote":"int* p",)" + array + "}"),
             has_text("S.p: only a parameter can be \"out\" or \"changed\", not a field"));
  CHECK_THAT(changed("int f(int* p, int status);", "int* p",
                     R"("array":{"counted_by":"status","times":["x"],"changed":true})"),
             has_text(R"(must not have all of ["changed","times"])"));

  CHECK_THAT(changed("int f(int p[4], int n);", "int* p", array),
             has_text("f.p: it is declared as an array of 4, and there may be fewer; if fewer will do, declare it as a "
                      "pointer in the header, else mark it \"unused\" [declared-arrays-are-whole]"));
}

TEST_CASE("what is returned may be freed together with what stands beside it") {
  const std::string header =
      "typedef struct ctx ctx;\ntypedef struct { int size; } mem;\nint ini(ctx** c);\n"
      "mem* create(ctx* c, int size);\nint destroy(ctx* c, mem* m);\n";
  const std::string entries = R"({"for":"ini.c","quote":"ctx** c","handle":{"role":"creates"}},)"
                              R"({"for":"create.c","quote":"ctx* c","handle":{"role":"uses"}},)"
                              R"({"for":"destroy.c","quote":"ctx* c","handle":{"role":"uses"}},)"
                              R"({"for":"destroy.m","quote":"mem* m","object":{}},)"
                              R"({"for":"create.return","quote":"mem*","object":{"freed_by":"destroy"}})";
  CHECK(with_entry(header, entries) == "accepted");
  CHECK_THAT(
      with_entry("typedef struct { int a; } S;\nS* f(int value);", R"({"for":"f.return","quote":"S*","object":{}})"),
      has_text("f: the generated code has a variable value of its own"));
}

TEST_CASE("what a function has left is freed once, by one that takes just that and what stands beside it") {
  const std::string s = "typedef struct { void* left; int size; } S;\n";
  const std::string left = R"({"for":"S.left","quote":"void* left","array":{"counted_by":"size","told_only":true}})";
  const std::string p = R"({"for":"f.p","quote":"S* p","array":{"counted_by":"n","changed":true,"freed_by":"g"}})";
  const std::string unused = R"({"for":"g.q","quote":"S* q","unused":{}})";
  const auto freed = [&](const std::string& header, const std::string& entries) {
    return with_entry(s + header, entries);
  };
  const std::string f = "int f(S* p, int n);\n";
  const std::string unfit = "f.p: g is no function that takes this, and else only what stands beside it";
  CHECK(freed("void g(S* q);\n" + f, left + "," + p + "," + unused) == "accepted");
  CHECK(freed("void g(const S* q, int count);\n" + f,
              left + "," + p + R"(,{"for":"g.q","quote":"const S* q","unused":{}})") == "accepted");
  CHECK_THAT(freed(f, left + "," + p), has_text(unfit));
  CHECK_THAT(freed("void g(int n);\n" + f, left + "," + p), has_text(unfit));
  CHECK_THAT(freed("void g(S* q, double x);\n" + f, left + "," + p + "," + unused), has_text(unfit));
  CHECK_THAT(freed("void g(S* q, int first, int count);\n" + f, left + "," + p + "," + unused), has_text(unfit));
  // What is const for the one is not for the other.
  CHECK_THAT(freed("typedef struct { int a; } T;\nint f(S* p, int n, const T* t);\nvoid g(S* q, T* t);\n",
                   left + "," + p + "," + unused +
                       R"(,{"for":"f.t","quote":"const T* t","object":{}},{"for":"g.t","quote":"T* t","unused":{}})"),
             has_text(unfit));
  CHECK_THAT(freed("int f(S* p, int n, S* o);\nvoid g(S* q, S* r);\n",
                   left + "," + p + "," + unused +
                       R"(,{"for":"f.o","quote":"S* o","object":{"changed":true,"freed_by":"g"}},)" +
                       R"({"for":"g.r","quote":"S* r","unused":{}})"),
             has_text("f.p: g is the \"freed_by\" of another parameter, too, and would be called twice"));
  CHECK_THAT(freed("void g(S* q);\n" + f,
                   R"({"for":"S.left","quote":"void* left","array":{"counted_by":"size"}},)" + p + "," + unused),
             has_text("S.left: what a client gives here g would free; say \"told_only\", or \"unused\""));
  CHECK_THAT(with_entry("typedef struct { char* names[2]; } S;\nint f(S* p);\nvoid g(S* q);",
                        R"({"for":"S.names","quote":"char* names[2]","array":{"whole":true}},)"
                        R"({"for":"f.p","quote":"S* p","object":{"changed":true,"freed_by":"g"}},)" +
                            unused),
             has_text("S.names: what a client gives here g would free"));
  CHECK_THAT(with_entry("void g(int* q);\nint f(int* p, int n);",
                        R"({"for":"f.p","quote":"int* p","array":{"counted_by":"n","changed":true,"freed_by":"g"}},)"
                        R"({"for":"g.q","quote":"int* q","unused":{}})"),
             has_text("f.p: \"freed_by\" is for structs, in which something can be left"));
  CHECK_THAT(with_entry("int f(int* p, int n);",
                        R"({"for":"f.p","quote":"int* p","array":{"counted_by":"n","told_only":true}})"),
             has_text("f.p: only a field that is a pointer, and no member of a union, can be \"told_only\""));
  CHECK_THAT(
      with_entry(
          "typedef enum { kA, kB } T;\ntypedef struct { T t; int n; union { void* p; int i; }; } S;\nint f(S s);",
          R"({"for":"S.union","quote":"union { void* p; int i; }","union":{"tag":"t","members":{"p":"kA","i":"kB"}}},)"
          R"({"for":"S.p","quote":"void* p","array":{"counted_by":"n","told_only":true}})"),
      has_text("S.p: only a field that is a pointer, and no member of a union"));
  CHECK_THAT(freed("typedef struct { S all[2]; int k; } D;\nint f(D* p);\nvoid g(D* q);",
                   R"({"for":"S.left","quote":"void* left","array":{"counted_by":"size"}},)"
                   R"({"for":"D.all","quote":"S all[2]","array":{"counted_by":"k"}},)"
                   R"({"for":"f.p","quote":"D* p","object":{"changed":true,"freed_by":"g"}},)"
                   R"({"for":"g.q","quote":"D* q","unused":{}})"),
             has_text("S.left: what a client gives here g would free"));
  CHECK_THAT(with_entry("typedef struct { int* a; int* b; int n; } S;\nint f(S s);",
                        R"({"for":"S.a","quote":"int* a","array":{"counted_by":"n","told_only":true}},)"
                        R"({"for":"S.b","quote":"int* b","array":{"counted_by":"n"}})"),
             has_text("S.a: n counts what a client gives, too"));
}

TEST_CASE("a handle that is an integer is no other integer for what frees, nor the other way round") {
  const auto freed = [](const std::string& functions, const std::string& entries) {
    return with_entry("typedef struct { void* left; int size; } S;\nint make(int* c);\n" + functions,
                      R"({"for":"S.left","quote":"void* left","array":{"counted_by":"size","told_only":true}},)"
                      R"({"for":"make.c","quote":"int* c","handle":{"role":"creates"}},)"
                      R"({"for":"f.p","quote":"S* p","object":{"changed":true,"freed_by":"g"}},)"
                      R"({"for":"g.q","quote":"S* q","unused":{}})" +
                          entries);
  };
  const auto handle = [](const std::string& path, const std::string& role = "uses") {
    return R"(,{"for":")" + path + R"(","quote":"int c","handle":{"role":")" + role + R"("}})";
  };
  const std::string both = "int f(int c, S* p, int n);\nint g(int c, S* q);";
  CHECK(freed(both, handle("f.c") + handle("g.c")) == "accepted");
  CHECK(freed("int f(int n, S* p);\nint g(int n, S* q);", "") == "accepted");
  CHECK_THAT(freed("int f(int n, S* p);\nint g(int c, S* q);", handle("g.c")),
             has_text("x.h:3:17: error: f.p: g is no function that takes this") &&
                 has_text("; it takes the handle g.c, and f is given none [referred-functions-exist]"));
  CHECK_THAT(freed("int f(int c, S* p);\nint g(S* q, int flags);", handle("f.c")),
             has_text("; if g.flags is the handle, say so: "
                      R"({"for":"g.flags","quote":"int flags","handle":{"role":"uses"}} [referred)"));
  CHECK_THAT(freed("int f(int c, S* p);\nint g(int c, S* q);", handle("f.c") + handle("g.c", "destroys")),
             has_text("; it ends the handle g.c, which is for a method"));
}

TEST_CASE("what frees takes integers of the type that the header names") {
  const auto freed = [](const std::string& functions) {
    return with_entry("typedef int fd_t;\ntypedef int item_t;\ntypedef struct { int size; } S;\n" + functions,
                      R"({"for":"fd_t","quote":"typedef int fd_t","handle":{"role":"uses"}},)"
                      R"({"for":"f.p","quote":"S* p","object":{"changed":true,"freed_by":"g"}},)"
                      R"({"for":"g.q","quote":"S* q","unused":{}})");
  };
  CHECK(freed("int f(fd_t fd, item_t item, S* p);\nint g(fd_t of, S* q);") == "accepted");
  CHECK(freed("int f(fd_t fd, item_t item, S* p);\nint g(S* q, item_t of);") == "accepted");
  for (const char* other : {"item_t", "int"}) {
    CHECK_THAT(freed("int f(fd_t fd, S* p);\nint g(" + std::string(other) + " of, S* q);"),
               has_text("f.p: g is no function that takes this"));
  }
}

TEST_CASE("a handle is not what was returned, even where the function takes a void pointer") {
  const auto freed = [](const std::string& role) {
    return with_entry("typedef struct { int size; } S;\nS* f(void* h);\nint g(void* h);",
                      R"({"for":"f.h","quote":"void* h","handle":{"role":"uses"}},)"
                      R"({"for":"f.return","quote":"S*","object":{"freed_by":"g"}},)"
                      R"({"for":"g.h","quote":"void* h",)" +
                          role + "}");
  };
  CHECK(freed(R"("unused":{})") == "accepted");
  CHECK_THAT(freed(R"("handle":{"role":"uses"})"), has_text("f: g is no function that takes just the struct"));
  CHECK_THAT(freed(R"("handle":{"role":"destroys"})"), has_text("; it ends the handle g.h"));
}

TEST_CASE("a text is freed only if it is returned, by a function that takes just such a text") {
  const auto freed = [](const std::string& text, const std::string& params) {
    return with_entry(text + " f(void);\nvoid g(" + params + ");",
                      R"({"for":"f.return","quote":")" + text + R"(","text":{"freed_by":"g"}},{"for":"g.p","quote":")" +
                          params + R"(","unused":{}})");
  };
  CHECK(freed("char*", "char* p") == "accepted");
  CHECK(freed("char*", "void* p") == "accepted");
  CHECK(freed("const char*", "const char* p") == "accepted");
  for (const char* params : {"int p", "char** p", "int* p"}) {
    CHECK_THAT(freed("char*", params), has_text("x.h:1:7: error: f: g is no function that takes just the text"));
  }
  for (const char* params : {"char* p", "void* p"}) {
    CHECK_THAT(freed("const char*", params), has_text("f: g is no function that takes just the text"));
  }
  CHECK_THAT(
      with_entry(
          "int f(char* a);\nvoid g(char* p);",
          R"({"for":"f.a","quote":"char* a","text":{"freed_by":"g"}},{"for":"g.p","quote":"char* p","text":{}})"),
      has_text("x.h:1:13: error: f.a: \"freed_by\" is for what is returned"));
}

TEST_CASE("what is freed with a struct is nothing that a client has given behind one of its pointers") {
  const auto freed = [](const std::string& types, const std::string& entries) {
    return with_entry(types + "int f(S* p);\nvoid g(S* q);",
                      R"({"for":"f.p","quote":"S* p","object":{"changed":true,"freed_by":"g"}},)"
                      R"({"for":"g.q","quote":"S* q","unused":{}},)" +
                          entries);
  };
  const std::string inner = "typedef struct { char* name; } Inner;\n";
  const std::string name = R"(,{"for":"Inner.name","quote":"char* name",)";
  const std::string behind = R"({"for":"S.in","quote":"const Inner* in","object":{"nullable":true}})";
  const std::string freed_name = "Inner.name: what a client gives here g would free; say \"told_only\", or \"unused\"";
  CHECK_THAT(freed(inner + "typedef struct { const Inner* in; } S;\n", behind + name + R"("text":{}})"),
             has_text(freed_name));
  CHECK(freed(inner + "typedef struct { const Inner* in; } S;\n", behind + name + R"("unused":{}})") == "accepted");
  CHECK(freed("typedef struct { const char* name; } Inner;\ntypedef struct { const Inner* in; } S;\n",
              behind + R"(,{"for":"Inner.name","quote":"const char* name","text":{}})") == "accepted");
  CHECK_THAT(freed(inner + "typedef struct { Inner all[2]; } S;\n",
                   R"({"for":"S.all","quote":"Inner all[2]","array":{"whole":true}})" + name + R"("text":{}})"),
             has_text(freed_name));
  // What only the function leaves is its own, with all that is behind it.
  CHECK(freed(inner + "typedef struct { Inner* in; int n; } S;\n",
              R"({"for":"S.in","quote":"Inner* in","array":{"counted_by":"n","told_only":true}})" + name +
                  R"("text":{}})") == "accepted");
}

TEST_CASE("an array that a client gives in a struct is not told by a count that the function may have changed") {
  const std::string types = "typedef struct {\n  int* v;\n  int n;\n} S;\n";
  const auto changed = [&](const std::string& function, const std::string& array, const std::string& entries) {
    return with_entry(types + function, R"({"for":"S.v","quote":"int* v",)" + array + "}," + entries);
  };
  const std::string given = R"("array":{"counted_by":"n"})";
  const std::string object = R"({"for":"f.p","quote":"S* p","object":{"changed":true}})";
  const std::string refused =
      "x.h:2:8: error: S.v: a client gives it, and once f.p has changed, n may count more than was given; say "
      "\"told_only\" if only the function leaves something here, or \"unused\" [changed-counts-are-of-the-library]";
  CHECK_THAT(changed("int f(S* p);", given, object), has_text(refused));
  CHECK(changed("int f(S* p);", R"("array":{"counted_by":"n","told_only":true})", object) == "accepted");
  CHECK(changed("int f(S* p);", R"("unused":{})", object) == "accepted");
  CHECK(changed("int f(S* p);", given, R"({"for":"f.p","quote":"S* p","object":{}})") == "accepted");
  CHECK(changed("int f(S* p);", given, R"({"for":"f.p","quote":"S* p","out":{}})") == "accepted");
  // Of several, in another struct or behind one of its pointers, unless it is const; and where an enumerator chooses.
  CHECK_THAT(changed("int f(S* p, int k);", given,
                     R"({"for":"f.p","quote":"S* p","array":{"counted_by":"k","changed":true}})"),
             has_text(refused));
  const std::string around = R"({"for":"f.p","quote":"A* p","object":{"changed":true}})";
  CHECK_THAT(changed("typedef struct { S s; } A;\nint f(A* p);", given, around), has_text(refused));
  CHECK_THAT(changed("typedef struct { S* s; } A;\nint f(A* p);", given,
                     R"({"for":"A.s","quote":"S* s","object":{}},)" + around),
             has_text(refused));
  CHECK(changed("typedef struct { const S* s; } A;\nint f(A* p);", given,
                R"({"for":"A.s","quote":"const S* s","object":{}},)" + around) == "accepted");
  CHECK_THAT(changed("typedef enum { kA } E;\nint f(E e, void* p, int size);", given,
                     R"({"for":"f.p","quote":"void* p","out":{"chosen_by":"e","size":"size","structs":{"kA":"S"}}})"),
             has_text(refused));
  // In place there is room for all that is told.
  CHECK(with_entry("typedef struct { int v[4]; int n; } S;\nint f(S* p);",
                   R"({"for":"S.v","quote":"int v[4]",)" + given + "}," + object) == "accepted");
}

TEST_CASE("what frees is given what is returned only where that is told") {
  const std::string entries = R"({"for":"f.p","quote":"S* p","object":{"changed":true,"freed_by":"g"}},)"
                              R"({"for":"g.q","quote":"S* q","unused":{}},)"
                              R"({"for":"f.return","quote":"S*","unused":{}})";
  CHECK(with_entry("typedef struct { int a; } S;\nS* f(S* p);\nvoid g(S* q);", entries) == "accepted");
  CHECK_THAT(with_entry("typedef struct { int a; } S;\ntypedef struct { int b; } T;\nT* f(S* p);\nvoid g(T* t, S* q);",
                        R"({"for":"g.t","quote":"T* t","unused":{}},{"for":"f.return","quote":"T*","unused":{}},)"
                        R"({"for":"f.p","quote":"S* p","object":{"changed":true,"freed_by":"g"}},)"
                        R"({"for":"g.q","quote":"S* q","unused":{}})"),
             has_text("f.p: g is no function that takes this, and else only what stands beside it"));
}
