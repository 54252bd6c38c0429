// What a worker is told by its command line arrives as it was said, and nothing else is taken for it.
#include "worker/worker_main.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

using namespace rkllm_mcp;

namespace {

// As the program sees it: the command is not among its arguments.
WorkerOptions told(const WorkerOptions& options) {
  std::vector<std::string> arguments = to_arguments(options);
  REQUIRE(arguments.size() == 2);
  REQUIRE(arguments.front() == "work");
  return worker_options_from({arguments.back()});
}

constexpr const char* kUsableOptions =
    R"({"library":"l","version":"v","abi":"a","model_dirs":[],"cache_dir":"","cache_bytes":1})";

}  // namespace

TEST_CASE("a worker is told what the server has said, whatever is in it") {
  const auto text = GENERATE(as<std::string>(), "", "/usr/lib/librkllmrt.so", "a \"b\" \\ c\n\t", "--set=x",
                             "/m\xC3\xB6", "{\"library\":\"other\"}");
  const auto bytes =
      GENERATE(std::uint64_t{0}, (std::uint64_t{1} << 53U) + 1, std::numeric_limits<std::uint64_t>::max());
  const WorkerOptions options{text + "1", text + "2", text + "3", {{text + "4", text, text + "5"}, text + "6", bytes}};
  const WorkerOptions heard = told(options);
  CHECK(heard.library == options.library);
  CHECK(heard.version == options.version);
  CHECK(heard.abi == options.abi);
  CHECK(heard.files.models == options.files.models);
  CHECK(heard.files.cache == options.files.cache);
  CHECK(heard.files.cache_bytes == bytes);
}

TEST_CASE("a worker that is told of no model directories has none") {
  const WorkerOptions heard = told({"l", "v", "a", {}});
  CHECK(heard.files.models.empty());
  CHECK(heard.files.cache.empty());
  CHECK(heard.files.cache_bytes == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("who starts a worker by hand is told that it is not for people") {
  const auto arguments = GENERATE(values<std::vector<std::string>>(
      {{}, {""}, {"--help"}, {"[]"}, {"null"}, {"\"work\""}, {"{\"library\":"}, {kUsableOptions, kUsableOptions}}));
  CHECK_THROWS_AS(worker_options_from(arguments), std::invalid_argument);
  CHECK_THROWS_WITH(worker_options_from(arguments), "work is for the server itself, which tells it what to do");
}

TEST_CASE("an option of a worker that is missing, or is not what it should be, is refused") {
  REQUIRE_NOTHROW(worker_options_from({kUsableOptions}));
  const auto options = GENERATE(
      as<std::string>(), R"({})", R"({"version":"v","abi":"a","model_dirs":[],"cache_dir":"","cache_bytes":1})",
      R"({"library":"l","abi":"a","model_dirs":[],"cache_dir":"","cache_bytes":1})",
      R"({"library":"l","version":"v","model_dirs":[],"cache_dir":"","cache_bytes":1})",
      R"({"library":"l","version":"v","abi":"a","cache_dir":"","cache_bytes":1})",
      R"({"library":"l","version":"v","abi":"a","model_dirs":[],"cache_bytes":1})",
      R"({"library":"l","version":"v","abi":"a","model_dirs":[],"cache_dir":""})",
      R"({"library":1,"version":"v","abi":"a","model_dirs":[],"cache_dir":"","cache_bytes":1})",
      R"({"library":"l","version":null,"abi":"a","model_dirs":[],"cache_dir":"","cache_bytes":1})",
      R"({"library":"l","version":"v","abi":["a"],"model_dirs":[],"cache_dir":"","cache_bytes":1})",
      R"({"library":"l","version":"v","abi":"a","model_dirs":"/models","cache_dir":"","cache_bytes":1})",
      R"({"library":"l","version":"v","abi":"a","model_dirs":[1],"cache_dir":"","cache_bytes":1})",
      R"({"library":"l","version":"v","abi":"a","model_dirs":[],"cache_dir":{},"cache_bytes":1})",
      R"({"library":"l","version":"v","abi":"a","model_dirs":[],"cache_dir":"","cache_bytes":"1"})");
  CAPTURE(options);
  CHECK_THROWS_AS(worker_options_from({options}), std::invalid_argument);
}
