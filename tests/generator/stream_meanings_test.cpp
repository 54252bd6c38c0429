// What the overlay says of a callback that becomes a stream.
#include "refusal.hpp"
#include "support/catch.hpp"

using bindgen::test::with_entry;
using rkllm_mcp::test::has_text;

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
