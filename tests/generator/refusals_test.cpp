// What the generator cannot use is refused like a compiler does it: file, line, what is wrong, and what to write.
#include "refusal.hpp"
#include "support/catch.hpp"

using namespace bindgen;
using bindgen::test::refusal;
using rkllm_mcp::test::has_text;

TEST_CASE("a header with an error is refused: after one, types are silently wrong") {
  const std::string text = refusal("typedef struct {\n  unknown_t a;\n} S;\n", test::overlay(""));
  CHECK_THAT(text, has_text("x.h:2:3: error: unknown type name 'unknown_t'"));
  CHECK_THAT(text, has_text("      unknown_t a;\n      ^"));
  CHECK_THAT(text, has_text("hint: a header must parse without errors"));
}

TEST_CASE("a header that is not there is refused") {
  CHECK_THROWS_AS(generate({{"/nowhere/x.h", "1.0"}}, test::kOverlay), Refusal);
  CHECK_THROWS_AS(generate({{test::kHeader, "1.0"}}, "/nowhere/overlay.json"), Refusal);
}

TEST_CASE("a pointer without a meaning is refused, with the entry to write") {
  const std::string text = refusal(
      "typedef struct {\n  float* values;\n  int n_values;\n} S;\nint f(const char* name);\n", test::overlay(""));
  CHECK_THAT(text, has_text("x.h:2:10: error: nothing says what S.values means"));
  CHECK_THAT(text, has_text("add to x.overlay.json, after correcting it:"));
  CHECK_THAT(text,
             has_text(R"({"for":"S.values","quote":"float* values","guess":{"array":{"counted_by":"n_values"}},)"));
  CHECK_THAT(text, has_text("x.h:5:19: error: nothing says what f.name means"));
  CHECK_THAT(text, has_text(R"({"for":"f.name","quote":"const char* name","text":{},"confidence":"likely",)"));
}

TEST_CASE("the entry that is proposed is accepted") {
  CHECK(refusal("int f(const char* name);",
                test::overlay(R"({"for":"f.name","quote":"const char* name","text":{}})")) == "accepted");
}

TEST_CASE("an entry whose quote no longer matches is refused, with both declarations") {
  const std::string text = refusal("typedef struct {\n  const char* name;\n} S;\n",
                                   test::overlay("\n"
                                                 R"({"for":"S.name","quote":"char* name","text":{}})"));
  CHECK_THAT(text, has_text("x.h:2:15: error: S.name is not what its overlay entry was written for"));
  CHECK_THAT(text, has_text("x.overlay.json:2 quotes: char* name"));
  CHECK_THAT(text, has_text(R"(write "quote": "const char* name")"));
}

TEST_CASE("an entry that matches nothing is refused where it stands") {
  const std::string text =
      refusal("typedef struct { int a; } S;", test::overlay("\n"
                                                            R"({"for":"S.b","quote":"int b","value":{}})"));
  CHECK_THAT(text, has_text("x.overlay.json:2:2: error: this entry is for S.b, which the header does not declare"));
}

