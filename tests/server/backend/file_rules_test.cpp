// Which files clients may have read and written.
#include "backend/file_rules.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

using namespace rkllm_mcp;
namespace fs = std::filesystem;

namespace {

struct Place {
  test::TemporaryDirectory root;
  std::string models = root / "models";
  std::string cache = root / "cache";

  Place() {
    fs::create_directory(models);
    fs::create_directory(models + "-private");  // begins alike, and is another
    for (const std::string& file : {models + "/a.rkllm", models + "-private/b.rkllm", root / "c.rkllm"}) {
      std::ofstream(file) << "x";
    }
    fs::create_symlink(root / "c.rkllm", models + "/link.rkllm");
  }
};

constexpr const char* kNotThere = "expected a file below one of runtime.model_dirs";
constexpr const char* kNotCached = "expected a file below runtime.cache_dir, or a relative path";

}  // namespace

TEST_CASE("with model directories nothing else is read, whatever links and dots say") {
  const Place place;
  const FileRules rules({{place.models}, place.cache});
  const auto read = [&](const std::string& path) { return rules.path_for(path, FileUse::kRead); };
  CHECK(read(place.models + "/a.rkllm") == place.models + "/a.rkllm");
  CHECK(read("a.rkllm") == place.models + "/a.rkllm");
  CHECK(read("./none/../a.rkllm") == place.models + "/a.rkllm");
  CHECK(read("missing.rkllm") == place.models + "/missing.rkllm");  // the library says that it is missing
  for (const std::string& path :
       {place.models + "-private/b.rkllm", place.models + "/../c.rkllm", place.models + "/link.rkllm", place.models,
        std::string("../c.rkllm"), std::string("link.rkllm"), std::string("/etc/passwd"), place.root / "missing"}) {
    INFO(path);
    CHECK_THROWS_WITH(read(path), kNotThere);
  }
}

TEST_CASE("without model directories anything is read, as it was named") {
  const Place place;
  const FileRules rules({{}, place.cache});
  CHECK(rules.path_for("/etc/passwd", FileUse::kRead) == "/etc/passwd");
  CHECK(rules.path_for("here.rkllm", FileUse::kRead) == "here.rkllm");
}

TEST_CASE("what was written is found again by the same name") {
  const Place place;
  for (const auto& models : {std::vector<std::string>{}, std::vector<std::string>{place.models}}) {
    const FileRules rules({models, place.cache});
    const std::string path = rules.path_for("chat.cache", FileUse::kWritten);
    std::ofstream(path) << "x";
    CHECK(rules.path_for("chat.cache", FileUse::kRead) == path);
    CHECK(rules.path_for(path, FileUse::kRead) == path);
  }
}

TEST_CASE("a slash at the end of a directory's name means nothing") {
  const Place place;
  const FileRules rules({{place.models + "/"}, place.cache + "/"});
  CHECK(rules.path_for("a.rkllm", FileUse::kRead) == place.models + "/a.rkllm");
  CHECK(rules.path_for("chat.cache", FileUse::kWritten) == place.cache + "/chat.cache");
  CHECK((fs::status(place.cache).permissions() & fs::perms::all) == fs::perms::owner_all);
}

TEST_CASE("nothing is written outside the cache directory, which is made when it is needed") {
  const Place place;
  const FileRules rules({{place.models}, place.cache});
  const auto write = [&](const std::string& path) { return rules.path_for(path, FileUse::kWritten); };
  CHECK_FALSE(fs::exists(place.cache));
  CHECK(write("chat.cache") == place.cache + "/chat.cache");
  CHECK((fs::status(place.cache).permissions() & fs::perms::all) == fs::perms::owner_all);
  CHECK(write(place.cache + "/other.cache") == place.cache + "/other.cache");
  fs::create_symlink(place.root / "outside", place.cache + "/link");
  fs::create_symlink(place.root.path(), place.cache + "/links");
  for (const std::string& path : {place.root / "x", std::string("../x"), std::string("links/x"),
                                  place.models + "/a.rkllm", place.cache, std::string(".")}) {
    INFO(path);
    CHECK_THROWS_WITH(write(path), kNotCached);
  }
  CHECK_THROWS_WITH(write("link"), "expected a file that exists, or a path without links");
  CHECK_THROWS_WITH(write("link/x"), "expected a file that exists, or a path without links");
  CHECK_THROWS_WITH(write(""), "expected the name of a file");
}

TEST_CASE("a file is another one when it is written to or replaced, whichever path leads to it") {
  const Place place;
  const std::string file = place.models + "/a.rkllm";
  const std::string link = place.root / "link";
  fs::create_symlink(file, link);
  const FileRules rules({{}, place.cache});
  // The last change may be too short a time ago to be told from the next one.
  const auto identity = [&rules](const std::string& path) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    std::string found;
    while (found.empty() && std::chrono::steady_clock::now() < deadline) found = file_identity(rules, path);
    return found;
  };
  const std::string first = identity(file);
  CHECK_FALSE(first.empty());
  CHECK(identity(file) == first);
  std::ofstream(file) << "y";
  const std::string second = identity(file);
  CHECK(second != first);
  const std::string by_link = identity(link);
  CHECK_FALSE(by_link.empty());
  fs::remove(link);
  fs::create_symlink(place.root / "c.rkllm", link);
  CHECK(identity(link) != by_link);
  CHECK(file_identity(rules, place.root / "nowhere").empty());
  CHECK(file_identity(FileRules({{place.models}, place.cache}), place.root / "c.rkllm").empty());
}
