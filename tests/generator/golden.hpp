// Comparison with a text in the repository. BINDGEN_BLESS=1 in the environment writes it anew instead.
#pragma once

#include "support/catch.hpp"

#include "files.hpp"
#include "output.hpp"
#include "temporary.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

namespace bindgen::test {

inline void compare_with_golden(const std::filesystem::path& golden, const std::string& text) {
  if (std::getenv("BINDGEN_BLESS") != nullptr) test::write_text(golden, text);
  INFO(golden.string() << " (BINDGEN_BLESS=1 writes it anew)\n" << line_diff(read_text(golden), text));
  CHECK((read_text(golden) == text));
}

}  // namespace bindgen::test
