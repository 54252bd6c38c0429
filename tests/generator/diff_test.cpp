// Comparing two versions of an interface.
#include "golden.hpp"
#include "support/catch.hpp"
#include "temporary.hpp"

#include "bindgen_json.hpp"
#include "compare/diff.hpp"
#include "read/header.hpp"

#include <algorithm>

using namespace bindgen;
using rkllm_mcp::test::has_text;

namespace {

std::string word(Breaks breaks) {
  switch (breaks) {
    case Breaks::kNone: return "none";
    case Breaks::kApi: return "api";
    case Breaks::kAbi: return "abi";
  }
  return {};
}

// As in the files of expected changes, in any order.
std::vector<std::string> lines(const std::vector<Change>& changes) {
  std::vector<std::string> lines;
  for (const Change& change : changes) lines.push_back(word(change.breaks) + " " + line_of(change));
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<Change> diff_of(const std::string& before, const std::string& after) {
  const auto folder = test::scratch("diff");
  return diff(read_header(test::file(folder, "before.h", before)), read_header(test::file(folder, "after.h", after)));
}

using Lines = std::vector<std::string>;

std::vector<Change> reworded(const c::Header& before, const c::Header& after) {
  return documentation_changes(before, after, diff(before, after));
}

}  // namespace

TEST_CASE("between any two versions exactly what changed in the published interface is told") {
  // The expected changes come from the published files, without this program.
  for (std::size_t i = 0; i + 1 < test::kVersions.size(); ++i) {
    const std::string before = test::kVersions[i];
    const std::string after = test::kVersions[i + 1];
    INFO(before << " to " << after);
    Lines expected;
    const std::string name = "/tests/generator/data/diff_" + before + "_" + after + ".txt";
    for (const std::string& line : lines_of(read_text(REPOSITORY + name))) {
      if (!line.empty() && line.front() != '#') expected.push_back(line);
    }
    std::sort(expected.begin(), expected.end());
    REQUIRE_FALSE(expected.empty());
    const auto changes = diff(read_header(test::header_of(before)), read_header(test::header_of(after)));
    CHECK(lines(changes) == expected);
    CHECK(breaks(changes) == Breaks::kAbi);
  }
}

TEST_CASE("a version does not differ from itself") {
  for (const char* version : test::kVersions) {
    const c::Header header = read_header(test::header_of(version));
    CHECK(diff(header, header).empty());
  }
}

TEST_CASE("additions break nothing, not even a field that fills padding") {
  const auto changes = diff_of("typedef struct { char a; int b; } S; typedef enum { kA } E;",
                               "typedef struct { char a; char n; int b; } S; typedef enum { kA, kB } E; int f(void);");
  CHECK(lines(changes) == Lines{"none added enumerator E.kB: 1", "none added field S.n: char n, @1/1",
                                "none added function f: int f(void)"});
  CHECK(breaks(changes) == Breaks::kNone);
}

TEST_CASE("a new name for the same thing breaks sources only") {
  CHECK(lines(diff_of("typedef struct { int a; } Old; int f(Old* it, int n);",
                      "typedef struct { int a; } New; int f(New* it, int count);")) ==
        Lines{"api changed function f: int f(Old* it, int n) -> int f(New* it, int count)",
              "api renamed struct New: Old -> New"});
  CHECK(breaks(diff_of("int f(char* a);", "int f(const char* a);")) == Breaks::kApi);
}

TEST_CASE("what has another name and is otherwise the same is renamed, neither removed nor added") {
  CHECK(lines(diff_of("typedef struct { int a; float topP; char* c; } S;",
                      "typedef struct { int a; float top_p; char* c; } S;")) ==
        Lines{"api renamed field S.top_p: S.topP -> S.top_p"});
  CHECK(lines(diff_of("typedef struct { int a; float b; } Image;", "typedef struct { int x; float y; } Images;")) ==
        Lines{"api renamed struct Images: Image -> Images"});
  CHECK(lines(diff_of("int open_model(int n, char* path);", "int open_models(int count, char* path);")) ==
        Lines{"abi renamed function open_models: open_model -> open_models"});
  CHECK(lines(diff_of("enum E { kA, kB };", "enum E { kA, K_B };")) ==
        Lines{"api renamed enumerator E.K_B: E.kB -> E.K_B"});
  CHECK(lines(diff_of("typedef enum { kA, kB } E;", "typedef enum { kA, kB } F;")) ==
        Lines{"api renamed enum F: E -> F"});
  CHECK(lines(diff_of("#define MAX_TEXT 64\n", "#define MAX_TEXTS 64\n")) ==
        Lines{"api renamed macro MAX_TEXTS: MAX_TEXT -> MAX_TEXTS"});
  CHECK(lines(diff_of("typedef int (*on_end)(int a);", "typedef int (*on_ends)(int a);")) ==
        Lines{"api renamed callback on_ends: on_end -> on_ends"});
}

TEST_CASE("enumerators whose enum gives them another common beginning are renamed, those of equal value and end") {
  CHECK(lines(diff_of("typedef enum { OLD_FIRST, OLD_NEXT, OLD_LAST } E;",
                      "typedef enum { RK_FIRST, RK_NEXT, RK_END, RK_MORE } E;")) ==
        Lines{"abi removed enumerator E.OLD_LAST: 2", "api renamed enumerator E.RK_FIRST: E.OLD_FIRST -> E.RK_FIRST",
              "api renamed enumerator E.RK_NEXT: E.OLD_NEXT -> E.RK_NEXT", "none added enumerator E.RK_END: 2",
              "none added enumerator E.RK_MORE: 3"});
  CHECK(lines(diff_of("enum E { kOldRun, kOldWait };", "enum E { kRun, kWait };")) ==
        Lines{"api renamed enumerator E.kRun: E.kOldRun -> E.kRun",
              "api renamed enumerator E.kWait: E.kOldWait -> E.kWait"});
  CHECK(lines(diff_of("enum { A_X = 4, A_Y }; enum { B_X = 4, B_Y };",
                      "enum { NEW_X = 4, NEW_Y }; enum { B_X = 4, B_Y };")) ==
        Lines{"abi renamed (a guess) enumerator NEW_X: 4 -> 4", "abi renamed (a guess) enumerator NEW_Y: 5 -> 5"});
  // Two names of one value go by their ends.
  CHECK(lines(diff_of("enum E { MODEL_TYPE_A, MODEL_TYPE_B = 0, MODEL_TYPE_C };",
                      "enum E { MODEL_KIND_A, MODEL_KIND_B = 0, MODEL_KIND_C };")) ==
        Lines{"api renamed enumerator E.MODEL_KIND_A: E.MODEL_TYPE_A -> E.MODEL_KIND_A",
              "api renamed enumerator E.MODEL_KIND_B: E.MODEL_TYPE_B -> E.MODEL_KIND_B",
              "api renamed enumerator E.MODEL_KIND_C: E.MODEL_TYPE_C -> E.MODEL_KIND_C"});
  // Another value, or another end, is another thing.
  CHECK(lines(diff_of("enum E { OLD_A, OLD_B };", "enum E { NEW_B, NEW_A };")).size() == 4);
  CHECK(lines(diff_of("enum E { OLD_ONE, OLD_TWO };", "enum E { NEW_RED, NEW_BLUE };")).size() == 4);
}

TEST_CASE("enumerators that begin otherwise beside others that stay are guessed to be renamed") {
  // READ and WRITE may well be what they are about.
  CHECK(lines(diff_of("enum E { RK_NONE, RK_READ_OK, RK_READ_ERROR };",
                      "enum E { RK_NONE, RK_WRITE_OK, RK_WRITE_ERROR };")) ==
        Lines{"abi renamed (a guess) enumerator E.RK_WRITE_ERROR: 2 -> 2",
              "abi renamed (a guess) enumerator E.RK_WRITE_OK: 1 -> 1"});
  CHECK(lines(diff_of("enum E { RK_NONE, RK_READ_DENIED };", "enum E { RK_NONE, RK_SEND_DENIED };")) ==
        Lines{"abi renamed (a guess) enumerator E.RK_SEND_DENIED: 1 -> 1"});
  CHECK(lines(diff_of("enum E { RK_NONE, RK_FINISH };", "enum E { RK_NONE, RK_FINISHED };")) ==
        Lines{"api renamed enumerator E.RK_FINISHED: E.RK_FINISH -> E.RK_FINISHED"});
  for (const auto& [old, now] : {std::pair("RK_OPEN", "RK_NOT_OPEN"), std::pair("RK_INT1", "RK_INT16"),
                                 std::pair("RK_READ", "RK_READY"), std::pair("RK_FULL_NO", "RK_FULL")}) {
    INFO(old);
    const auto with = [](const char* name) { return "enum E { RK_NONE, " + std::string(name) + " };"; };
    CHECK(breaks(diff_of(with(old), with(now))) == Breaks::kAbi);
  }
  CHECK(lines(diff_of("#define RK_OPEN 77\n", "#define RK_NOT_OPEN 77\n")).size() == 2);
}

TEST_CASE("an enum has another name, and so have its enumerators, if they all begin with other words") {
  CHECK(lines(diff_of("typedef enum { OLD_A = 3, OLD_B } Old; int f(Old it);",
                      "typedef enum { NEW_A = 3, NEW_B } New; int f(New it);")) ==
        Lines{"api changed function f: int f(Old it) -> int f(New it)", "api renamed enum New: Old -> New",
              "api renamed enumerator New.NEW_A: Old.OLD_A -> New.NEW_A",
              "api renamed enumerator New.NEW_B: Old.OLD_B -> New.NEW_B"});
  CHECK(lines(diff_of("enum RkOldState { OLD_A, OLD_B };", "enum RkNewState { NEW_A, NEW_B };")).front() ==
        "api renamed enum RkNewState: RkOldState -> RkNewState");
  // Nothing but the ends of the enumerators speaks for it.
  CHECK(lines(diff_of("enum Audio { AUDIO_OFF, AUDIO_ON }; int listen(enum Audio to);",
                      "enum Video { VIDEO_OFF, VIDEO_ON }; int look(enum Video at, int long_);")) ==
        Lines{"abi removed function listen: int listen(Audio to)",
              "api renamed (a guess) enum Video: enum Audio { AUDIO_OFF = 0, AUDIO_ON = 1 }, size 4/4 -> enum Video { "
              "VIDEO_OFF = 0, VIDEO_ON = 1 }, size 4/4",
              "none added function look: int look(Video at, int long_)"});
  CHECK(lines(diff_of("enum Old { OLD_A, OLD_B };", "enum New { NEW_A, NEW_C };")).size() == 2);
  CHECK(lines(diff_of("enum Old { OLD_A, OLD_B };", "enum New { NEW_A, NEW_B, NEW_C };")).size() == 2);
}

TEST_CASE("a type without content has another name if all that uses it says so") {
  const std::string uses = "int o(ctx* out);\nint c(ctx c, len n);";
  CHECK(lines(diff_of("typedef struct s* ctx;\ntypedef int len;\n" + uses,
                      "typedef struct s* context;\ntypedef int amount;\n"
                      "int o(context* out);\nint c(context c, amount n);")) ==
        Lines{"api changed function c: int c(ctx c, len n) -> int c(context c, amount n)",
              "api changed function o: int o(ctx* out) -> int o(context* out)",
              "api renamed typedef amount: len -> amount", "api renamed typedef context: ctx -> context"});
  CHECK(lines(diff_of("struct ctx;\nint o(struct ctx** out);", "struct handle;\nint o(struct handle** out);")) ==
        Lines{"api changed function o: int o(ctx** out) -> int o(handle** out)",
              "api renamed opaque struct handle: ctx -> handle"});
  CHECK(lines(diff_of("typedef struct a* h;\nint f(h x);", "typedef struct b* h;\nint f(h x);")) ==
        Lines{"api changed typedef h: typedef a* h -> typedef b* h", "api renamed opaque struct b: a -> b"});
  // Both are there before and now: a function that takes the other one is another function.
  CHECK(lines(diff_of("struct a; struct b;\nint f(struct a* x);", "struct a; struct b;\nint f(struct b* x);")) ==
        Lines{"abi changed function f: int f(a* x) -> int f(b* x)"});
}

TEST_CASE("an array with more elements, which a function may use, breaks programs that have fewer") {
  CHECK(lines(diff_of("int f(int a[4]);", "int f(int a[8]);")) ==
        Lines{"abi changed function f: a: an array of 4 elements -> a: an array of 8 elements"});
  CHECK(lines(diff_of("int f(int m[4][3]);", "int f(int m[2][3]);")) ==
        Lines{"api changed function f: m: an array of 4 elements -> m: an array of 2 elements"});
  CHECK(lines(diff_of("typedef int (*F)(int a[4]);", "typedef int (*F)(int a[8]);")) ==
        Lines{"abi changed callback F: a: an array of 4 elements -> a: an array of 8 elements"});
  CHECK(lines(diff_of("int f(int* a);", "int f(int a[8]);")) ==
        Lines{"abi changed function f: a: a pointer -> a: an array of 8 elements"});
}

TEST_CASE("another way to be called breaks the ABI") {
  const std::string own = "__attribute__((ms_abi)) ";
  CHECK(lines(diff_of("int f(int a);", own + "int f(int a);")) ==
        Lines{"abi changed function f: called as C calls functions -> called in a way of its own (an attribute)"});
  CHECK(word(breaks(diff_of(own + "int f(int a);", "int f(int a);"))) == "abi");
  CHECK(word(breaks(diff_of("typedef int (*F)(int a);", "typedef int (" + own + "*F)(int a);"))) == "abi");
  CHECK(lines(diff_of("int f(int (*g)(int));", "int f(int (" + own + "*g)(int));")) ==
        Lines{"abi changed function f: g: int (*)(int), called as C calls functions -> g: int (*)(int), called in a "
              "way of its own (an attribute)"});
  CHECK(word(breaks(diff_of("typedef struct { int (*g)(int); } S;",
                            "typedef struct { int (" + own + "*g)(int); } S;"))) == "abi");
}

TEST_CASE("parameters that change places break programs, whose arguments do not") {
  CHECK(lines(diff_of("int f(int a, int b);", "int f(int b, int a);")) ==
        Lines{"abi changed function f: int f(int a, int b) -> int f(int b, int a)"});
  CHECK(word(breaks(diff_of("int f(int a, int b, int c);", "int f(int c, int x, int b);"))) == "abi");
  CHECK(word(breaks(diff_of("int f(int a, int b);", "int f(int x, int b);"))) == "api");
}

TEST_CASE("what might be renamed, since nothing else is like it, is a guess, and breaks what its removal would") {
  CHECK(lines(diff_of("int foo(int a);", "int bar(int a);")) ==
        Lines{"abi renamed (a guess) function bar: int foo(int a) -> int bar(int a)"});
  CHECK(lines(diff_of("typedef struct { int use_gpu; } S;", "typedef struct { int depth; } S;")) ==
        Lines{"abi renamed (a guess) field S.depth: int use_gpu, @0/0 -> int depth, @0/0"});
  CHECK(lines(diff_of("typedef struct { int a; float b; } One;", "typedef struct { int x; float y; } Two;")) ==
        Lines{"api renamed (a guess) struct Two: struct One { int a; float b; }, size 8/8 -> struct Two { int x; float "
              "y; }, size 8/8"});
  CHECK(lines(diff_of("typedef int (*done)(int a);", "typedef int (*ended)(int a);")) ==
        Lines{"api renamed (a guess) callback ended: typedef int (*done)(int a) -> typedef int (*ended)(int a)"});
  const auto changes = diff_of("int foo(int a);", "int bar(int a);");
  CHECK_THAT(diff_as_json(changes, "a", "b"), has_text("\"change\": \"renamed\"") && has_text("\"guess\": true"));
  CHECK_THAT(diff_as_markdown(changes, "a", "b"), has_text("| renamed (a guess) | function |"));
}

TEST_CASE("a struct that gets a definition, or loses it, is one change") {
  const std::string f = "int f(struct T* t);";
  CHECK(lines(diff_of("struct T;" + f, "struct T { int a; };" + f)) ==
        Lines{"none changed struct T: opaque -> is defined now, size 4/4"});
  CHECK(lines(diff_of("struct T { int a; };" + f, "struct T;" + f)) ==
        Lines{"api changed struct T: defined, size 4/4 -> is opaque now"});
  CHECK(lines(diff_of("typedef union T T; T* f(void);", "typedef union T { int a; } T; T* f(void);")) ==
        Lines{"none changed union T: opaque -> is defined now, size 4/4"});
}

TEST_CASE("what is deprecated now is told whether or not documentation is compared") {
  CHECK(lines(diff_of("int f(int a);\n/** Old. @deprecated Use h. */\nint g(int a);",
                      "/** One. @deprecated Use g. */\nint f(int a);\n/** Old. */\nint g(int a);")) ==
        Lines{"none added deprecation f: Deprecated: Use g.", "none removed deprecation g: Deprecated: Use h."});
  CHECK(lines(diff_of("enum { kA, kB }; typedef struct { int a; } S;",
                      "enum { kA, kB __attribute__((deprecated)) };"
                      "typedef struct { int a __attribute__((deprecated(\"gone soon\"))); } S;")) ==
        Lines{"none added deprecation S.a: Deprecated: gone soon", "none added deprecation kB: Deprecated."});
  // Across another name, and not of what is new.
  CHECK(lines(diff_of("int open_model(int n);", "/** @deprecated */\nint open_models(int n);")) ==
        Lines{"abi renamed function open_models: open_model -> open_models",
              "none added deprecation open_models: Deprecated."});
  CHECK(lines(diff_of("int f(int n);", "int f(int n);\n/** @deprecated */\nfloat g(void);")) ==
        Lines{"none added function g: float g(void)"});
}

TEST_CASE("what has changed and breaks nothing is told apart from what is new") {
  const auto changes = diff_of("struct T;\nint f(struct T* t);\n/** @deprecated Use f. */\nint g(int a);",
                               "struct T { int a; };\nint f(struct T* t);\nint g(int a);\nint h(int a);");
  CHECK_THAT(diff_as_text(changes, "a", "b"), has_text("\n\nChanges that break nothing (2)\n"
                                                       "  changed struct T: opaque -> is defined now, size 4/4\n"
                                                       "  removed deprecation g: Deprecated: Use f.\n"
                                                       "\nAdditions (1)\n  added function h: int h(int a)\n"));
  CHECK_THAT(diff_as_markdown(changes, "a", "b"), has_text("## Changes that break nothing (2)"));
  const Json json = Json::parse(diff_as_json(changes, "a", "b"));
  CHECK(json.at("counts") == Json{{"abi", 0}, {"api", 0}, {"changed", 2}, {"none", 1}, {"documentation", 0}});
  CHECK(json.at("changes").at(0).at("breaks").get<std::string>() == "none");
}

TEST_CASE("what is not alike, or alike in two ways, is removed and added") {
  CHECK(lines(diff_of("typedef struct { int a; } S;", "typedef struct { float b; } S;")).size() == 2);
  CHECK(lines(diff_of("typedef struct { int a; } One;", "typedef struct { int x; } Two;")).size() == 2);
  CHECK(lines(diff_of("int start(int a);", "int finish(float a);")).size() == 2);
  // A value is no layout: many things have the same.
  CHECK(lines(diff_of("#define WIDTH 64\n", "#define HEIGHT 64\n")).size() == 2);
  CHECK(lines(diff_of("enum E { kRun, kFinish };", "enum E { kRun, kWaiting };")).size() == 2);
  CHECK(lines(diff_of("int start(int a);", "int finish(int a); int stop(int a);")).size() == 3);
  CHECK(lines(diff_of("int read_a(int n);", "int read_b(int n); int read_c(int n);")) ==
        Lines{"abi removed function read_a: int read_a(int n)", "none added function read_b: int read_b(int n)",
              "none added function read_c: int read_c(int n)"});
}

TEST_CASE("another value of a macro breaks programs, which carry the old one") {
  CHECK(lines(diff_of("#define X 1\n#define T \"a\"\n", "#define X 2\n#define T \"b\"\n")) ==
        Lines{"abi changed macro T: \"a\" -> \"b\"", "abi changed macro X: 1 -> 2"});
  CHECK(lines(diff_of("#define X 0.0\n", "#define X -0.0\n")) == Lines{"abi changed macro X: 0.0 -> - 0.0"});
}

TEST_CASE("a handle that gets a type of its own breaks sources only") {
  CHECK(lines(diff_of("typedef void* H;\nint f(H h);", "typedef struct T* H;\nint f(H h);")) ==
        Lines{"api changed typedef H: typedef void* H -> typedef T* H", "none added opaque struct T: struct T"});
  CHECK(word(breaks(diff_of("struct T; int f(struct T* t);", "int f(void* t);"))) == "api");
  CHECK(word(breaks(diff_of("int f(int* t);", "int f(void* t);"))) == "abi");
  CHECK(word(breaks(diff_of("struct T { int a; }; int f(struct T* t);", "struct T { int a; }; int f(void* t);"))) ==
        "abi");
}

TEST_CASE("variables of the library are compared as what it exports") {
  CHECK(lines(diff_of("extern int g;\nextern int h;\nextern const char* t;\nint f(int a);",
                      "extern long long h;\nextern int k;\nextern const char* t;\nint f(int a);")) ==
        Lines{"abi changed variable h: int h -> long long h", "abi removed variable g: int g",
              "none added variable k: int k"});
  CHECK(word(breaks(diff_of("typedef int T;\nextern T g;", "typedef int U;\ntypedef U T;\nextern U g;"))) == "api");
  CHECK(word(breaks(diff_of("extern \"C\" { int g; }", "extern \"C\" { int* g; }"))) == "abi");
  CHECK(lines(diff_of("extern int lib_level;\nint f(int level);", "extern int lib_levels;\nint f(int level);")) ==
        Lines{"abi renamed variable lib_levels: lib_level -> lib_levels"});
  CHECK(lines(diff_of("extern int a[4];", "extern int a[8];")) ==
        Lines{"abi changed variable a: int a[4] -> int a[8]"});
  CHECK(lines(diff_of("extern int v;", "extern int v __asm__(\"v2\");")) ==
        Lines{"abi changed variable v: symbol v -> symbol v2"});
  CHECK(diff_of("static int s = 1;", "static int s = 2;").empty());
  CHECK(diff_of("extern int g;\nextern int g;", "extern int g;").empty());
}

TEST_CASE("a field that another struct holds now has moved") {
  CHECK(lines(diff_of("typedef struct { int n; const char* tag; } A; typedef struct { int m; } B;",
                      "typedef struct { int n; } A; typedef struct { int m; const char* tag; } B;")) ==
        Lines{"abi changed struct A: alignment 8/4 -> alignment 4/4",
              "abi changed struct B: alignment 4/4 -> alignment 8/4",
              "abi moved field B.tag: A.tag, @8/4 -> B.tag, @8/4", "abi resized struct A: size 16/8 -> size 4/4",
              "abi resized struct B: size 4/4 -> size 16/8"});
}

TEST_CASE("documentation is compared word by word, whatever its lines") {
  const auto folder = test::scratch("diff_docs");
  const auto changes = reworded(
      read_header(test::file(folder, "before.h",
                             "/** One\n * line.\n * @return 0: runs */\nint f(int a);\ntypedef struct {\n"
                             "  /** Old. */ int b; } S;\nenum E { /** Same. */ kA };\n")),
      read_header(test::file(folder, "after.h",
                             "/** One line.\n * @param a New.\n * @return 1: runs */\nint f(int a);\ntypedef struct {\n"
                             "  int b; } S;\nenum E { kA /**< Same. */ };\n/** Added. */ int g(void);\n")));
  CHECK(lines(changes) == Lines{"none reworded documentation S.b:\n    - Old.\n    + (nothing)",
                                "none reworded documentation f.a:\n    - (nothing)\n    + New.",
                                "none reworded documentation f.return:\n    - 0: runs\n    + 1: runs"});
}

TEST_CASE("documentation is compared inside structs without a name") {
  const auto folder = test::scratch("diff_docs_unnamed");
  const std::string header = "typedef struct { struct { /** Old. */ int a; } rows[2]; } S;\n";
  CHECK(lines(reworded(
            read_header(test::file(folder, "before.h", header)),
            read_header(test::file(folder, "after.h", std::string(header).replace(header.find("Old"), 3, "New"))))) ==
        Lines{"none reworded documentation S.rows.a:\n    - Old.\n    + New."});
  const std::string alias = "typedef struct { /** Old. */ int a; }* P;\n";
  CHECK(lines(reworded(
            read_header(test::file(folder, "before.h", alias)),
            read_header(test::file(folder, "after.h", std::string(alias).replace(alias.find("Old"), 3, "New"))))) ==
        Lines{"none reworded documentation P.a:\n    - Old.\n    + New."});
}

TEST_CASE("a deprecation is told once, also where documentation is compared") {
  const auto folder = test::scratch("diff_docs_deprecated");
  const auto told = [&](const std::string& before, const std::string& after) {
    return lines(reworded(read_header(test::file(folder, "before.h", before)),
                          read_header(test::file(folder, "after.h", after))));
  };
  CHECK(told("/** Runs. */\nint f(int a);\nint g(int a);",
             "/** Runs.\n @deprecated Say h. */\nint f(int a);\n__attribute__((deprecated(\"Gone.\"))) int g(int a);")
            .empty());
  CHECK(told("/** Runs. @deprecated Say h. */\nint f(int a);", "/** Runs. */\nint f(int a);").empty());
  CHECK(told("/** Runs. */\nint f(int a);",
             "/** @deprecated Say h.\n *\n * Runs.\n * @deprecated Gone in 2.0. */\nint f(int a);")
            .empty());
  // What else is said in other words, and in which words it is deprecated, is told.
  CHECK(told("/** Runs. */\nint f(int a);", "/** Walks. @deprecated Say h. */\nint f(int a);") ==
        Lines{"none reworded documentation f:\n    - Runs.\n    + Walks."});
  CHECK(told("/** @deprecated Say g. */\nint f(int a);", "/** @deprecated Say h. */\nint f(int a);") ==
        Lines{"none reworded documentation f:\n    - Deprecated: Say g.\n    + Deprecated: Say h."});
}

TEST_CASE("documentation is compared across another name, and across that of a parameter") {
  const auto folder = test::scratch("diff_docs_renamed");
  const auto changes = reworded(
      read_header(test::file(folder, "before.h",
                             "typedef struct { /** Seconds. */ int a; float b; } Image;\n"
                             "/** @param n How many.\n @return 0: runs */\nint open_model(Image* i, int n);\n"
                             "enum E { kA, /** Off. */ kB };\n/** @param a One. */\nint grow(int a);\n")),
      read_header(test::file(folder, "after.h",
                             "typedef struct { /** Minutes. */ int a; float b; } Images;\n"
                             "/** @param count How few.\n @return 1: runs */\nint open_models(Images* i, int count);\n"
                             "enum E { kA, /** On. */ K_B };\n/** @param b Two.\n @param a One. */\n"
                             "int grow(int b, int a);\n")));
  CHECK(lines(changes) == Lines{"none reworded documentation Images.a:\n    - Seconds.\n    + Minutes.",
                                "none reworded documentation K_B:\n    - Off.\n    + On.",
                                "none reworded documentation open_models.count:\n    - How many.\n    + How few.",
                                "none reworded documentation open_models.return:\n    - 0: runs\n    + 1: runs"});
}

TEST_CASE("what has another name makes no other declaration of what uses it") {
  CHECK(lines(diff_of("typedef struct { int a; float b; } Image;\nint open_image(Image* i);\n"
                      "typedef struct { Image* top; int n; } Album;",
                      "typedef struct { int a; float b; } Images;\nint open_images(Images* i);\n"
                      "typedef struct { Images* top; int n; } Albums;")) ==
        Lines{"abi renamed function open_images: open_image -> open_images",
              "api renamed struct Albums: Album -> Albums", "api renamed struct Images: Image -> Images"});
}

TEST_CASE("what looks alike in the source and is not alike in memory breaks the ABI") {
  CHECK(lines(diff_of("typedef int id_t_; typedef struct { id_t_ a; } S;",
                      "typedef long id_t_; typedef struct { id_t_ a; } S;")) ==
        Lines{"abi changed struct S: alignment 4/4 -> alignment 8/4",
              "abi changed typedef id_t_: typedef int id_t_ -> typedef long id_t_",
              "abi resized field S.a: size 4/4 -> size 8/4", "abi resized struct S: size 4/4 -> size 8/4"});
  CHECK(breaks(diff_of("int f(int a);", "int f(unsigned a);")) == Breaks::kAbi);
  CHECK(breaks(diff_of("int f(int (*g)(int));", "int f(int (*g)(char*));")) == Breaks::kAbi);
  CHECK(breaks(diff_of("int f(int a);", "int f(int a, ...);")) == Breaks::kAbi);
  CHECK(breaks(diff_of("enum { kA = 1 };", "enum { kA = 2 };")) == Breaks::kAbi);
  CHECK(breaks(diff_of("typedef struct { int a, b; } S;", "typedef union { int a, b; } S;")) == Breaks::kAbi);
}

TEST_CASE("what is made of a struct or an enum without a name is compared with its members") {
  const std::string header =
      "enum { kLoose };\ntypedef struct { struct { int a; } rows[2]; struct { int b; }* next; enum { kA, kB } e; } S;\n"
      "typedef struct { int c; } * P;\nint f(P p);\n";
  CHECK(diff_of(header, header).empty());
  const auto changed = [&](const std::string& old, const std::string& now) {
    std::string text = header;
    text.replace(text.find(old), old.size(), now);
    return lines(diff_of(header, text));
  };
  CHECK(changed("int a;", "float a;") ==
        Lines{"abi changed field S.rows: struct { int a; } rows[2] -> struct { float a; } rows[2]"});
  CHECK(changed("int b;", "float b;") ==
        Lines{"abi changed field S.next: struct { int b; }* next -> struct { float b; }* next"});
  CHECK(changed("int c;", "float c;") ==
        Lines{"abi changed typedef P: typedef struct { int c; }* P -> typedef struct { float c; }* P"});
  CHECK(changed("enum { kLoose };", "enum { kOther };").size() == 2);  // and nothing of S.e
  CHECK(changed("kA, kB", "kB, kA").size() == 2);
  CHECK(changed("kA, kB", "kA, kB, kC") == Lines{"none added enumerator kC: 2"});
}

TEST_CASE("where the members of a struct without a name lie is compared, too") {
  CHECK(
      lines(diff_of(
          "typedef struct { struct { char a; char b; long long c; } rows[2]; } S;",
          "typedef struct { struct { char a; __attribute__((aligned(4))) char b; long long c; } rows[2]; } S;")) ==
      Lines{
          "abi changed field S.rows: struct { char a; char b; long long c; }[2], size 32/32, of struct { char a; char "
          "b; long long c; }, struct, size 16/16: { a @0/0 size 1/1, b @1/1 size 1/1, c @8/8 size 8/8 }, size "
          "16/16, align 8/8 -> struct { char a; char b; long long c; }[2], size 32/32, of struct { char a; char b; "
          "long long c; }, struct, size 16/16: { a @0/0 size 1/1, b @4/4 size 1/1, c @8/8 size 8/8 }, size 16/16, "
          "align 8/8"});
  CHECK(lines(diff_of("struct OldRows { struct { char a; char b; int z; } rows[2]; };",
                      "struct NewRows { struct { char a; __attribute__((aligned(2))) char b; int z; } rows[2]; };"))
            .size() == 2);
  CHECK(breaks(diff_of("typedef struct { struct { long a; }* e; } S;",
                       "typedef struct { struct { __INT64_TYPE__ a; }* e; } S;")) == Breaks::kAbi);
  CHECK(lines(diff_of("typedef struct { int b; struct { int a; } row; } S;",
                      "typedef struct { int b; struct Row { int a; } row; } S;")) ==
        Lines{"api changed field S.row: struct row -> Row row",
              "none added struct Row: struct Row { int a; }, size 4/4"});
  CHECK(lines(diff_of("typedef struct { int b; struct Row { int a; } row; } S;",
                      "typedef struct { int b; struct { float a; } row; } S;")) ==
        Lines{"abi changed field S.row.a: int a -> float a", "api changed field S.row: Row row -> struct row",
              "api removed struct Row: struct Row { int a; }, size 4/4"});
  // What was opaque, and has no name now.
  CHECK(breaks(diff_of("struct T; typedef struct T* P; int f(P p);", "typedef struct { int a; }* P; int f(P p);")) ==
        Breaks::kApi);
  // The order of a union's members means nothing.
  CHECK(breaks(diff_of("typedef struct { union { int a; float b; } p[3]; } S;",
                       "typedef struct { union { float b; int a; } p[3]; } S;")) == Breaks::kApi);
  // Not even an anonymous struct whose first member is one hides where its members lie.
  CHECK(lines(diff_of("struct S { char a; struct { struct { char b; }; }; long long z; };",
                      "struct S { char a; char q; struct { struct { char b; }; }; long long z; };"))
            .front() == "abi moved field S.b: @1/1 -> @2/2");
  // A tag changes nothing.
  CHECK(lines(diff_of("typedef struct { struct { int a; } rows[2]; } S;",
                      "typedef struct { struct Row { int a; } rows[2]; } S;")) ==
        Lines{"api changed field S.rows: struct { int a; } rows[2] -> Row rows[2]",
              "none added struct Row: struct Row { int a; }, size 4/4"});
}

TEST_CASE("a struct without a name is compared in parameters, returned pointers, callbacks and behind typedefs") {
  const auto changed = [](const std::string& text, const std::string& old, const std::string& now) {
    const auto folder = test::scratch("diff_unnamed");
    const auto of_c = [&](const std::string& name, const std::string& content) {
      return read_header(test::file(folder, name + ".h", content), {"--std=c11"});
    };
    std::string other = text;
    other.replace(other.find(old), old.size(), now);
    CHECK(diff(of_c("same", text), of_c("as_well", text)).empty());
    return lines(diff(of_c("before", text), of_c("after", other)));
  };
  CHECK(changed("struct { int a; }* f(void);", "int a", "float a") ==
        Lines{"abi changed function f: struct { int a; }* f(void) -> struct { float a; }* f(void)"});
  CHECK(
      changed("typedef int (*F)(struct { int a; }* it);", "int a", "float a") ==
      Lines{"abi changed callback F: typedef int (*F)(struct { int a; }* it) -> typedef int (*F)(struct { float a; }* "
            "it)"});
  CHECK(changed("typedef struct { int a; } Rows[2]; typedef struct { Rows rows; } S;", "int a", "float a") ==
        Lines{"abi changed typedef Rows: typedef struct { int a; } Rows[2] -> typedef struct { float a; } Rows[2]"});
  CHECK(changed("typedef struct { int a; }* P; typedef struct { long long b; }* Q; int f(P p);", "f(P p)", "f(Q p)") ==
        Lines{"abi changed function f: int f(P p) -> int f(Q p)"});
  // What has a name in it is told by itself.
  CHECK(changed("typedef struct { struct { struct In { int a; } in; } rows[2]; } S;", "int a", "float a") ==
        Lines{"abi changed field In.a: int a -> float a"});
}

TEST_CASE("a chain of pointers at structs without a name is read and compared in no time") {
  std::string text = "typedef struct { int a; }* P0;\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "P" + std::to_string(i - 1);
    text += "typedef struct { " + before + " a; " + before + " b; }* P" + std::to_string(i) + ";\n";
  }
  std::string other = text;
  other.replace(other.find("int a"), 5, "float a");
  CHECK(lines(diff_of(text, other)) ==
        Lines{"abi changed typedef P0: typedef struct { int a; }* P0 -> typedef struct { float a; }* P0"});
}

