#include "models/model_files.hpp"

#include "models/load_progress.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

std::vector<std::string> names_of(const FoundModels& found) {
  std::vector<std::string> names;
  for (const ModelFile& file : found.files) names.push_back(file.name);
  return names;
}

}  // namespace

TEST_CASE("files that end with .rkllm are models, the simulator's own only if it runs them") {
  const TemporaryDirectory directory;
  write_file(directory / "one.rkllm", "12345");
  write_file(directory / "two.json", R"({"rkllm_simulated_model": 1})");
  write_file(directory / "notes.json", R"({"a": 1})");
  write_file(directory / "readme.txt", "x");
  const std::vector<std::string> folders{directory.path()};
  const auto real = find_models(folders, SimulatedModels::kLeftOut);
  REQUIRE(names_of(real) == std::vector<std::string>{"one"});
  CHECK(real.files[0].bytes == 5);
  CHECK(real.files[0].path == directory / "one.rkllm");
  CHECK(names_of(find_models(folders, SimulatedModels::kFound)) == std::vector<std::string>{"one", "two"});
}

TEST_CASE("a simulated model may say which template it has, which a real one's name tells") {
  const TemporaryDirectory directory;
  const auto told_by = [&directory](const std::string& name, const std::string& content) {
    write_file(directory / name, content);
    return simulated_template(directory / name);
  };
  CHECK(told_by("a.json", R"({"rkllm_simulated_model": 1, "chat_template": "chatml"})") == "chatml");
  CHECK(told_by("b.json", R"({"rkllm_simulated_model": 1, "chat_template": "chatml", "thinking": true})") == "qwen3");
  CHECK(told_by("c.json", R"({"rkllm_simulated_model": 1})").empty());
  CHECK(told_by("d.json", R"({"rkllm_simulated_model": 1, "chat_template": "none"})").empty());
  CHECK(told_by("e.json", R"({"chat_template": "chatml"})").empty());
  CHECK(told_by("f.rkllm", R"({"rkllm_simulated_model": 1, "chat_template": "chatml"})").empty());
  CHECK(told_by("g.json", "not JSON").empty());
  CHECK(simulated_template(directory / "nowhere.json").empty());
  CHECK(find_models({directory.path()}, SimulatedModels::kFound).files.at(0).template_name == "chatml");
}

TEST_CASE(
    "of two files with one name the first counts, and the other is told of; folders are searched three levels deep") {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "a/b/c");
  write_file(directory / "a/same.rkllm", "1");
  write_file(directory / "a/b/deep.rkllm", "1");
  write_file(directory / "a/b/c/too_deep.rkllm", "1");
  write_file(directory / "same.rkllm", "12");
  const auto found = find_models({directory.path(), directory / "nowhere"}, SimulatedModels::kLeftOut);
  CHECK(names_of(found) == std::vector<std::string>{"deep", "same"});
  CHECK(found.hidden == std::vector<std::string>{directory / "same.rkllm"});
}

TEST_CASE("a model may be called by its preset, the preset's file, and any file at any of the three levels") {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "a/b");
  write_file(directory / "a/b/deep.rkllm", "1");
  write_file(directory / "a/same.rkllm", "1");
  write_file(directory / "same.rkllm", "1");
  write_file(directory / "simulated.json", R"({"rkllm_simulated_model": 1})");
  const Json presets{{"big", {{"param", {{"model_path", directory / "big.rkllm"}}}}}, {"nameless", Json::object()}};
  CHECK(known_models(presets, {directory.path(), directory / "nowhere"}) ==
        std::vector<std::string>{directory / "a/b/deep.rkllm", directory / "a/same.rkllm", directory / "big.rkllm",
                                 directory / "same.rkllm", "big", "nameless"});
  CHECK(known_models(Json::object(), {}).empty());
}

TEST_CASE(
    "what a loading process has read is what the kernel says, never less than before and never more than the file") {
  const TemporaryDirectory proc;
  std::filesystem::create_directories(proc / "7/fd");
  std::filesystem::create_directories(proc / "7/fdinfo");
  std::filesystem::create_symlink("/models/m.rkllm", proc / "7/fd/5");
  write_file(proc / "7/fdinfo/5", "pos:\t40\nflags:\t0100000\n");
  write_file(proc / "7/io", "rchar: 1000\nwchar: 0\n");
  LoadedBytes bytes("/models/m.rkllm", 100, proc.path());
  CHECK(bytes.of(7) == 40);
  write_file(proc / "7/fdinfo/5", "pos:\t0\nflags:\t0100000\n");
  CHECK(bytes.of(7) == 40);
  write_file(proc / "7/io", "rchar: 1070\nwchar: 0\n");
  CHECK(bytes.of(7) == 70);
  write_file(proc / "7/io", "rchar: 9000\nwchar: 0\n");
  CHECK(bytes.of(7) == 100);
  LoadedBytes unknown("/models/m.rkllm", 100, proc.path());
  CHECK_FALSE(unknown.of(8));
}

}  // namespace rkllm_mcp::test
