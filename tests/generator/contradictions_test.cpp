// What an overlay may say wrongly although its JSON is in order: each is refused by a rule, with the place; nothing is
// passed over, and nothing is left for the compiler of the generated code to find.
#include "refusal.hpp"
#include "support/catch.hpp"

using namespace bindgen;
using bindgen::test::overlay;
using bindgen::test::refusal;
using rkllm_mcp::test::has_text;

namespace {

const std::string kTag = "typedef enum { kA, kB } T;\n";

// A header with this in it, and an overlay with one entry for it.
std::string with_entry(const std::string& header, const std::string& entry) { return refusal(header, overlay(entry)); }

// A struct with one field `a` of this type, and what the overlay says of it besides the quote.
std::string with_field(const std::string& type, const std::string& says) {
  return with_entry(kTag + "typedef struct {\n  " + type + " a;\n} S;",
                    R"({"for":"S.a","quote":")" + type + R"( a",)" + says + "}");
}

}  // namespace

TEST_CASE("an entry says only what can be said of the kind of thing that it is about") {
  CHECK_THAT(with_field("int", R"("function":{})"), has_text(R"(says "function", which is for functions)"));
  CHECK_THAT(with_field("int", R"("stream":{"result":"S","state":"T","states":{},"text":"a","token":"a"})"),
             has_text(R"(says "stream", which is for types of callbacks)"));
  CHECK_THAT(with_entry("int f(void);", R"-({"for":"f","quote":"int f(void)","value":{}})-"),
             has_text(R"-(which is for fields, parameters, types and returned values ("f.return"))-"));
  for (const char* key : {R"("default":1)", R"("wire_default":1)", R"("session":"n")", R"("group":"g")"}) {
    CHECK_THAT(with_entry("int f(void);", R"-({"for":"f","quote":"int f(void)",)-" + std::string(key) + "}"),
               has_text("which is for fields and parameters"));
  }
}

TEST_CASE("keys that exclude each other are refused") {
  const std::string ints = "typedef struct { int* a; int n; } S;";
  const auto with_array = [&](const std::string& keys) {
    return with_entry(ints, R"({"for":"S.a","quote":"int* a","array":{)" + keys + "}}");
  };
  CHECK(with_array(R"("counted_by":"n")") == "accepted");
  CHECK_THAT(with_array(R"("counted_by":"n","exactly":"session.n")"),
             has_text(R"(/entries/0/array: exactly one is needed of "counted_by", "exactly")"));
  CHECK_THAT(with_array(""), has_text("exactly one is needed of"));
  CHECK_THAT(with_array(R"("exactly":"session.n","times":["n"])"), has_text(R"("counted_by" is missing)"));
  CHECK_THAT(with_entry("typedef struct { int a; } S;\nint f(S* s);",
                        R"({"for":"f.s","quote":"S* s","object":{"nullable":true,"empty_if_absent":true}})"),
             has_text(R"(must not have all of ["nullable","empty_if_absent"])"));
}

TEST_CASE("a default is one that the C type and the bounds allow") {
  CHECK(with_field("T", R"("default":"kB")") == "accepted");
  CHECK_THAT(with_field("T", R"("default":"kNothing")"), has_text("it is no enumerator of T [defaults-are-possible]"));
  CHECK(with_field("int8_t", R"("default":-128)") == "accepted");
  CHECK_THAT(with_field("int8_t", R"("default":300)"), has_text("it is out of range"));
  CHECK_THAT(with_field("int", R"("value":{"maximum":5},"default":6)"), has_text("it is out of range"));
  CHECK_THAT(with_field("int", R"("default":1.5)"), has_text("it is no integer"));
  CHECK_THAT(with_field("bool", R"("wire_default":1)"), has_text(R"(its "wire_default" in the overlay is impossible)"));
  CHECK_THAT(with_field("const char*", R"("text":{},"default":"x")"), has_text("only values have one"));
  CHECK_THAT(
      with_entry(
          kTag + "typedef struct { T t; union { int a; float b; }; } S;",
          R"({"for":"S.union","quote":"union { int a; float b; }","union":{"tag":"t","members":{"a":"kA","b":"kB"}}},
                           {"for":"S.a","quote":"int a","default":1})"),
      has_text("a member of a union has no \"default\""));
}

