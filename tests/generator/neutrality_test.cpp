#include "support/catch.hpp"
#include "temporary.hpp"

TEST_CASE("the generator knows no particular function or type: everything about the API is data") {
  namespace fs = std::filesystem;
  std::size_t sources = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(REPOSITORY) / "generator")) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".cpp" && extension != ".hpp" && extension != ".in") continue;
    ++sources;
    INFO(entry.path().filename());
    const std::string text = bindgen::read_text(entry.path());
    CHECK(text.find("rkllm_") == std::string::npos);
    CHECK(text.find("RKLLM") == std::string::npos);
  }
  CHECK(sources > 40);
}

TEST_CASE("libclang is included in one place") {
  namespace fs = std::filesystem;
  for (const auto& entry : fs::directory_iterator(fs::path(REPOSITORY) / "generator")) {
    if (!entry.is_regular_file() || entry.path().filename() == "clang.hpp") continue;
    INFO(entry.path().filename());
    CHECK(bindgen::read_text(entry.path()).find("#include <clang-c/") == std::string::npos);
  }
}
