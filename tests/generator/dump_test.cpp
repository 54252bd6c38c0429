// The model of each header, in full. That another libclang reads the same is proven by running this with it.
#include "golden.hpp"
#include "support/catch.hpp"
#include "temporary.hpp"

#include "bindgen_json.hpp"
#include "compare/dump.hpp"
#include "read/header.hpp"

using namespace bindgen;
using rkllm_mcp::test::has_text;

TEST_CASE("the model of each version's header is what its golden says") {
  for (const std::string version : test::kVersions) {
    INFO(version);
    const std::string golden = std::string(REPOSITORY) + "/tests/generator/data/models/" + version + ".json";
    test::compare_with_golden(golden, dump_json(read_header(test::header_of(version))));
  }
}

TEST_CASE("the model of a header with every idiom is what its goldens say, as JSON and as a tree") {
  const std::string folder = std::string(REPOSITORY) + "/tests/generator/data/models/";
  c::Header header = read_header(folder + "idioms.h");
  header.path = "idioms.h";
  test::compare_with_golden(folder + "idioms.json", dump_json(header));
  test::compare_with_golden(folder + "idioms.tree", dump_tree(header));
}

TEST_CASE("what is const is said to be so once, also of a type that has no name of C") {
  const auto folder = test::scratch("dump_const");
  const std::string header = "int f(const long double* a, const volatile long double* b);\n";
  CHECK(dump_tree(read_header(test::file(folder, "x.h", header)))
            .find("f(const long double* a, const volatile long double* b)") != std::string::npos);
}

TEST_CASE("the name by which a library exports something is shown where __asm__ gives it another") {
  const auto folder = test::scratch("dump_symbol");
  const c::Header header = read_header(test::file(folder, "x.h",
                                                  "int f(int a) __asm__(\"f64\");\nint g(int a);\n"
                                                  "extern int v __asm__(\"v2\");\nextern int w;\n"));
  CHECK_THAT(dump_tree(header), has_text("\nint f(int a), symbol f64\nint g(int a)\n"
                                         "variable int v, size 4/4, symbol v2\nvariable int w, size 4/4\n"));
  const Json symbols = Json::parse(dump_json(header))["symbols"];
  CHECK(symbols[0]["symbol"] == "f64");
  CHECK_FALSE(symbols[1].contains("symbol"));
  CHECK(symbols[2]["symbol"] == "v2");
  CHECK_FALSE(symbols[3].contains("symbol"));
}