TEST_CASE("bounds are in order, within the C type, and of something that has bounds") {
  CHECK(with_field("uint8_t", R"("value":{"minimum":1,"maximum":255})") == "accepted");
  CHECK_THAT(with_field("int", R"("value":{"minimum":5,"maximum":1})"),
             has_text("its \"minimum\" is above its \"maximum\" [bounds-are-possible]"));
  CHECK_THAT(with_field("uint8_t", R"("value":{"maximum":256})"), has_text("beyond those of its C type"));
  CHECK_THAT(with_field("int", R"("value":{"minimum":0.5})"), has_text("the bounds of an integer are integers"));
  CHECK(with_field("int64_t", R"("value":{"minimum":-9007199254740991})") == "accepted");
  CHECK_THAT(with_field("int64_t", R"("value":{"minimum":-9223372036854775808})"), has_text("is not exact in JSON"));
  CHECK_THAT(with_field("uint64_t", R"("value":{"maximum":9007199254740993})"), has_text("is not exact in JSON"));
  for (const char* type : {"bool", "T"}) {
    CHECK_THAT(with_field(type, R"("value":{"minimum":0})"), has_text("are for integers and floating-point numbers"));
  }
  CHECK_THAT(with_entry("typedef struct { float* a; int n; } S;",
                        R"({"for":"S.a","quote":"float* a","array":{"counted_by":"n","minimum":0}})"),
             has_text("are for arrays of integers"));
}

TEST_CASE("what an entry refers to is there") {
  CHECK_THAT(with_entry("typedef struct { struct { int b; } a; } S;",
                        R"({"for":"S.a","quote":"struct { int b; } a","value":{"present_if":"c"}})"),
             has_text("it has no pointer c [references-name-siblings]"));
  CHECK_THAT(
      with_entry("int f(void);",
                 R"-({"for":"f","quote":"int f(void)","function":{"needs":{"session":"n","equals":1,"why":"x"}}})-"),
      has_text("f: the overlay's \"session\" does not declare n"));
  CHECK_THAT(with_entry("int f(void);\nint g(void);",
                        R"-({"for":"f","quote":"int f(void)","function":{"running_probe":"g"}})-"),
             has_text("g is no predicate of just a handle [referred-functions-exist]"));
}

TEST_CASE("parameters have names that the generated code does not use itself") {
  CHECK_THAT(with_entry("int f(int params);", ""), has_text("f: the generated code has a variable params of its own"));
  CHECK_THAT(with_entry("int f(int call);", ""), has_text("[names-are-usable]"));
}

TEST_CASE("a type that only an included header declares is refused, unless it is a number") {
  CHECK_THAT(with_entry("#include <sys/time.h>\nint f(struct timeval t);", ""),
             has_text("timeval is declared in another header, which is not read; declare it in this one"));
  CHECK(with_entry(kTag + "typedef T Other;\nint f(Other t);", "") == "accepted");
  CHECK(with_entry("#include <stdint.h>\nint f(uint_fast8_t t, unsigned long long u);", "") == "accepted");
}

TEST_CASE("a union is on the wire only if it is anonymous and has a tag, else it is unused, with all that is in it") {
  const std::string named = "typedef union { int a; float b; } U;\n" + kTag;
  const std::string of_type = named + "typedef struct { T t; U u; } S;";
  const std::string tagged = R"("union":{"tag":"t","members":{"a":"kA","b":"kB"}})";
  CHECK_THAT(with_entry(of_type, ""), has_text(R"({"for":"S.u","quote":"U u","guess":{"unused":{}},)"));
  CHECK_THAT(with_entry(of_type, R"({"for":"S.u","quote":"U u","value":{}})"), has_text("[meanings-fit-types]"));
  CHECK_THAT(with_entry(of_type, R"({"for":"S.u","quote":"U u",)" + tagged + "}"),
             has_text("S.u: only an anonymous union has a wire form; mark it \"unused\" [unions-are-covered]"));
  CHECK(with_entry(of_type, R"({"for":"S.u","quote":"U u","unused":{}})") == "accepted");
  CHECK_THAT(with_entry(kTag + "typedef struct { T t; union { int a; float b; } u; } S;",
                        R"({"for":"S.u","quote":"union { int a; float b; } u",)" + tagged + "}"),
             has_text("only an anonymous union has a wire form"));
  const std::string anonymous = "typedef struct { union { int a; void* b; }; int c; } S;";
  const std::string unused = R"({"for":"S.union","quote":"union { int a; void* b; }","unused":{}})";
  CHECK(with_entry(anonymous, unused) == "accepted");
  CHECK_THAT(with_entry(anonymous, unused + R"(,{"for":"S.a","quote":"int a","value":{}})"),
             has_text("S.union is unused, so S.a is too"));
  CHECK_THAT(with_entry("typedef struct { union { int a; }; union { int b; }; } S;", ""),
             has_text("a second S.union, which the overlay cannot tell from the first"));
}

