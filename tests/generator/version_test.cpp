#include "support/catch.hpp"

#include "version.hpp"

#include <string_view>
#include <vector>

using bindgen::compare_versions;

TEST_CASE("versions are in order, a beta before its release") {
  const std::vector<std::string_view> in_order{"1.0.0b",  "1.0.0", "1.0.1",  "1.1.4", "1.2.0", "1.2.1b1",
                                               "1.2.1b2", "1.2.1", "1.2.10", "1.3.0", "2"};
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
