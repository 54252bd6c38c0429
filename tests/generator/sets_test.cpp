// Several versions of one interface, generated together: what they share is written once, and each knows what the
// others have.
#include "support/catch.hpp"
#include "temporary.hpp"

#include "diagnostics.hpp"
#include "generate.hpp"

#include <map>
#include <string>

using namespace bindgen;
using rkllm_mcp::test::has_text;

namespace {

const std::string kOlder = R"(
typedef struct { int a; } Same;
typedef struct { int a; } Grown;
typedef struct { Grown grown; } Around;
int keep(Same* same);
int change(Around* around);
)";
const std::string kNewer = R"(
typedef struct { int a; } Same;
typedef struct { int a; int b; } Grown;
typedef struct { Grown grown; } Around;
int keep(Same* same);
int change(Around* around);
int add(int a);
)";
const std::string kEntries = R"({"for":"keep.same","quote":"Same* same","object":{}},
                                {"for":"change.around","quote":"Around* around","object":{}})";

std::map<std::string, std::string> generated(const std::string& older, const std::string& newer,
                                             const std::string& entries) {
  const auto folder = test::scratch("sets");
  std::map<std::string, std::string> files;
  for (const File& file :
       generate({{test::file(folder, "1.0.h", older), "1.0"}, {test::file(folder, "2.0.h", newer), "2.0"}},
                test::file(folder, "o.json", test::overlay(entries)))) {
    files[file.path] = file.text;
  }
  return files;
}

