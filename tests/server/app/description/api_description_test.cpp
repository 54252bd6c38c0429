#include "app/description/api_description.hpp"

#include "library/loaded_library.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

#include <rkllm_mcp/errors.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

const mcp::Resource& resource_at(const mcp::Catalogue& catalogue, const std::string& uri) {
  for (const mcp::Resource& each : catalogue.resources) {
    if (each.uri == uri) return each;
  }
  throw std::runtime_error("no resource " + uri);
}

mcp::Catalogue described(const Runtime& runtime, const Settings& settings) {
  return describe_server(runtime, settings, [] { return Json::object(); });
}

// A runtime of the simulator, of which no worker has been started.
struct SimulatedHost {
  static Settings settings_of_simulator() {
    Settings settings;
    settings.runtime.library = kSimulator;
    return settings;
  }

  asio::io_context loop;
  Settings settings = settings_of_simulator();
  spdlog::logger log{"test"};
  Counts counts;
  Runtime host{loop, settings, log, counts};
};

}  // namespace

TEST_CASE("without a library clients still see the newest API, and why nothing can be called") {
  const Runtime none(runtime_unavailable("it was eaten"));
  const Settings settings;
  const AbiSet& newest = *abi_sets().back();
  const Api api = describe_api(none);
  CHECK(api.methods.data() == newest.methods.data());
  CHECK(api.methods.size() == newest.methods.size());
  CHECK(api.api_version == newest.version);
  const mcp::Catalogue catalogue = described(none, settings);
  CHECK(catalogue.title == "RKLLM runtime");
  CHECK(resource_at(catalogue, "rkllm://api").title == "RKLLM API " + std::string(newest.version));
  const Json status = Json::parse(resource_at(catalogue, "rkllm://runtime").read().text);
  CHECK(status["path"].is_null());
  CHECK_THAT(status["reason"].get<std::string>(), has_text("it was eaten"));
  CHECK(status["board"].contains("npu_driver"));
}

TEST_CASE("a simulated runtime is called simulated in all that clients and models read of it") {
  const SimulatedHost with;
  REQUIRE(with.host.simulated());
  CHECK(describe_api(with.host).api_version == "1.3.0");
  const mcp::Catalogue catalogue = described(with.host, with.settings);
  CHECK(catalogue.title == "RKLLM runtime (SIMULATED)");
  CHECK_THAT(catalogue.instructions, has_text("SIMULATED runtime: its answers are made up."));
  CHECK(Json::parse(resource_at(catalogue, "rkllm://runtime").read().text)["simulated"] == true);
  const Runtime none(runtime_unavailable("no library"));
  CHECK(described(none, with.settings).instructions.find("SIMULATED") == std::string::npos);
}

TEST_CASE("a model is told how to call functions only where they are in the list of tools") {
  const Runtime none(runtime_unavailable("no library"));
  Settings settings;
  settings.mcp.tools = {"chat", "api"};
  const mcp::Catalogue with_functions = described(none, settings);
  CHECK_THAT(with_functions.instructions, has_text("Call rkllm_init with "));
  CHECK(with_functions.prompt("use_tools") != nullptr);
  for (const std::vector<std::string>& sets : {std::vector<std::string>{"chat"}, std::vector<std::string>{}}) {
    settings.mcp.tools = sets;
    const mcp::Catalogue without = described(none, settings);
    CHECK(without.instructions.find("rkllm_init") == std::string::npos);
    CHECK_THAT(without.instructions, has_text("rkllm://api documents them."));
    CHECK(without.prompt("use_tools") == nullptr);
    CHECK(without.prompt("chat") != nullptr);
  }
}

TEST_CASE("a server goes by the name of the settings, offers tasks, and leaves the tools to others") {
  const Runtime none(runtime_unavailable("no library"));
  Settings settings;
  settings.server.name = "kitchen";
  const mcp::Catalogue catalogue = described(none, settings);
  CHECK(catalogue.name == "kitchen");
  CHECK_FALSE(catalogue.version.empty());
  CHECK(catalogue.offers_tasks);
  CHECK(catalogue.is_server);
  CHECK(catalogue.tools.empty());
}

TEST_CASE("every document of a server has an address of its own, a type, and can be read") {
  const Runtime none(runtime_unavailable("no library"));
  const Settings settings;
  const mcp::Catalogue catalogue = described(none, settings);
  std::set<std::string> addresses;
  for (const mcp::Resource& each : catalogue.resources) {
    CHECK(addresses.insert(each.uri).second);
    CHECK(each.mime_type == "application/json");
    CHECK_FALSE(each.title.empty());
    const mcp::ResourceText text = each.read();
    CHECK(Json::accept(text.text));
    CHECK((!each.size || *each.size == text.text.size()));
  }
  for (const mcp::ResourceTemplate& each : catalogue.templates) CHECK(addresses.insert(each.uri_template).second);
  for (const char* const uri : {"rkllm://api", "rkllm://runtime", "rkllm://settings", "rkllm://handles"}) {
    CHECK(addresses.count(uri) == 1);
  }
}

TEST_CASE("the document of the settings is what is in force when it is read, and as it was reported") {
  const Runtime none(runtime_unavailable("no library"));
  const Settings settings;
  Json report{{"server.name", "one"}};
  const mcp::Catalogue catalogue = describe_server(none, settings, [&report] { return report; });
  const std::string uri = "rkllm://settings";  // by itself: GCC 13 and later fear for what is found by a temporary
  const mcp::Resource& document = resource_at(catalogue, uri);
  CHECK(document.read().text == R"({"server.name":"one"})");
  report = Json{{"server.name", "other"}};
  CHECK(document.read().text == R"({"server.name":"other"})");
}

TEST_CASE("models are completed from the presets and the folders as they are when somebody types") {
  const TemporaryDirectory directory;
  const Runtime none(runtime_unavailable("no library"));
  Settings settings;
  settings.models = Json{{"small", {{"param", {{"model_path", "/models/s.rkllm"}}}}}};
  settings.runtime.model_dirs = {directory.path()};
  const mcp::Catalogue catalogue = described(none, settings);
  const auto completed = [&catalogue] {
    return (*catalogue.prompt("set_up_model"))->arguments.at(0).complete("", Json::object());
  };
  using ModelNames = std::vector<std::string>;
  CHECK(completed() == ModelNames{"/models/s.rkllm", "small"});
  write_file(directory / "new.rkllm", "x");
  const auto with_file = completed();
  CHECK(with_file.size() == 3);
  CHECK(std::set<std::string>(with_file.begin(), with_file.end()).count(directory / "new.rkllm") == 1);
  settings.runtime.model_dirs = {directory / "not there"};
  CHECK(completed() == ModelNames{"/models/s.rkllm", "small"});
}
