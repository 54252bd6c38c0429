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
