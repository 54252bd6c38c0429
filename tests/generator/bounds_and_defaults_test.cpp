// Bounds and defaults that the overlay gives: those that C cannot hold are refused.
#include "refusal.hpp"
#include "support/catch.hpp"

using bindgen::test::kTag;
using bindgen::test::with_entry;
using bindgen::test::with_field;
using rkllm_mcp::test::has_text;

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
