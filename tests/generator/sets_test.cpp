// Several versions of one interface, generated together: what is done with a type or a function is written once for all
// of them, and each version knows what the others have.
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

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
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

TEST_CASE("each version states all of its types, and what is done with them is written once for all versions") {
  const auto files = generated(kOlder, kNewer, kEntries);
  for (const char* set : {"v1_0", "v2_0"}) {
    const std::string& abi = files.at("made_up/" + std::string(set) + "/abi.hpp");
    for (const char* type : {"Same", "Grown", "Around"})
      CHECK_THAT(abi, has_text("struct " + std::string(type) + " {"));
    CHECK_THAT(abi, !has_text("#include <made_up/v1_0"));
    CHECK(files.count("made_up/" + std::string(set) + "/codecs.hpp") == 0);
  }
  CHECK_THAT(files.at("made_up/any_version/types.hpp"),
             has_text("concept AnyGrown = OneOf<T, v1_0::Grown, v2_0::Grown>;"));
  const std::string& methods = files.at("made_up/any_version/methods.hpp");
  CHECK(count_of(methods, "Json keep(const typename Abi::Functions& functions, CallContext& call) {") == 1);
  CHECK(count_of(methods, "Json change(") == 1);
  CHECK(count_of(files.at("made_up/any_version/codecs.hpp"), "void members(Codec& codec, Value& value) {") == 3);
}

TEST_CASE("what a version has not is left out by what tells it from the others") {
  const auto files = generated(kOlder, kNewer, kEntries);
  CHECK_THAT(files.at("made_up/any_version/codecs.hpp"), has_text("  if constexpr (requires { value.b; }) {\n"
                                                                  "    codec.integer(\"b\", value.b);\n"
                                                                  "  }\n"));
  CHECK_THAT(files.at("made_up/any_version/schemas.hpp"), has_text(R"x("b":{"type":"integer",)x"));
  CHECK_THAT(files.at("made_up/any_version/schemas.hpp"), has_text(R"x(}},)", "2.0"},)x"));
  const std::string& newer = files.at("made_up/v2_0/methods.hpp");
  CHECK_THAT(newer, has_text("    any_version::method_add<Abi>(),"));
  CHECK_THAT(newer, has_text("{\"keep\", &any_version::keep<Abi>},"));
  CHECK_THAT(files.at("made_up/v1_0/methods.hpp"), !has_text("add<Abi>"));
}

TEST_CASE("each version knows what only the others have, and in which versions it is") {
  const auto files = generated(kOlder, kNewer, kEntries);
  CHECK_THAT(files.at("made_up/any_version/codecs.hpp"), has_text(R"(kElsewhere_Grown[] = {{"b", "2.0"}};)"));
  CHECK_THAT(files.at("made_up/v1_0/methods.hpp"), has_text(R"(    {"add", "2.0"},)"));
  const auto backwards = generated(kNewer, kOlder, kEntries);
  CHECK_THAT(backwards.at("made_up/any_version/codecs.hpp"), has_text(R"(kElsewhere_Grown[] = {{"b", "<= 1.0"}};)"));
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
  const std::string& methods = files.at("made_up/any_version/methods.hpp");
  const std::string stub =
      "\nJson keep(const typename Abi::Functions& functions, CallContext& call) {\n"
      "  using Same = typename Abi::Same;\n  Decoder params(call, \"keep\");\n  Same* same = nullptr;\n";
  CHECK_THAT(methods, has_text("  requires(up_to_version<Abi>(\"1.0\"))" + stub +
                               R"(  params.object("same", same, kRequired);)"));
  CHECK_THAT(methods, has_text("  requires(from_version<Abi>(\"2.0\"))" + stub +
                               R"(  params.object("same", same, kNullable);)"));
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
    if (file.path == "made_up/any_version/codecs.hpp") {
      CHECK_THAT(file.text, has_text(R"(codec.group("table", value.rows, [&](auto& table) {)"));
      CHECK_THAT(file.text, has_text(R"(table.array("rows", value.rows, counted_by("n_rows", value.n_rows));)"));
      CHECK_THAT(file.text, has_text(R"(}, {{"more", "2.0"}});)"));
    }
    if (file.path == "made_up/any_version/schemas.hpp") CHECK_THAT(file.text, has_text(R"("table":{"type":"object",)"));
  }
}

TEST_CASE("of what came and went again, all versions tell the first and the last one that has it") {
  const auto folder = test::scratch("came_and_went");
  const std::string with = "typedef struct { int a; int b; } S;\nint f(S* s);\n";
  const std::string without = "typedef struct { int a; } S;\nint f(S* s);\n";
  const std::string overlay =
      test::file(folder, "o.json", test::overlay(R"({"for":"f.s","quote":"S* s","object":{}})"));
  std::string codecs;
  for (const File& file : generate({{test::file(folder, "1.h", without), "1.0"},
                                    {test::file(folder, "2.h", with), "2.0"},
                                    {test::file(folder, "3.h", with), "3.0"},
                                    {test::file(folder, "4.h", without), "4.0"}},
                                   overlay)) {
    if (file.path == "made_up/any_version/codecs.hpp") codecs = file.text;
  }
  CHECK_THAT(codecs, has_text(R"(kElsewhere_S[] = {{"b", "2.0 to 3.0"}};)"));
}