TEST_CASE("structs of which only one header names some are compared to their end") {
  // Named and unnamed ones by turns, which lead back to themselves.
  CHECK_NOTHROW(diff_of("struct Q; typedef struct { struct Q* q; }* P; struct Q { P q; }; int f(struct Q* x);",
                        "struct R; typedef struct { struct R* q; }* S; struct R { S q; }; int f(S x);"));
  std::string unnamed = "typedef struct { int a; }* P0;\n";
  std::string named = "struct N0 { int a; };\n";
  for (int i = 1; i < 40; ++i) {
    const std::string number = std::to_string(i);
    const std::string before = std::to_string(i - 1);
    unnamed += "typedef struct { P" + before + " a; P" + before + " b; }* P" + number + ";\n";
    named += "struct N" + number + " { struct N" + before + "* a; struct N" + before + "* b; };\n";
  }
  CHECK(lines(diff_of(unnamed + "int f(P39 p);", named + "int f(struct N39* p);")).front() ==
        "api changed function f: int f(P39 p) -> int f(N39* p)");
}

TEST_CASE("in C a tag and a typedef may have one name for two things") {
  const auto folder = test::scratch("diff_tags");
  const std::string header = "typedef struct A B; typedef struct B A; int f(struct A* a); int g(A* a); int h(B* b);\n";
  const auto of_c = [&](const std::string& name) {
    return read_header(test::file(folder, name, header), {"--std=c11"});
  };
  CHECK(diff(of_c("old.h"), of_c("new.h")).empty());
}

