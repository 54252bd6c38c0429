// What an entry of the overlay may say of itself: each contradiction is refused by a rule, with the place.
#include "refusal.hpp"
#include "support/catch.hpp"

using bindgen::test::with_entry;
using bindgen::test::with_field;
using rkllm_mcp::test::has_text;

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

TEST_CASE("an entry without its blank, or without a line break, is found where it stands") {
  CHECK_THAT(with_entry("int f(int a);", "\n { \"for\" : \"f.b\", \"quote\":\"int b\", \"value\":{}}"),
             has_text("x.overlay.json:2:4: error: this entry is for f.b"));
}

TEST_CASE("a predicate has two answers") {
  CHECK_THAT(with_entry("int f(void);", R"({"for":"f.return","quote":"int","predicate":{"name":"x","yes":1,"no":1}})"),
             has_text("x.h:1:5: error: f.return: its \"yes\" and its \"no\" are the same [returns-can-be-told]"));
}
