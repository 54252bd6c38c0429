// Handles: one in a call, all of one type, passed as what they were made as.
#include "refusal.hpp"
#include "support/catch.hpp"

using bindgen::test::overlay;
using bindgen::test::refusal;
using bindgen::test::with_entry;
using rkllm_mcp::test::has_text;

TEST_CASE("a call has one handle, and all handles are of one type") {
  const std::string types = "typedef struct a* a_t;\ntypedef struct b* b_t;\n";
  const std::string uses = R"({"for":"a_t","quote":"typedef a* a_t","handle":{"role":"uses"}},
                              {"for":"b_t","quote":"typedef b* b_t","handle":{"role":"uses"}})";
  CHECK(with_entry(types + "int f(a_t x);\nint g(a_t x);", uses) == "accepted");
  CHECK_THAT(
      with_entry(types + "int cmp(a_t x, a_t y);", uses),
      has_text("x.h:3:5: error: cmp has several handles, and each handle lives in a worker process of its own") &&
          has_text("[handles-are-of-one-type]"));
  const std::string dup = "typedef struct ctx ctx;\nint use(ctx* in);\nint dup(ctx* in, ctx** out);";
  const std::string both = R"({"for":"use.in","quote":"ctx* in","handle":{"role":"uses"}},)"
                           R"({"for":"dup.in","quote":"ctx* in","handle":{"role":"uses"}},)"
                           R"({"for":"dup.out","quote":"ctx** out","handle":{"role":"creates"}})";
  const std::string without = R"-({"for":"dup","quote":"int dup(ctx* in, ctx** out)","unused":{}})-";
  CHECK_THAT(with_entry(dup, both), has_text("leave the function out: " + without));
  CHECK(with_entry(dup, R"({"for":"use.in","quote":"ctx* in","handle":{"role":"uses"}},)" + without) == "accepted");
  CHECK_THAT(with_entry(types + "int f(a_t x);\nint g(b_t x);", uses),
             has_text("g has a handle of type b_t, others are of type a_t"));
}

TEST_CASE("a handle that is made is nothing const, since whoever ends it changes it") {
  const std::string types = "struct a;\n";
  const std::string creates = R"("handle":{"role":"creates"}})";
  CHECK(with_entry(types + "struct a* f(void);", R"({"for":"f.return","quote":"a*",)" + creates) == "accepted");
  CHECK_THAT(with_entry(types + "const struct a* f(void);", R"({"for":"f.return","quote":"const a*",)" + creates),
             has_text("f.return: its meaning in the overlay is none of a result"));
  CHECK_THAT(with_entry(types + "int f(const struct a** h);", R"({"for":"f.h","quote":"const a** h",)" + creates),
             has_text("f.h: its meaning in the overlay does not fit its C type"));
}

TEST_CASE("a handle is passed as what it was made as") {
  const auto handles = [](const std::string& header, const std::string& entries) {
    return with_entry("#include <stdint.h>\ntypedef struct obj obj;\ntypedef uint64_t ctx_t;\n" + header, entries);
  };
  const std::string made = R"({"for":"mk.o","quote":"obj** o","handle":{"role":"creates"}},)";
  CHECK(handles("int mk(obj** o);\nint en(obj* o);",
                made + R"({"for":"en.o","quote":"obj* o","handle":{"role":"destroys"}})") == "accepted");
  CHECK(handles("typedef obj* H;\nint mk(H* o);\nint en(const obj* o);",
                R"({"for":"mk.o","quote":"H* o","handle":{"role":"creates"}},)"
                R"({"for":"en.o","quote":"const obj* o","handle":{"role":"uses"}})") == "accepted");
  CHECK_THAT(handles("int mk(obj** o);\nint en(obj** o);",
                     made + R"({"for":"en.o","quote":"obj** o","handle":{"role":"destroys"}})"),
             has_text("en has a handle of type obj**, others are of type obj*;"));
  CHECK_THAT(handles("int mk(ctx_t* o);\nint use(ctx_t* o);",
                     R"({"for":"mk.o","quote":"ctx_t* o","handle":{"role":"creates"}},)"
                     R"({"for":"use.o","quote":"ctx_t* o","handle":{"role":"uses"}})"),
             has_text("use has a handle of type ctx_t*, others are of type ctx_t;"));
}

