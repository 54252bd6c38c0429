// How long rkllm-bindgen takes, from the start of the process to its end, for the newest header and for made-up ones of
// 1 to 8 times its size; beside a process that does nothing but have libclang parse the same file once.
//
// All are measured in turns, so that a machine that slows down slows down all. Printed are medians.
#include "made_up_header.hpp"
#include "read/parse.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

namespace {

constexpr int kRounds = 9;

struct Cost {
  double wall_ms;
  double cpu_ms;
};

double milliseconds(const timeval& time) {
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_usec);
}

// Runs a command, whose output nobody sees, to its end.
Cost cost_of(std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);

  const auto begun = std::chrono::steady_clock::now();
  pid_t child = 0;
  int status = 1;
  rusage used{};
  if (posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ) == 0) {
    wait4(child, &status, 0, &used);
  }
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - begun;
  posix_spawn_file_actions_destroy(&actions);
  if (status != 0) {
    std::fprintf(stderr, "%s failed\n", arguments[0]);
    std::exit(1);
  }
  return {wall.count(), milliseconds(used.ru_utime) + milliseconds(used.ru_stime)};
}

struct Step {
  std::vector<std::string> command;
  std::vector<Cost> costs{};

  Cost median() const {
    const auto middle = [this](double Cost::*which) {
      std::vector<double> values;
      for (const Cost& cost : costs) values.push_back(cost.*which);
      std::nth_element(values.begin(), values.begin() + kRounds / 2, values.end());
      return values[kRounds / 2];
    };
    return {middle(&Cost::wall_ms), middle(&Cost::cpu_ms)};
  }
};

struct Row {
  std::string name;
  std::uintmax_t bytes;
  std::array<Step, 3> steps;  // the floor, dump, generate
};

Row row(const std::string& name, const std::string& self, const std::string& bindgen, const std::string& header,
        const std::string& overlay, const std::string& version, const std::filesystem::path& output) {
  return {name,
          std::filesystem::file_size(header),
          {Step{{self, "--parse", header}}, Step{{bindgen, "dump", header}},
           Step{{bindgen, header, "--overlay", overlay, "--api-version", version, "--out", output / name}}}};
}

void measure(std::vector<Row>& rows, const std::filesystem::path& output) {
  for (int round = 0; round < kRounds; ++round) {
    std::filesystem::remove_all(output);  // so that every file is written
    for (Row& each : rows) {
      for (Step& step : each.steps) step.costs.push_back(cost_of(step.command));
    }
  }
}

int parse_once(const char* header) {
  const bindgen::clang::Index index(clang_createIndex(0, 0));
  bindgen::parse(index, {header, {}}, bindgen::kTargets[0]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--parse") return parse_once(argv[2]);
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s RKLLM-BINDGEN HEADER OVERLAY\n", argv[0]);
    return 2;
  }
  std::string place = (std::filesystem::temp_directory_path() / "benchmark_bindgen.XXXXXX").string();
  if (mkdtemp(place.data()) == nullptr) return 1;
  const std::filesystem::path directory = place;
  const std::filesystem::path output = directory / "out";

  std::vector<Row> rows{row("rkllm 1.3.0", argv[0], argv[1], argv[2], argv[3], "1.3.0", output)};
  for (const std::size_t times : std::initializer_list<std::size_t>{1, 2, 4, 8}) {
    const MadeUpHeader made = make_up_header(times * rows[0].bytes);
    const std::string name = "made up, x" + std::to_string(times);
    const std::string header = directory / ("made_up_" + std::to_string(times) + ".h");
    const std::string overlay = header + ".overlay.json";
    std::ofstream(header) << made.header;
    std::ofstream(overlay) << made.overlay;
    rows.push_back(row(name, argv[0], argv[1], header, overlay, "1.0.0", output));
  }
  measure(rows, output);
  std::filesystem::remove_all(directory);

  std::printf("%-15s %7s %9s %9s %12s %12s %9s %11s\n", "ms", "kB", "floor", "dump", "generate", "(processor)",
              "of floor", "per kB");
  for (const Row& each : rows) {
    const double kilobytes = static_cast<double>(each.bytes) / 1000;
    const Cost floor = each.steps[0].median();
    const Cost generate = each.steps[2].median();
    std::printf("%-15s %7.1f %9.1f %9.1f %12.1f %12.1f %8.1fx %11.2f\n", each.name.c_str(), kilobytes, floor.wall_ms,
                each.steps[1].median().wall_ms, generate.wall_ms, generate.cpu_ms, generate.wall_ms / floor.wall_ms,
                generate.wall_ms / kilobytes);
  }
  return 0;
}