TEST_CASE("what a parameter that is an array consists of is compared, whatever its typedef") {
  const std::string types = "typedef struct { int x; } K[2]; typedef struct { float x; } L[2];\n";
  CHECK(breaks(diff_of(types + "int f(K k);", types + "int f(L k);")) == Breaks::kAbi);
  CHECK(breaks(diff_of(types + "typedef int (*f)(K k);", types + "typedef int (*f)(L k);")) == Breaks::kAbi);
  CHECK(breaks(diff_of("typedef struct { int x; } K[2]; int f(K k);", "struct M { int x; }; int f(struct M* k);")) ==
        Breaks::kApi);
}

TEST_CASE("a change of a type is told where two texts of it differ, and once") {
  CHECK(lines(diff_of("typedef int K; int g(K* k);", "typedef struct { int a; } K; int g(K* k);")).front() ==
        "abi changed function g: k: K*, pointer, size 8/4, of K, signed integer, size 4/4 -> k: K*, pointer, size 8/4, "
        "of K, struct, size 4/4");
  CHECK(lines(diff_of("typedef int (*cb)(int); typedef cb dd;", "typedef float (*cb)(int); typedef cb dd;")).size() ==
        1);
  CHECK(lines(diff_of("typedef int T; typedef int U; typedef T (*F)(T);",
                      "typedef int T; typedef int U; typedef U (*F)(U);")) ==
        Lines{"api changed callback F: typedef T (*F)(T) -> typedef U (*F)(U)"});
}

