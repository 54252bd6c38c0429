#include "support/catch.hpp"
#include "temporary.hpp"

TEST_CASE("the generator knows no particular function or type: everything about the API is data") {
  namespace fs = std::filesystem;
  std::size_t sources = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(REPOSITORY) / "generator")) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".cpp" && extension != ".hpp" && extension != ".in") continue;
    ++sources;
    INFO(entry.path().filename());
    const std::string text = bindgen::read_text(entry.path());
    CHECK(text.find("rkllm_") == std::string::npos);
    CHECK(text.find("RKLLM") == std::string::npos);
  }
  CHECK(sources > 100);
}

TEST_CASE("libclang is included in one place") {
  namespace fs = std::filesystem;
  std::size_t places = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(REPOSITORY) / "generator")) {
    if (!entry.is_regular_file()) continue;
    const bool includes_it = bindgen::read_text(entry.path()).find("#include <clang-c/") != std::string::npos;
    INFO(entry.path());
    CHECK(includes_it == (entry.path().filename() == "clang.hpp"));
    places += includes_it ? 1 : 0;
  }
  CHECK(places == 1);
}
