// The model of each header, in full. That another libclang reads the same is proven by running this with it.
#include "golden.hpp"
#include "support/catch.hpp"
#include "temporary.hpp"

#include "compare/dump.hpp"
#include "read/header.hpp"

using namespace bindgen;

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
