// Of a large header only some functions become methods: what is generated then, and what is still asked.
#include "support/catch.hpp"
#include "temporary.hpp"

#include "diagnostics.hpp"
#include "generate.hpp"
#include "meaning/understand.hpp"
#include "read/header.hpp"

#include <string>

using namespace bindgen;
using rkllm_mcp::test::has_text;

namespace {

const std::string kHeader = R"(
#define LIMIT 3
typedef struct inner { int a; } inner;
typedef struct { inner* first; } outer;
typedef struct { char* never; } other;
typedef int (*callback_t)(other* it);
outer* make(const char* const name);
char* print(outer* it);
void release(void* text);
int watch(outer* it, callback_t callback);
void* strange(other* it);
)";

const std::string kEntries = R"(
    {"for":"outer.first","quote":"inner* first","unused":{}},
    {"for":"make.name","quote":"const char* const name","text":{}},
    {"for":"make.return","quote":"outer*","handle":{"role":"creates"}},
    {"for":"print.it","quote":"outer* it","handle":{"role":"uses"}},)";

std::string overlay(const std::string& methods, const std::string& entries) {
  const std::string text = R"({"output":{"namespace":"made_up","include":"made_up"},"methods":[)" + methods +
                           R"(],"entries":[)" + entries + "]}\n";
  return test::file(test::scratch("needed_overlay"), "o.json", text);
}

// The generated file of this name; or what is said instead.
std::string generated(const std::string& name, const std::string& methods, const std::string& entries) {
  const std::string header = test::file(test::scratch("needed"), "x.h", kHeader);
  try {
    for (const File& file : generate({{header, "1"}}, overlay(methods, entries))) {
      if (file.path == "made_up/v1/" + name + ".hpp" || file.path == name) return file.text;
    }
  } catch (const Refusal& refused) {
    return refused.what();
  }
  return "no such file";
}

const std::string kPrints = kEntries + R"(
    {"for":"print.return","quote":"char*","text":{"freed_by":"release"}},
    {"for":"release.text","quote":"void* text","unused":{}})";

}  // namespace

TEST_CASE("only the named functions become methods, with the types that they reach") {
  const std::string abi = generated("abi", R"("make","print")", kPrints);
  for (const char* kept : {"struct inner {", "struct outer {", "(*make)(", "(*print)(", "(*release)("}) {
    CHECK_THAT(abi, has_text(kept));
  }
  for (const char* dropped : {"struct other", "callback_t", "watch", "strange"}) CHECK_THAT(abi, !has_text(dropped));
  CHECK_THAT(generated("constants", R"("make","print")", kPrints), has_text("LIMIT"));
}

TEST_CASE("nothing is asked about the functions that are left out") {
  const Overlay some = read_overlay(overlay(R"("make","print")", kPrints));
  const std::string header = test::file(test::scratch("needed_asked"), "x.h", kHeader);
  CHECK(needs_of(read_header(header), some).unanswered.empty());
  Overlay all = some;
  all.methods.clear();
  CHECK(needs_of(read_header(header), all).unanswered.size() == 5);
}

TEST_CASE("a method that the header does not declare is refused") {
  CHECK_THAT(generated("abi", R"("make","print","mack")", kPrints),
             has_text("its \"methods\" name mack, which the header does not declare"));
}

TEST_CASE("a returned handle is adopted, whatever it was made from") {
  const std::string methods = generated("methods", R"("make","print")", kPrints);
  CHECK_THAT(methods, has_text("const char* name = nullptr;"));
  CHECK_THAT(methods, has_text(R"(adopt_handle(call, "make", functions.make(name), "handle", reply);)"));
  CHECK_THAT(methods, has_text(".handle = HandleRole::kCreates,"));
  CHECK_THAT(generated("schemas", R"("make","print")", kPrints), has_text(R"("handle":{"type":"string")"));
}

TEST_CASE("a returned text is copied and then freed, by a function that is no method") {
  const std::string methods = generated("methods", R"("make","print")", kPrints);
  CHECK_THAT(methods, has_text("const AtEnd free_value([&] { if (value != nullptr) functions.release(value); });\n"
                               "  encoder.text(\"value\", value);\n"));
  CHECK_THAT(methods, !has_text("kMethod_release"));
  CHECK_THAT(generated("schemas", R"("make","print")", kPrints), !has_text("release"));
}

TEST_CASE("a text must be freed by a function of the header that takes just the text") {
  const std::string entries = kEntries + R"({"for":"print.return","quote":"char*","text":{"freed_by":"nothing"}})";
  CHECK_THAT(generated("methods", R"("make","print")", entries),
             has_text("print: nothing is no function that takes just the text [referred-functions-exist]"));
}

TEST_CASE("a result whose meaning cannot be told is refused, not dropped") {
  const std::string entries = kEntries + R"({"for":"print.return","quote":"char*","object":{}})";
  CHECK_THAT(generated("methods", R"("make","print")", entries), has_text("[returns-can-be-told]"));
}