TEST_CASE("a struct in place that is another thing now breaks the ABI, one that has a tag now does not") {
  CHECK(breaks(diff_of("struct S { struct { int a; } x; };", "struct S { union { int a; } x; };")) == Breaks::kAbi);
  CHECK(breaks(diff_of("struct S { struct { int z; struct { int a; } u; } rows[2]; };",
                       "struct S { struct { int z; struct I { int a; } u; } rows[2]; };")) == Breaks::kApi);
  CHECK(breaks(diff_of("struct S { int z; struct { int a; } u; }; int f(struct S*);",
                       "struct T { int z; struct I { int a; } u; }; int f(struct T*);")) == Breaks::kApi);
  CHECK(breaks(diff_of("struct S { int a; struct { int b; int c; } x; };",
                       "typedef struct { int b; int c; } X; typedef const X Y; struct S { int a; Y x; };")) ==
        Breaks::kApi);
}

TEST_CASE("a tag is found behind comments, attributes and macros") {
  for (const std::string before :
       {"struct /* a point */ Node", "struct __attribute((aligned(8))) Node", "OF_KIND(Node)"}) {
    INFO(before);
    const std::string macro = "#define OF_KIND(name) struct __attribute((aligned(8))) name\n";
    const std::string rest = " { struct Node* next; int a; };\nint f(struct Node* n);\n";
    std::string other = rest;
    other.replace(other.find("int a"), 5, "float a");
    CHECK(lines(diff_of(macro + before + rest, macro + before + other)) ==
          Lines{"abi changed field Node.a: int a -> float a"});
  }
}

