#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_defaults_in_place {

using namespace bindgen::test;

namespace {

Settings last{};

Settings present() {
  Settings settings{};
  settings.depth = 40;
  settings.draft.length = 50;
  return settings;
}

int keep(const Settings* settings) {
  last = *settings;
  return 0;
}

}  // namespace

TEST_CASE("defaults reach structs that are declared in place, unless another function gives the values") {
  GoldenCaller caller(kAbiSet, {{"settings", symbol(&present)}, {"change", symbol(&keep)}, {"begin", symbol(&keep)}});
  caller.call("begin");
  CHECK(last.depth == 2);
  CHECK(last.n_cpus == 4);
  CHECK(last.draft.length == 7);
  CHECK_FALSE(last.draft.keep);
  caller.call("change", {{"settings", {{"cpus", 5}}}});
  CHECK(last.depth == 40);
  CHECK(last.draft.length == 50);
  CHECK(last.draft.keep);
  CHECK(last.cpus == 5);
  CHECK(last.n_cpus == 2);
  CHECK(caller.call("settings")["depth"] == 40);
}

}  // namespace rkllm_mcp::v1_defaults_in_place