TEST_CASE("a stream is one of a callback that delivers what the stream says") {
  const std::string header =
      "typedef enum { kWord, kEnd } T;\n"
      "typedef struct { const float* values; int n; int columns; } Rows;\n"
      "typedef struct { const char* text; int token; Rows rows; } R;\n"
      "typedef int (*on_t)(R* result, void* userdata, T state);\n"
      "typedef int (*odd_t)(R* result, T state);\n";
  const auto said = [&](const std::string& array, const std::string& more, const std::string& text = "text",
                        const std::string& callback = "on_t",
                        const std::string& params = "R* result, void* userdata, T state") {
    return with_entry(header, R"({"for":"R.text","quote":"const char* text","text":{"nullable":true}},
        {"for":"Rows.values","quote":"const float* values","array":{)" +
                                  array + R"(}},
        {"for":")" + callback + R"(","quote":"typedef int (*)" +
                                  callback + ")(" + params + R"-()",
         "stream":{"result":"R","state":"T","states":{"kWord":"token","kEnd":"end"},"text":")-" +
                                  text + R"(","token":"token")" + more + "}}");
  };
  const std::string product = R"("counted_by":"n","times":["columns"])";
  const std::string rows = R"(,"rows":[{"field":"rows","values":"values"}])";
  CHECK(said(product, rows) == "accepted");
  CHECK_THAT(said(R"("counted_by":"n")", rows), has_text("R.rows has no floats values counted by one field"));
  CHECK_THAT(said(product, R"(,"values":["token"])"),
             has_text("R.token is no struct on the wire [streams-are-complete]"));
  CHECK_THAT(said(product, R"(,"values":["nothing"])"), has_text("R has no field nothing"));
  CHECK_THAT(said(product, "", "token"), has_text("R.token is no text"));
  CHECK_THAT(said(product, "", "text", "odd_t", "R* result, T state"), has_text("it must take (R*, void*, T)"));
}

TEST_CASE("an entry without its blank, or without a line break, is found where it stands") {
  CHECK_THAT(with_entry("int f(int a);", "\n { \"for\" : \"f.b\", \"quote\":\"int b\", \"value\":{}}"),
             has_text("x.overlay.json:2:4: error: this entry is for f.b"));
}

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

TEST_CASE("pairs of arrays are nullable parameters, and groups are of fields") {
  const std::string nullable = R"("array":{"exactly":"session.n","nullable":true,"together_with":"b"}})";
  CHECK_THAT(with_entry("typedef struct { int* a; int* b; } S;", R"({"for":"S.a","quote":"int* a",)" + nullable +
                                                                     R"(,{"for":"S.b","quote":"int* b","unused":{}})"),
             has_text("\"together_with\" is for two parameters that are nullable arrays [pairs-are-of-parameters]"));
  CHECK_THAT(with_entry("int f(int a);", R"({"for":"f.a","quote":"int a","group":"g"})"),
             has_text("a \"group\" is of fields"));
}

TEST_CASE("each member of a union has a value of the tag of its own") {
  const auto with_members = [](const std::string& members, const std::string& more = "") {
    return with_entry(
        "typedef enum { kA, kB, kAlsoB = kB } T;\ntypedef struct {\n  T t;\n  union { int a; float b; };\n} S;",
        R"({"for":"S.union","quote":"union { int a; float b; }","union":{"tag":"t","members":{)" + members + "}}}" +
            more);
  };
  CHECK(with_members(R"("a":"kA","b":"kAlsoB")") == "accepted");
  CHECK_THAT(with_members(R"("a":"kA","b":"kA")"),
             has_text("x.h:4:3: error: S.union: a and b stand for the same value of the tag [unions-are-covered]"));
  CHECK_THAT(with_members(R"("a":"kB","b":"kAlsoB")"), has_text("a and b stand for the same value of the tag"));
  CHECK_THAT(with_members(R"("a":"kA","b":"kB","t":"kB")"), has_text("S.union: it has no member t"));
  CHECK_THAT(with_members(R"("a":"kA","b":"kB")", R"(,{"for":"S.t","quote":"T t","unused":{}})"),
             has_text("S.union: its tag t is no enum beside it that is on the wire"));
  CHECK_THAT(with_entry(kTag + "typedef struct { union { T a; T b; }; } S;",
                        R"({"for":"S.union","quote":"union { T a; T b; }",
                            "union":{"tag":"a","members":{"a":"kA","b":"kB"}}})"),
             has_text("S.union: its tag a is a member of a union"));
}

TEST_CASE("a predicate has two answers") {
  CHECK_THAT(with_entry("int f(void);", R"({"for":"f.return","quote":"int","predicate":{"name":"x","yes":1,"no":1}})"),
             has_text("x.h:1:5: error: f.return: its \"yes\" and its \"no\" are the same [returns-can-be-told]"));
}