TEST_CASE("variables of structs without a name are compared with their members") {
  const auto folder = test::scratch("diff_variables");
  const auto of_c = [&](const std::string& name, const std::string& text) {
    return read_header(test::file(folder, name + ".h", text), {"--std=c11"});
  };
  const std::string text = "extern struct { int a; } one;\nextern struct { int b; } rows[3];\n";
  CHECK(diff(of_c("same", text), of_c("as_well", text)).empty());
  const auto changes =
      diff(of_c("old", text), of_c("new", "extern struct { float a; } one;\nextern struct { int c; } rows[3];\n"));
  CHECK(lines(changes) == Lines{"abi changed variable one: struct { int a; } one -> struct { float a; } one",
                                "abi changed variable rows: struct { int b; } rows[3] -> struct { int c; } rows[3]"});
}

TEST_CASE("an enum that had enumerators has gone, whatever there is without any") {
  CHECK(lines(diff_of("enum A { A_X, A_Y };\n", "enum B {};\n")).front() ==
        "api removed enum A: enum A { A_X = 0, A_Y = 1 }, size 4/4");
}

TEST_CASE("a bit-field that becomes wider or moves inside its byte is told") {
  CHECK(lines(diff_of("typedef struct { unsigned a : 3; unsigned b : 5; } S;",
                      "typedef struct { unsigned a : 4; unsigned b : 4; } S;")) ==
        Lines{"abi changed field S.a: unsigned int a : 3 -> unsigned int a : 4",
              "abi changed field S.b: unsigned int b : 5 -> unsigned int b : 4",
              "abi moved field S.b: @0/0 bit 3 -> @0/0 bit 4"});
}

