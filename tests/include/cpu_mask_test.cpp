#include "support/catch.hpp"

#include <rkllm_mcp/cpu_mask.hpp>

using namespace rkllm_mcp;

TEST_CASE("the last CPUs are taken, and always as many as asked for") {
  CHECK(last_cpus(4, 8) == 0xf0);
  CHECK(last_cpus(2, 8) == 0xc0);
  CHECK(last_cpus(4, 4) == 0x0f);
  CHECK(last_cpus(4, 6) == 0x3c);
  CHECK(last_cpus(4, 2) == 0x0f);   // more than there are: the count and the mask must agree
  CHECK(last_cpus(1, 64) == 0x80);  // CPU 63 has no name
  CHECK(last_cpus(4, 12) == 0xf0);
}

TEST_CASE("a mask that the runtime has set is left alone, one that it has not is filled in") {
  std::uint32_t mask = 0xdeadbeef;
  fill_undefined_cpu_mask(mask, std::int8_t{4}, 8);
  CHECK(mask == 0xdeadbeef);
  fill_undefined_cpu_mask(mask, std::int8_t{4}, 4);
  CHECK(mask == 0xdeadbeef);
  fill_undefined_cpu_mask(mask, std::int8_t{4}, 6);
  CHECK(mask == 0x3c);
}