TEST_CASE("what is of an integer type by which handles are passed is no plain number unless the overlay says so") {
  const std::string header = "typedef uint32_t ctx_t;\ntypedef struct { ctx_t owner; } S;\nint mk(ctx_t* out);\n";
  const std::string made = R"({"for":"mk.out","quote":"ctx_t* out","handle":{"role":"creates"}})";
  CHECK(with_entry("typedef uint32_t ctx_t;\nint mk(ctx_t* out);\nint plain(uint32_t n);", made) == "accepted");
  CHECK_THAT(with_entry(header + "int size_of(ctx_t ctx);\nint close(ctx_t ctx);\nctx_t twin(int n);", made),
             has_text("x.h:2:24: error: nothing says what S.owner means") && has_text(R"("guess":{"unused":{}})") &&
                 has_text("x.h:4:19: error: nothing says what size_of.ctx means") &&
                 has_text(R"("for":"size_of.ctx","quote":"ctx_t ctx","guess":{"handle":{"role":"uses"}})") &&
                 has_text(R"("for":"close.ctx","quote":"ctx_t ctx","guess":{"handle":{"role":"destroys"}})") &&
                 has_text(R"("for":"twin.return","quote":"ctx_t","guess":{"handle":{"role":"creates"}})"));
  CHECK(with_entry(header + "int size_of(ctx_t ctx);\nctx_t twin(int n);",
                   made + R"(,{"for":"S.owner","quote":"ctx_t owner","unused":{}})"
                          R"(,{"for":"size_of.ctx","quote":"ctx_t ctx","handle":{"role":"uses"}})"
                          R"(,{"for":"twin.return","quote":"ctx_t","value":{}})") == "accepted");
  CHECK(with_entry(header + "int size_of(ctx_t ctx);",  // said of the type
                   made + R"(,{"for":"S.owner","quote":"ctx_t owner","unused":{}})"
                          R"(,{"for":"ctx_t","quote":"typedef uint32_t ctx_t","handle":{"role":"uses"}})") ==
        "accepted");
}

TEST_CASE("a handle that is a void pointer is of whatever type a typedef names") {
  CHECK(with_entry("typedef void* H;\nint mk(void** out);\nint use(H h);",
                   R"({"for":"mk.out","quote":"void** out","handle":{"role":"creates"}},)"
                   R"({"for":"use.h","quote":"H h","handle":{"role":"uses"}})") == "accepted");
  CHECK_THAT(with_entry("void* mk(int n);\nint use(uint32_t c);",
                        R"({"for":"mk.return","quote":"void*","handle":{"role":"creates"}},)"
                        R"({"for":"use.c","quote":"uint32_t c","handle":{"role":"uses"}})"),
             has_text("others are of type void*"));
  CHECK_THAT(with_entry("typedef void* A;\ntypedef void* B;\nint mk(void** out);\nint use(A a);\nint end(B b);",
                        R"({"for":"mk.out","quote":"void** out","handle":{"role":"creates"}},)"
                        R"({"for":"use.a","quote":"A a","handle":{"role":"uses"}},)"
                        R"({"for":"end.b","quote":"B b","handle":{"role":"destroys"}})"),
             has_text("has a handle of type B, others are of type A"));
}

TEST_CASE("a handle value is one that a call which makes a handle is always given") {
  const auto said = [](const std::string& functions, const std::string& entries) {
    const std::string text =
        overlay(R"({"for":"h_t","quote":"typedef void* h_t","handle":{"role":"uses"}},)" + entries);
    std::string with_session = text;
    return refusal("typedef void* h_t;\ntypedef struct { int n; float f; } S;\n" + functions,
                   with_session.insert(1, R"("session":{"n":{"learn":"x"}},)"));
  };
  const std::string makes = R"({"for":"make.h","quote":"h_t* h","handle":{"role":"creates"}},)";
  CHECK(said("int make(h_t* h, int n);", makes + R"({"for":"make.n","quote":"int n","session":"n"})") == "accepted");
  CHECK_THAT(said("int use(h_t h, int n);", R"({"for":"use.n","quote":"int n","session":"n"})"),
             has_text("no call that makes a handle is always given it"));
  CHECK_THAT(said("int make(h_t* h, S* s);", makes + R"({"for":"make.s","quote":"S* s","object":{"nullable":true}},
                                                        {"for":"S.n","quote":"int n","session":"n"})"),
             has_text("no call that makes a handle is always given it"));
  CHECK_THAT(said("int make(h_t* h, S* s);", makes + R"({"for":"make.s","quote":"S* s","object":{}},
                                                        {"for":"S.f","quote":"float f","session":"n"})"),
             has_text("a handle value is an integer, a bool or an enumerator"));
}