TEST_CASE("structs that point at each other are compared to their end") {
  const std::string text = "struct Node { struct Node* next; int v; }; int f(struct Node* n);";
  std::string renamed = text;
  for (auto at = renamed.find("Node"); at != std::string::npos; at = renamed.find("Node", at)) {
    renamed.replace(at, 4, "Link");
  }
  CHECK(breaks(diff_of(text, renamed)) == Breaks::kApi);
}

TEST_CASE("a comparison is told as text, as a page and as data") {
  const std::string folder = std::string(REPOSITORY) + "/tests/generator/data/diff";
  const auto changes = diff(read_header(folder + "/before.h"), read_header(folder + "/after.h"));
  test::compare_with_golden(folder + "/expected.txt", diff_as_text(changes, "before.h", "after.h"));
  test::compare_with_golden(folder + "/expected.md", diff_as_markdown(changes, "before.h", "after.h"));
  test::compare_with_golden(folder + "/expected.json", diff_as_json(changes, "before.h", "after.h"));
}

TEST_CASE("what Markdown reads as its own is shown as it is, in tables and in titles") {
  const auto row = [](const std::string& macro) {
    const std::string text = diff_as_markdown(diff_of("", "#define X " + macro + "\n"), "a", "b");
    return text.substr(text.rfind("| added"));
  };
  CHECK(row("\"a`b\"") == "| added | macro | `X` |  | ``\"a`b\"`` |\n");
  CHECK(row("\"```\"") == "| added | macro | `X` |  | ````\"```\"```` |\n");
  CHECK(row("\"a`|``b\"") == "| added | macro | `X` |  | ```\"a`\\|``b\"``` |\n");
  // A backtick at an end of the text is no part of the fence.
  const std::vector<Change> reworded = {
      {ChangeKind::kReworded, Breaks::kNone, "documentation", "f", Side{"`a` | b"}, Side{" c\nd"}, {}}};
  CHECK_THAT(diff_as_markdown(reworded, "__a__.h", "`b`.h"),
             has_text("| reworded | documentation | `f` | `` `a` \\| b `` | `  c d ` |\n") &&
                 has_text("# `__a__.h` → `` `b`.h ``\n"));
}

