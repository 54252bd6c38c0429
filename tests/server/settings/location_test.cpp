#include "settings/location.hpp"

#include "settings/load.hpp"
#include "settings/table.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"

#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <system_error>
#include <thread>
#include <vector>

using namespace rkllm_mcp;
using test::TemporaryDirectory;

namespace {

// Works in another directory for as long as it lives.
class WorkingDirectory {
 public:
  explicit WorkingDirectory(const std::string& path) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(path);
  }
  WorkingDirectory(const WorkingDirectory&) = delete;
  WorkingDirectory& operator=(const WorkingDirectory&) = delete;
  ~WorkingDirectory() { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_;
};

std::size_t files_in(const std::string& directory) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory), {}));
}

}  // namespace

TEST_CASE("the settings file is looked for in the documented order") {
  const TemporaryDirectory directory;
  const WorkingDirectory here(directory.path());
  Environment environment{{"HOME", "/home/u"}};
  CHECK(settings_path(std::nullopt, {}) == std::nullopt);
  CHECK(settings_path(std::nullopt, environment) == "/home/u/.config/rkllm-mcp/settings.json");
  environment["XDG_CONFIG_HOME"] = "/config";
  CHECK(settings_path(std::nullopt, environment) == "/config/rkllm-mcp/settings.json");
  test::write_file(directory / "settings.json", "{}");
  CHECK(settings_path(std::nullopt, environment) == "settings.json");
  environment["RKLLM_MCP_SETTINGS"] = "/by/variable.json";
  CHECK(settings_path(std::nullopt, environment) == "/by/variable.json");
  CHECK(settings_path("/by/option.json", environment) == "/by/option.json");
  environment["RKLLM_MCP_SETTINGS"] = "";
  CHECK(settings_path(std::nullopt, environment) == "settings.json");
}

TEST_CASE("the written file is complete and reads back to the built-in values") {
  const TemporaryDirectory directory;
  const std::string path = directory / "new/folder/settings.json";
  CHECK(write_default_settings(path) == Written::kWritten);

  const auto settings = load_settings({path, {}, {}});
  CHECK(settings.file == path);
  for (const Setting& setting : settings_table()) {
    INFO(name_of(setting));
    CHECK(value_of(setting, settings.values) == value_of(setting, Settings{}));
    CHECK(settings.sources[static_cast<std::size_t>(&setting - settings_table().data())].source == Source::kFile);
  }
  CHECK(Json::parse(test::read_file(directory / "new/folder/settings.schema.json")) == settings_schema());
  CHECK(files_in(directory / "new/folder") == 2);

  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a file that exists is never overwritten") {
  const TemporaryDirectory directory;
  const std::string path = directory / "settings.json";
  test::write_file(path, "mine");
  CHECK(write_default_settings(path) == Written::kExists);
  CHECK(test::read_file(path) == "mine");
  CHECK(files_in(directory.path()) == 1);
}

TEST_CASE("a schema that exists is left alone too") {
  const TemporaryDirectory directory;
  test::write_file(directory / "settings.schema.json", "mine");
  CHECK(write_default_settings(directory / "settings.json") == Written::kWritten);
  CHECK(test::read_file(directory / "settings.schema.json") == "mine");
}

TEST_CASE("of several that write at the same time exactly one does, and the file is whole") {
  const TemporaryDirectory directory;
  const std::string path = directory / "settings.json";
  std::atomic<int> written{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      if (write_default_settings(path) == Written::kWritten) ++written;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(written == 1);
  CHECK(Json::parse(test::read_file(path)) == default_settings_file());
  CHECK(files_in(directory.path()) == 2);
}

TEST_CASE("a place that cannot be written to is told by an exception") {
  const TemporaryDirectory directory;
  test::write_file(directory / "file", "");
  CHECK_THROWS_AS(write_default_settings(directory / "file/settings.json"), std::system_error);
  CHECK_THROWS_AS(write_default_settings("/proc/settings.json"), std::system_error);
}
