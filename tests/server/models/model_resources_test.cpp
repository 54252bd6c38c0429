#include "models/model_resources.hpp"

#include "model_bench.hpp"
#include "simulation/sim_bench.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

// What clients read of models, which changes with them.
struct ResourceBench {
  ResourceBench() {
    add_model_resources(catalogue, bench.models, [this] { return is_simulated; });
    REQUIRE(catalogue.resources.size() == 1);
  }
  Json read() const { return Json::parse(catalogue.resources.front().read().text); }

  ModelBench<simulation::SimBench> bench{presets({"a", "b"})};
  bool is_simulated = true;
  mcp::Catalogue catalogue;
};

}  // namespace

TEST_CASE("the models by name are one resource of JSON, for whoever may call") {
  const ResourceBench bench;
  const mcp::Resource& resource = bench.catalogue.resources.front();
  CHECK(resource.uri == "rkllm://models");
  CHECK(resource.mime_type == "application/json");
  CHECK(resource.permission == Permission::kCall);
  CHECK_FALSE(resource.size);  // it changes
  CHECK_FALSE(resource.read().binary);
  CHECK_FALSE(resource.name.empty());
  CHECK_FALSE(resource.description.empty());
}

TEST_CASE("who reads the models is told of all of them, as they are now") {
  ResourceBench bench;
  const Json before = bench.read();
  std::vector<std::string> names;
  for (const Json& model : before["models"]) {
    names.push_back(model["name"]);
    CHECK(model["loaded"] == false);
    CHECK(model["handle"].is_null());
  }
  CHECK(names == std::vector<std::string>{"a", "b"});
  const auto asking = bench.bench.ask("b");
  REQUIRE(bench.bench.granted(asking));
  const Json after = bench.read();
  CHECK(after["models"][0] == before["models"][0]);
  CHECK(after["models"][1]["loaded"] == true);
  CHECK(after["models"][1]["path"] == "/models/b.rkllm");
  CHECK(after["models"][1]["handle"] == bench.bench.models.handle_of("b"));
}

TEST_CASE("whether the runtime is the simulator is asked each time") {
  ResourceBench bench;
  CHECK(bench.read()["simulated"] == true);
  bench.is_simulated = false;
  CHECK(bench.read()["simulated"] == false);
}

}  // namespace rkllm_mcp::test