TEST_CASE("no difference is said to be none") {
  CHECK(diff_as_text({}, "a.h", "b.h") == "a.h -> b.h\n\nNo difference.\n");
}

TEST_CASE("a signature of the same text breaks the ABI if a name in it means another type now") {
  const auto breaks_of = [](const std::string& before, const std::string& after) {
    const std::string f = "int f(T t);\n";
    return word(breaks(diff_of(before + f, after + f)));
  };
  CHECK(breaks_of("typedef int T;\n", "typedef struct { int a[40]; } T;\n") == "abi");
  CHECK(breaks_of("typedef enum { kA } T;\n", "enum { kA };\ntypedef long long T;\n") == "abi");
  CHECK(breaks_of("typedef int T;\n", "typedef int Other;\ntypedef Other T;\n") == "api");
  const auto folder = test::scratch("diff_included");
  const auto included = [&](const std::string& name, const std::string& type) {
    test::file(folder, name + "_types.h", type);
    return read_header(
        test::file(folder, name + ".h", "#include \"" + name + "_types.h\"\nint f(T t);\nint g(T* t);\n"));
  };
  const auto changes =
      diff(included("before", "typedef int T;"), included("after", "typedef struct { int a[40]; } T;"));
  CHECK(lines(changes).front() ==
        "abi changed function f: t: T, signed integer, size 4/4 -> t: T, struct, size 160/160");
  const auto grown =
      diff(included("small", "typedef struct { int a; } T;"), included("big", "typedef struct { int a, b; } T;"));
  CHECK(word(breaks(grown)) == "abi");
}

TEST_CASE("an enumerator that moves to another enum with its value changes the source only") {
  CHECK(lines(diff_of("enum A { kA, kB };\nenum B { kC };\n", "enum A { kA };\nenum B { kB = 1, kC = 0 };\n")) ==
        Lines{"api changed enumerator B.kB: A.kB -> B.kB"});
}