TEST_CASE("an entry that says two things, or is there twice, is refused") {
  CHECK_THAT(refusal("int f(char* a);", test::overlay(R"({"for":"f.a","quote":"char* a","text":{},"unused":{}})")),
             has_text("the entry for f.a says both \"text\" and \"unused\""));
  CHECK_THAT(refusal("int f(char* a);", test::overlay(R"({"for":"f.a","quote":"char* a","text":{}},
                                                         {"for":"f.a","quote":"char* a","text":{}})")),
             has_text("a second entry for f.a"));
}

TEST_CASE("an overlay that breaks its schema is refused") {
  CHECK_THAT(refusal("int f(char* a);", test::overlay(R"({"for":"f.a","quote":"char* a","text":{"nulable":true}})")),
             has_text("/entries/0/text: unknown key \"nulable\""));
  CHECK_THAT(
      refusal("int f(char* a);", test::overlay(R"({"for":"f.a","quote":"char* a","text":{"min_length":4294967296}})")),
      has_text("/entries/0/text/min_length: expected 4294967295 or less"));
  CHECK_THAT(refusal("int f(int a);", test::overlay(R"({"for":"f.a","quote":"int a","default":18446744073709551615})")),
             has_text("f.a: its \"default\" in the overlay is impossible: it is no integer"));
  CHECK_THAT(refusal("int f(void);", "{"), has_text("x.overlay.json:"));
  CHECK_THAT(refusal("int f(void);", R"({"entries":[]})"), has_text("\"output\" is missing"));
}

TEST_CASE("names that generated code cannot have are refused") {
  const auto with = [](const std::string& output, const std::string& rest) {
    return refusal("int f(int a);",
                   R"({"output":{)" + output + R"(},"returns":{"int":{"status":{}}},"entries":[])" + rest + "}");
  };
  CHECK(with(R"("namespace":"a::b","include":"a/b-1")", R"(,"session":{"n":{"learn":"?"}})") == "accepted");
  CHECK_THAT(with(R"("namespace":"a b","include":"a")", ""), has_text("/output/namespace: expected a string"));
  CHECK_THAT(with(R"("namespace":"a","include":"a>\n")", ""), has_text("/output/include: expected a string"));
  CHECK_THAT(with(R"("namespace":"a","include":"a")", R"(,"session":{"n n":{"learn":"?"}})"),
             has_text("/session/n n: expected a string"));
  CHECK_THAT(with(R"("namespace":"a","include":"a")", R"(,"groups":{"1":"?"})"),
             has_text("/groups/1: expected a string"));
}

TEST_CASE("an overlay that is too much for a reader is refused, not read until the stack ends") {
  const std::string brackets = std::string(100'000, '[') + std::string(100'000, ']');
  CHECK_THAT(refusal("int f(char* a);", test::overlay(R"({"for":"f.a","quote":"char* a","default":)" + brackets + "}")),
             has_text("x.overlay.json: error: this is nested deeper than any overlay"));
  CHECK_THAT(refusal("int f(char* a);", test::overlay(R"({"for":"f.a","quote":"char* a","default":1e999})")),
             has_text("x.overlay.json: error: this cannot be read: [json.exception.out_of_range.406]"));
  CHECK_THAT(refusal("int f(char* a);",
                     test::overlay(R"({"for":"f.a","quote":"char* a","since":"1)" + std::string(300'000, '0') + "\"}")),
             has_text("/entries/0/since: expected a string of at most 1000 characters that matches"));
  CHECK(refusal("int f(char* a);", test::overlay("{\"for\"" + std::string(300'000, ' ') +
                                                 R"(:"f.a","quote":"char* a","text":{}})")) == "accepted");
}

TEST_CASE("meanings that contradict the C types are refused by a named rule") {
  CHECK_THAT(refusal("int f(float* a);", test::overlay(R"({"for":"f.a","quote":"float* a","text":{}})")),
             has_text("x.h:1:14: error: f.a: its meaning in the overlay does not fit its C type [meanings-fit-types]"));
  CHECK_THAT(refusal("int f(int a);", test::overlay(R"({"for":"f.a","quote":"int a",
                                                        "value":{"flag":true,"present_if":"x"}})")),
             has_text("x.h:1:11: error: f.a: its meaning in the overlay does not fit its C type [meanings-fit-types]"));
  CHECK_THAT(refusal("int f(int* a);", test::overlay(R"({"for":"f.a","quote":"int* a","out":{"count":"session.n"}})")),
             has_text("the overlay's \"session\" does not declare n [handle-values-are-declared]"));
  CHECK_THAT(
      refusal("int f(float* a);", test::overlay(R"({"for":"f.a","quote":"float* a","array":{"counted_by":"n"}})")),
      has_text("f.n counts it, but there is no such field"));
}

TEST_CASE("a struct that leads back to itself is refused, not followed for ever") {
  const std::string list = "typedef struct Item { struct Item* next; int n; } Item;\nint f(Item* item);";
  const std::string f = R"({"for":"f.item","quote":"Item* item","object":{}},)";
  CHECK_THAT(refusal(list, test::overlay(f + R"({"for":"Item.next","quote":"Item* next","object":{"nullable":true}})")),
             has_text("x.h:1:36: error: Item.next: it leads back to Item, and a struct inside itself has no wire form; "
                      "mark it \"unused\" [structs-are-finite]"));
  CHECK_THAT(refusal(list, test::overlay(f + R"({"for":"Item.next","quote":"Item* next","callbacks":{}})")),
             has_text("[meanings-fit-types]"));
  CHECK(refusal(list, test::overlay(f + R"({"for":"Item.next","quote":"Item* next","unused":{}})")) == "accepted");
}

TEST_CASE("a union whose members are not all named is refused") {
  const std::string header = "typedef enum { kA, kB } T;\ntypedef struct {\n  T t;\n  union { int a; float b; };\n} S;";
  CHECK_THAT(refusal(header, test::overlay("")), has_text("nothing says what S.union means"));
  CHECK_THAT(refusal(header, test::overlay(R"({"for":"S.union","quote":"union { int a; float b; }",
                                               "union":{"tag":"t","members":{"a":"kA"}}})")),
             has_text("no enumerator of the tag stands for member b [unions-are-covered]"));
  CHECK(refusal(header, test::overlay(R"({"for":"S.union","quote":"union { int a; float b; }",
                                          "union":{"tag":"t","members":{"a":"kA","b":"kB"}}})")) == "accepted");
}

TEST_CASE("a userdata that two callbacks could mean is refused, one that its function's own callback means is not") {
  const std::string types =
      "typedef enum { kWord, kEnd } S;\ntypedef struct { const char* text; int token; } R;\n"
      "typedef int (*one_t)(R* result, void* userdata, S state);\n"
      "typedef int (*two_t)(R* result, void* userdata, S state);\n";
  const auto stream = [](const std::string& name) {
    const std::string quote = "typedef int (*" + name + ")(R* result, void* userdata, S state)";
    return R"({"for":")" + name + R"(","quote":")" + quote +
           R"(","stream":{"result":"R","state":"S","states":{"kWord":"token","kEnd":"end"},)"
           R"("text":"text","token":"token"}},)";
  };
  const std::string overlay =
      test::overlay(R"({"for":"R.text","quote":"const char* text","text":{"nullable":true}},)" + stream("one_t") +
                    stream("two_t") + R"({"for":"talk.userdata","quote":"void* userdata","userdata":{}})");
  CHECK_THAT(refusal(types + "int talk(one_t one, two_t two, void* userdata);", overlay),
             has_text("which of its callbacks its userdata is for is not told [userdata-is-for-one-stream]"));
  CHECK(refusal(types + "int talk(two_t two, void* userdata);", overlay) == "accepted");
}