TEST_CASE("what an array or a mask counts says nothing else of itself") {
  const auto with_count = [](const std::string& says, const std::string& more = "") {
    return with_entry("typedef struct {\n  int* a;\n  int n;\n  uint32_t cpus;\n} S;",
                      R"({"for":"S.a","quote":"int* a","array":{"counted_by":"n"}},{"for":"S.n","quote":"int n",)" +
                          says + "}" + more);
  };
  CHECK(with_count(R"("doc":"How many.")") == "accepted");
  for (const char* says : {R"("unused":{})", R"("value":{"minimum":1})", R"("value":{"maximum":9})", R"("value":{})"}) {
    CHECK_THAT(with_count(says), has_text("x.h:3:7: error: S.n is derived from S.a, so its own entry says too much"));
  }
  CHECK_THAT(with_count(R"("doc":"x")", R"(,{"for":"S.cpus","quote":"uint32_t cpus","cpu_mask":{"count":"n"}})"),
             has_text("S.n is derived from both S.a and S.cpus"));
  CHECK_THAT(with_entry("typedef struct { struct { int n; } in; int* a; } S;",
                        R"({"for":"S.a","quote":"int* a","array":{"counted_by":"in.n"}})"),
             has_text("S.in.n counts it, but there is no such field"));
  CHECK_THAT(with_entry("typedef struct { int* a; union { int n; float f; }; } S;",
                        R"({"for":"S.a","quote":"int* a","array":{"counted_by":"n"}},
                           {"for":"S.union","quote":"union { int n; float f; }","unused":{}})"),
             has_text("S.n, which counts it, is in something unused"));
}

TEST_CASE("the length of each array follows from something") {
  const auto with_lengths = [](const std::string& a, const std::string& b) {
    return with_entry(
        "typedef struct {\n  int* a;\n  int* b;\n  int n;\n  int m;\n} S;",
        R"({"for":"S.a","quote":"int* a","array":{)" + a + R"(}},{"for":"S.b","quote":"int* b","array":{)" + b + "}}");
  };
  const std::string counted = R"("counted_by":"n")";
  CHECK(with_lengths(counted, R"("same_length_as":"a")") == "accepted");
  CHECK(with_lengths(counted, R"("multiple_of":"n")") == "accepted");
  CHECK_THAT(with_lengths(R"("same_length_as":"b")", R"("same_length_as":"a")"),
             has_text("x.h:2:8: error: S.a: its length follows from itself [lengths-are-derivable]"));
  CHECK_THAT(with_lengths(counted, R"("same_length_as":"b")"), has_text("S.b: its length follows from itself"));
  CHECK_THAT(with_lengths(counted, R"("same_length_as":"n")"), has_text("S.b: n is no array"));
  CHECK_THAT(with_lengths(counted, R"("multiple_of":"m")"), has_text("S.b: no array tells what m is"));
  CHECK_THAT(with_lengths(R"("counted_by":"n","times":["n"])", counted),
             has_text("S.a: its length is a product with its own count"));
  CHECK_THAT(with_entry(kTag + "typedef struct { int* a; T t; union { int n; float f; }; } S;",
                        R"({"for":"S.a","quote":"int* a","array":{"counted_by":"n"}},
             {"for":"S.union","quote":"union { int n; float f; }","union":{"tag":"t","members":{"n":"kA","f":"kB"}}})"),
             has_text("S.a: its count n is a member of a union"));
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
             has_text("f.p: it is declared as an array of 4, and a client may give fewer for it to change"));
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

TEST_CASE("what is declared as several is none of it") {
  CHECK_THAT(with_entry("int f(int n[2]);", R"({"for":"f.n","quote":"int* n","in_out":{}})"),
             has_text("f.n: it is declared as an array of 2, and this would be one of them"));
  CHECK_THAT(with_entry("typedef struct obj obj;\nint f(obj* o[2]);",
                        R"({"for":"f.o","quote":"obj** o","handle":{"role":"creates"}})"),
             has_text("f.o: it is declared as an array of 2, and this would be one of them"));
  CHECK_THAT(with_entry("int f(const char key[16]);", R"({"for":"f.key","quote":"const char* key","text":{}})"),
             has_text("f.key: it is declared as an array of 16, and a text may be shorter"));
  CHECK_THAT(with_entry("typedef int M[2];\nint f(const M v);",
                        R"({"for":"f.v","quote":"const int* v","out":{"whole":true}})"),
             has_text("does not fit its C type"));
  CHECK_THAT(
      with_entry(
          "typedef struct { int n; int v[]; } S;\nint f(const S* s, int k);",
          R"({"for":"S.v","quote":"int v[]","unused":{}},{"for":"f.s","quote":"const S* s","array":{"counted_by":"k"}})"),
      has_text("f.s: S ends in an array without a length, so there is no array of them"));
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

TEST_CASE("what a function fills in is a parameter with room that is known") {
  const auto out = [](const std::string& header, const std::string& entries) {
    return test::refusal(header, test::overlay(entries));
  };
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
