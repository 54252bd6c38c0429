// The lengths of arrays: each follows from one thing, of which nothing else is said.
#include "refusal.hpp"
#include "support/catch.hpp"

using bindgen::test::kTag;
using bindgen::test::with_entry;
using rkllm_mcp::test::has_text;

TEST_CASE("pairs of arrays are nullable parameters, and groups are of fields") {
  const std::string nullable = R"("array":{"exactly":"session.n","nullable":true,"together_with":"b"}})";
  CHECK_THAT(with_entry("typedef struct { int* a; int* b; } S;", R"({"for":"S.a","quote":"int* a",)" + nullable +
                                                                     R"(,{"for":"S.b","quote":"int* b","unused":{}})"),
             has_text("\"together_with\" is for two parameters that are nullable arrays [pairs-are-of-parameters]"));
  CHECK_THAT(with_entry("int f(int a);", R"({"for":"f.a","quote":"int a","group":"g"})"),
             has_text("a \"group\" is of fields"));
  for (const char* name : {"value", "codec", "class", "errno"}) {
    CHECK_THAT(
        with_entry("typedef struct { float* v; int n; } S;",
                   std::string(R"({"for":"S.n","quote":"int n","group":")") + name +
                       R"("},{"for":"S.v","quote":"float* v","array":{"counted_by":"n"},"group":")" + name + "\"}"),
        has_text(std::string("the generated code means something else by ") + name + "; call its group otherwise"));
  }
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
