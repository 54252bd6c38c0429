// The model files: for this chip, of a version that the runtime reads, small enough for the memory.
#include "doctor/doctor.hpp"

#include "server/doctor/made_board.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

namespace rkllm_mcp::test {

TEST_CASE("a model for another chip is a problem, by its name") {
  Board board;
  std::filesystem::rename(board.path("models/a-rk3588-w8a8.rkllm"), board.path("models/a-RK3576.rkllm"));
  const auto fault = only_fault(doctor::examine_models(board.machine));
  CHECK(fault.level == doctor::Level::kProblem);
  CHECK_THAT(fault.text, has_text("rk3576"));
  CHECK_THAT(fault.text, has_text("rk3588"));
}

TEST_CASE("a model that is larger than the memory is a problem, than what is free of it a warning") {
  Board board;
  std::filesystem::resize_file(board.path("models/a-rk3588-w8a8.rkllm"), 7'000'000'000);  // sparse
  CHECK(only_fault(doctor::examine_models(board.machine)).level == doctor::Level::kWarning);
  std::filesystem::resize_file(board.path("models/a-rk3588-w8a8.rkllm"), 9'000'000'000);
  CHECK(only_fault(doctor::examine_models(board.machine)).level == doctor::Level::kProblem);
}

TEST_CASE(
    "what version of the toolkit has made a model is told by its name, else unknown, and warned of if it is newer") {
  Board board;
  CHECK_THAT(doctor::examine_models(board.machine).at(0).text, has_text("made with an unknown version of the toolkit"));
  std::filesystem::rename(board.path("models/a-rk3588-w8a8.rkllm"), board.path("models/a-rk3588-w8a8_1.2.1.rkllm"));
  const auto older = doctor::examine_models(board.machine);
  CHECK(faults(older).empty());
  CHECK_THAT(older.at(0).text, has_text("made with toolkit 1.2.1 by its name"));
  std::filesystem::rename(board.path("models/a-rk3588-w8a8_1.2.1.rkllm"),
                          board.path("models/a-rk3588-w8a8-v1.10.0.rkllm"));
  const auto newer = only_fault(doctor::examine_models(board.machine));
  CHECK(newer.level == doctor::Level::kWarning);
  CHECK_THAT(newer.text, has_text("version 1.10.0 of the toolkit") && has_text("the runtime 1.3.0 is older"));
  board.remove("usr/lib/librkllmrt.so");  // there is nothing to compare with
  CHECK(faults(doctor::examine_models(board.machine)).empty());
}

TEST_CASE("which platform a model is for is told by its name, else unknown, and a date there is no version") {
  Board board;
  CHECK_THAT(doctor::examine_models(board.machine).at(0).text, has_text(", for rk3588, made with"));
  std::filesystem::rename(board.path("models/a-rk3588-w8a8.rkllm"), board.path("models/qwen3-2025.07.10.rkllm"));
  const auto findings = doctor::examine_models(board.machine);
  CHECK(faults(findings).empty());
  CHECK_THAT(findings.at(0).text, has_text(", for an unknown platform, made with an unknown version of the toolkit"));
}

TEST_CASE("a model of no bytes is a problem") {
  Board board;
  std::filesystem::resize_file(board.path("models/a-rk3588-w8a8.rkllm"), 0);
  const auto fault = only_fault(doctor::examine_models(board.machine));
  CHECK(fault.level == doctor::Level::kProblem);
  CHECK_THAT(fault.text, has_text("is empty"));
}

TEST_CASE("a folder of models that is not there is a problem, and the cure makes it") {
  Board board;
  board.machine.settings.runtime.model_dirs = {board.path("nowhere")};
  const auto fault = only_fault(doctor::examine_models(board.machine));
  CHECK(fault.level == doctor::Level::kProblem);
  CHECK(fault.cure == "mkdir -p " + board.path("nowhere"));
}

TEST_CASE("no models at all is a warning") {
  Board board;
  board.remove("models/a-rk3588-w8a8.rkllm");
  CHECK(only_fault(doctor::examine_models(board.machine)).level == doctor::Level::kWarning);
}

TEST_CASE("a model of the settings that is in none of the folders is a problem that names both") {
  Board board;
  board.machine.settings.models = {{"big", {{"param", {{"model_path", "missing.rkllm"}}}}}};
  const auto found = faults(doctor::examine_models(board.machine));
  const auto named = std::find_if(found.begin(), found.end(), [](const auto& each) {
    return each.text.find("models.big: missing.rkllm is in none of the folders") != std::string::npos;
  });
  REQUIRE(named != found.end());
  CHECK(named->level == doctor::Level::kProblem);
}

TEST_CASE("a model of the settings that is nowhere, or has no path, is told as that, and nothing is to be moved") {
  Board board;
  const auto fault_of = [&board](const std::string& path) {
    board.machine.settings.models = {{"big", {{"param", {{"model_path", path}}}}}};
    return only_fault(doctor::examine_models(board.machine));
  };
  const auto nowhere = fault_of("/nowhere/big.rkllm");
  CHECK(nowhere.text == "models.big: /nowhere/big.rkllm is not there");
  CHECK_THAT(nowhere.cure, has_text("rkllm-mcp pull") && !has_text("mv "));
  const auto empty = fault_of("");
  CHECK(empty.text == "models.big names no file: its model_path is empty");
  CHECK_THAT(empty.cure, has_text("models.big.param.model_path") && !has_text("mv "));
}

TEST_CASE("a relative path of a model is looked for where the server would, and looked at there, once") {
  Board board;
  const auto name_model = [&board](const std::string& path) {
    board.machine.settings.models = {{"big", {{"param", {{"model_path", path}}}}}};
  };
  name_model("a-rk3588-w8a8.rkllm");
  CHECK(doctor::examine_models(board.machine).size() == 1);
  // Also below the cache directory, and nowhere else where there are folders of models.
  board.machine.settings.runtime.cache_dir = board.path("caches");
  board.put("caches/kept-rk3576.rkllm", "weights");
  name_model("kept-rk3576.rkllm");
  const auto kept = only_fault(doctor::examine_models(board.machine));
  CHECK_THAT(kept.text, has_text(board.path("caches/kept-rk3576.rkllm") + " is, by its name, for rk3576"));
  board.put("outside.rkllm", "weights");
  name_model(board.path("outside.rkllm"));
  const auto outside = only_fault(doctor::examine_models(board.machine));
  CHECK_THAT(outside.text, has_text("expected a file below one of runtime.model_dirs"));
  CHECK_THAT(outside.cure, has_text("mv " + board.path("outside.rkllm") + " FOLDER"));
  // Without folders the user's own is no place for relative paths, but the working directory is.
  board.machine.settings.runtime.model_dirs = {};
  board.machine.settings.runtime.cache_dir = board.path("no caches");
  const std::string here = std::filesystem::relative(board.path("outside.rkllm")).string();
  name_model(here);
  const auto findings = doctor::examine_models(board.machine);
  CHECK(std::ranges::any_of(findings, [&here](const auto& each) { return each.text.starts_with(here + ", "); }));
}

TEST_CASE("a cure can be pasted where a file's name has blanks") {
  Board board;
  board.put("models/em pty.rkllm", "");
  const std::string path = board.path("models/em pty.rkllm");
  for (const auto& fault : faults(doctor::examine_models(board.machine))) {
    if (fault.text.find("empty") != std::string::npos) CHECK_THAT(fault.cure, has_text("rm '" + path + "'"));
  }
  CHECK(std::filesystem::exists(path));
}

TEST_CASE("a model of exactly the memory's size is no problem, and memory that cannot be told is no reason for one") {
  Board board;
  const std::string model = board.path("models/a-rk3588-w8a8.rkllm");
  board.put("proc/meminfo", "MemTotal:        8000 kB\nMemAvailable:    6000 kB\n");
  const auto level_of = [&](std::uintmax_t bytes) {
    std::filesystem::resize_file(model, bytes);
    return doctor::examine_models(board.machine).at(0).level;
  };
  CHECK(level_of(6000 * 1024) == doctor::Level::kOk);
  CHECK(level_of(6000 * 1024 + 1) == doctor::Level::kWarning);
  CHECK(level_of(8000 * 1024) == doctor::Level::kWarning);
  CHECK(level_of(8000 * 1024 + 1) == doctor::Level::kProblem);
  for (const char* const text : {"", "MemTotal:", "MemTotal: lots\n"}) {
    board.put("proc/meminfo", text);
    CHECK(faults(doctor::examine_models(board.machine)).empty());
  }
}

}  // namespace rkllm_mcp::test