std::string refusal(const std::string& entries) {
  try {
    generated(kOlder, kNewer, entries);
  } catch (const Refusal& refused) {
    return refused.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("what two versions share is written once, in the older one") {
  const auto files = generated(kOlder, kNewer, kEntries);
  const std::string& abi = files.at("made_up/v2_0/abi.hpp");
  CHECK_THAT(abi, has_text("#include <made_up/v1_0/abi.hpp>"));
  CHECK_THAT(abi, has_text("using v1_0::Same;"));
  CHECK_THAT(abi, !has_text("struct Same {"));
  CHECK_THAT(abi, has_text("struct Grown {"));
  const std::string& methods = files.at("made_up/v2_0/methods.hpp");
  CHECK_THAT(methods, has_text("    v1_0::kMethod_keep,"));
  CHECK_THAT(methods, has_text("{\"keep\", &v1_0::keep<Functions>},"));
  CHECK_THAT(methods, !has_text("Json keep("));
}

TEST_CASE("what leans on something that differs is written again, though its own text is the same") {
  const auto files = generated(kOlder, kNewer, kEntries);
  CHECK_THAT(files.at("made_up/v2_0/abi.hpp"), has_text("struct Around {"));
  CHECK_THAT(files.at("made_up/v2_0/codecs.hpp"), has_text("Of<Codec, Around>& value"));
  CHECK_THAT(files.at("made_up/v2_0/methods.hpp"), has_text("Json change("));
}

TEST_CASE("each version knows what only the others have, and in which versions it is") {
  const auto files = generated(kOlder, kNewer, kEntries);
  CHECK_THAT(files.at("made_up/v1_0/codecs.hpp"), has_text(R"(kElsewhere_Grown[] = {{"b", "2.0"}};)"));
  CHECK_THAT(files.at("made_up/v1_0/methods.hpp"), has_text(R"(    {"add", "2.0"},)"));
  const auto backwards = generated(kNewer, kOlder, kEntries);
  CHECK_THAT(backwards.at("made_up/v2_0/codecs.hpp"), has_text(R"(kElsewhere_Grown[] = {{"b", "<= 1.0"}};)"));
}

TEST_CASE("each version knows the constants and types that only the others have") {
  const auto files = generated(kOlder, "#define MOST 3\ntypedef enum { kOnly } Kind;\n" + kNewer, kEntries);
  for (const char* name : {"MOST", "Kind", "kOnly"}) {
    CHECK_THAT(files.at("made_up/v1_0/methods.hpp"), has_text("{\"" + std::string(name) + "\", \"2.0\"}"));
  }
}

TEST_CASE("an entry is about the versions that it names") {
  const std::string one_each = R"({"for":"change.around","quote":"Around* around","object":{}},
      {"for":"keep.same","until":"1.0","quote":"Same* same","object":{}},
      {"for":"keep.same","since":"1.1","quote":"Same* same","object":{"nullable":true}})";
  const auto files = generated(kOlder, kNewer, one_each);
  CHECK_THAT(files.at("made_up/v1_0/methods.hpp"), has_text(R"(params.object("same", same, kRequired);)"));
  CHECK_THAT(files.at("made_up/v2_0/methods.hpp"), has_text(R"(params.object("same", same, kNullable);)"));
}

TEST_CASE("an entry about no version between those generated is refused") {
  const std::string text =
      refusal(kEntries + R"(,{"for":"Grown.a","since":"1.1","until":"1.9","quote":"int a","value":{"minimum":0}})");
  CHECK_THAT(text, has_text("this entry for Grown.a is about no version that is known here"));
  CHECK_THAT(refusal(kEntries + R"(,{"for":"Grown.a","since":"3.0","until":"2.5","quote":"int a"})"),
             has_text("about no version that is known here"));
  CHECK_THAT(refusal(kEntries + R"(,{"for":"Grown.a","since":"20.0","quote":"int a"})"), has_text("no version"));
  CHECK_THAT(refusal(kEntries + R"(,{"for":"Grown.a","until":"0.10","quote":"int a"})"), has_text("no version"));
}

TEST_CASE("of one header alone, the overlay may tell of older ones, but not of versions that nobody knows") {
  const auto of_one = [](const std::string& entry, std::vector<std::string> known) -> std::string {
    const auto folder = test::scratch("one");
    try {
      generate({{test::file(folder, "2.0.h", kNewer), "2.0"}},
               test::file(folder, "o.json", test::overlay(kEntries + "," + entry)), std::move(known));
    } catch (const Refusal& refused) {
      return refused.what();
    }
    return "accepted";
  };
  CHECK(of_one(R"({"for":"gone","until":"1.0","quote":"any"})", {}) == "accepted");
  CHECK_THAT(of_one(R"({"for":"add","since":"20","quote":"any"})", {}), has_text("no version that is known"));
  CHECK(of_one(R"({"for":"add","since":"3","quote":"any"})", {"3.0"}) == "accepted");
}

TEST_CASE("a field may have the name of something that only a newer version declares") {
  const std::string older = "typedef struct { int later; } S;\nint f(S* s);\n";
  const std::string newer = older + "typedef struct { int a; } later;\nint g(later* it);\n";
  const auto files = generated(older, newer, R"({"for":"f.s","quote":"S* s","object":{}},
                                                {"for":"g.it","since":"2.0","quote":"later* it","object":{}})");
  CHECK_THAT(files.at("made_up/v2_0/abi.hpp"), has_text("struct later {"));
}

TEST_CASE("fields that were nested later stand in the same object on the wire before") {
  const std::string flat = "typedef struct { float* rows; int n_rows; } In;\nint put(In* in);\n";
  const std::string nested =
      "typedef struct { struct { float* rows; int n_rows; int more; } table; } In;\nint put(In* in);\n";
  const std::string head =
      R"({"output":{"namespace":"made_up","include":"made_up"},"returns":{"int":{"status":{}}},)"
      R"("groups":{"table":"The table."},"entries":[{"for":"put.in","quote":"In* in","object":{}},)";
  const auto folder = test::scratch("groups");
  const std::string overlay = test::file(folder, "o.json", head + R"(
      {"for":"In.rows","until":"1.0","quote":"float* rows","group":"table","array":{"counted_by":"n_rows"}},
      {"for":"In.n_rows","until":"1.0","quote":"int n_rows","group":"table"},
      {"for":"In.table","since":"2.0","quote":"struct { float* rows; int n_rows; int more; } table","value":{"present_if":"rows"}},
      {"for":"In.table.rows","since":"2.0","quote":"float* rows","array":{"counted_by":"n_rows"}}]})");
  const auto files =
      generate({{test::file(folder, "1.h", flat), "1.0"}, {test::file(folder, "2.h", nested), "2.0"}}, overlay);
  for (const File& file : files) {
    if (file.path == "made_up/v1_0/codecs.hpp") {
      CHECK_THAT(file.text, has_text(R"(codec.group("table", value.rows, [&](auto& table) {)"));
      CHECK_THAT(file.text, has_text(R"(table.array("rows", value.rows, counted_by("n_rows", value.n_rows));)"));
      CHECK_THAT(file.text, has_text(R"(}, {{"more", "2.0"}});)"));
    }
    if (file.path == "made_up/v1_0/schemas.hpp") CHECK_THAT(file.text, has_text(R"("table":{"type":"object",)"));
  }
}
