// Unions: which have a form on the wire, and what the overlay has to say of them.
#include "refusal.hpp"
#include "support/catch.hpp"

using bindgen::test::kTag;
using bindgen::test::with_entry;
using rkllm_mcp::test::has_text;

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
