#include "support/catch.hpp"

#include "overlay/overlay.hpp"

#include <string_view>
#include <vector>

using bindgen::compare_versions;
using bindgen::is_version;

TEST_CASE("versions are in order, a beta before its release") {
  const std::vector<std::string_view> in_order{"1.0.0b",  "1.0.0",    "1.0.1", "1.1.4",  "1.2.0", "1.2.1b1",
                                               "1.2.1b2", "1.2.1b10", "1.2.1", "1.2.10", "1.3.0", "2"};
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    for (std::size_t j = 0; j < in_order.size(); ++j) {
      INFO(in_order[i] << " and " << in_order[j]);
      const int order = compare_versions(in_order[i], in_order[j]);
      CHECK((order < 0) == (i < j));
      CHECK((order > 0) == (i > j));
    }
  }
  CHECK(compare_versions("2", "2.0.0") == 0);
}

TEST_CASE("a version is what can be in a C++ name and in a path") {
  for (const char* version : {"1", "1.4.0", "1.2.1b1", "2.0-rc1"}) CHECK(is_version(version));
  for (const char* other : {"", "v1", "1.4+beta", "1/4", "1 4", ".1"}) CHECK_FALSE(is_version(other));
}
