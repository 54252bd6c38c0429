// Compiling what is generated before it is written, with the headers of each target or with those of this machine.
#include "support/catch.hpp"
#include "temporary.hpp"

#include "check/verify.hpp"
#include "diagnostics.hpp"
#include "generate.hpp"
#include "read/parse.hpp"
#include "read/system_headers.hpp"

using namespace bindgen;
using rkllm_mcp::test::has_text;

namespace {

const std::vector<std::string> kSupport = {std::string(REPOSITORY) + "/include"};

std::string verification(const std::string& text) {
  try {
    verify({{"made_up/v1/abi.hpp", text}, {"manifest.json", "{}"}}, kSupport, "out");
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "verified";
}

}  // namespace

TEST_CASE("what is generated compiles for every target") {
  CHECK_NOTHROW(verify(generate({{test::kHeader, "1.3.0"}}, test::kOverlay), kSupport, "out"));
}

TEST_CASE("what is written once for two versions compiles for every target, whatever a stub names") {
  const std::string older = R"(#include <sys/types.h>
enum Color { RED, BLUE = 4 };
struct archive;
typedef struct { int a; unsigned bits : 3; } Size;
typedef struct { long b; } Place;
enum Ask { ASK_SIZE, ASK_PLACE };
struct archive* make(mode_t mode);
int use(struct archive* archive, enum Color colour, enum Color tint);
int query(struct archive* archive, enum Ask cmd, void* info, unsigned size);
struct Old { int x; int y[3]; char names[2][4]; };
int go(const struct Old* where);
int grid(struct archive* archive, char out[16], int* n);
const char* const label(void);
typedef const char* word;
word say(int word);
struct Pair { int left; };
struct Pair pair_of(int Pair);
const struct Pair* const kept_pair(int Pair);
)";
  std::string newer = older + "int extra(Size size);\n";
  const auto replace = [&](const std::string& old, const std::string& now) {
    for (auto at = newer.find(old); at != std::string::npos; at = newer.find(old, at)) {
      newer.replace(at, old.size(), now);
    }
  };
  replace("struct Old", "struct New");
  replace("unsigned bits : 3", "unsigned wide : 4; int c");
  replace("int y[3]", "float f; int y[4]");
  const auto folder = test::scratch("two_versions");
  const std::string overlay = test::file(folder, "o.json", R"(
      {"output":{"namespace":"rkllm_mcp","include":"rkllm_mcp"},"returns":{"int":{"status":{}}},"renamed":{"Old":"New"},
       "entries":[
      {"for":"make.return","quote":"archive*","handle":{"role":"creates"}},
      {"for":"use.archive","quote":"archive* archive","handle":{"role":"uses"}},
      {"for":"use.tint","quote":"Color tint","default":"BLUE"},
      {"for":"query.archive","quote":"archive* archive","handle":{"role":"uses"}},
      {"for":"query.info","quote":"void* info",
       "out":{"chosen_by":"cmd","size":"size","structs":{"ASK_SIZE":"Size","ASK_PLACE":"Place"}}},
      {"for":"go.where","until":"1","quote":"const Old* where","object":{}},
      {"for":"go.where","since":"2","quote":"const New* where","object":{}},
      {"for":"Old.y","until":"1","quote":"int y[3]","array":{"whole":true}},
      {"for":"New.y","since":"2","quote":"int y[4]","array":{"whole":true}},
      {"for":"Old.names","until":"1","quote":"char names[2][4]","array":{"whole":true}},
      {"for":"New.names","since":"2","quote":"char names[2][4]","array":{"whole":true}},
      {"for":"grid.archive","quote":"archive* archive","handle":{"role":"uses"}},
      {"for":"grid.out","quote":"char* out","out":{"whole":true}},
      {"for":"grid.n","quote":"int* n","out":{}},
      {"for":"label.return","quote":"const char* const","text":{}},
      {"for":"say.return","quote":"word","text":{}},
      {"for":"kept_pair.return","quote":"const Pair* const","object":{}}]})");
  CHECK_NOTHROW(
      verify(generate({{test::file(folder, "1.h", older), "1"}, {test::file(folder, "2.h", newer), "2"}}, overlay),
             kSupport, "out"));
}

TEST_CASE("what does not compile is refused with its place in the output and the target") {
  CHECK_THAT(
      verification("int a;\nint b = nothing;\n"),
      has_text("out/made_up/v1/abi.hpp:2:9: error: use of undeclared identifier 'nothing', compiled for x86_64"));
  CHECK_THAT(verification("int b = nothing;\n"), has_text("nothing was written"));
  CHECK_THAT(verification("static_assert(sizeof(void*) == 8);\n"),
             has_text("out/made_up/v1/abi.hpp:1:") && has_text(": error: static") && has_text("compiled for armv7"));
  CHECK(verification("#include <string>\ninline std::string a(char* b) { return b; }\n") == "verified");
}

TEST_CASE("the headers of this machine serve for other ones, with the width of their pointers") {
  const auto borrowed = borrowed_headers(Language::kCpp);
  REQUIRE(borrowed);
  CHECK(borrowed->are_borrowed);
  const clang::Index index(clang_createIndex(0, 0));
  const std::string main = test::file(test::scratch("borrowed"), "x.cpp",
                                      "#include <filesystem>\n#include <memory>\n#include <string>\n#include <vector>\n"
                                      "static_assert(sizeof(std::uintptr_t) == sizeof(void*));\n"
                                      "static_assert(sizeof(long) == sizeof(void*));\n");
  for (const char* target : kTargets) {
    INFO(target);
    std::vector<std::string> options = {"-x", "c++", "-std=c++20", std::string("--target=") + target};
    options.insert(options.end(), borrowed->options.begin(), borrowed->options.end());
    const std::vector<Diagnostic> errors = errors_of(run_clang(index, main, options, {}));
    INFO((errors.empty() ? "" : format(errors.front())));
    CHECK(errors.empty());
  }
}

TEST_CASE("headers that clang does not find for a target are none") {
  CHECK_FALSE(own_headers("sparc64-unknown-openbsd", Language::kCpp));
}
