// The text that Prometheus reads.
#include "watch/metrics.hpp"
#include "watch/board.hpp"

#include "support/catch.hpp"
#include "support/lines.hpp"
#include "support/process.hpp"

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

namespace rkllm_mcp {
namespace {

void write(const std::filesystem::path& path, const std::string& content) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << content;
}

}  // namespace

TEST_CASE("a histogram counts each value in all buckets from its own on") {
  Histogram histogram;
  histogram.add(0.001);  // a bound belongs to its bucket
  histogram.add(0.3);
  histogram.add(100);
  std::string text;
  histogram.print(text, "h");
  CHECK(test::has_line(text, R"(h_bucket{le="0.001"} 1)"));
  CHECK(test::has_line(text, R"(h_bucket{le="0.25"} 1)"));
  CHECK(test::has_line(text, R"(h_bucket{le="0.5"} 2)"));
  CHECK(test::has_line(text, R"(h_bucket{le="60"} 2)"));
  CHECK(test::has_line(text, R"(h_bucket{le="+Inf"} 3)"));
  CHECK(test::has_line(text, "h_sum 100.301"));
  CHECK(test::has_line(text, "h_count 3"));
}

TEST_CASE("calls are counted by method and outcome, and every family says what it is") {
  Metrics metrics;
  metrics.count_call("f", "ok");
  metrics.count_call("f", "ok");
  metrics.count_call("f", "4002");
  metrics.count_token();
  const std::string text = metrics.text();
  CHECK(test::has_line(text, R"(rkllm_mcp_calls_total{method="f",outcome="ok"} 2)"));
  CHECK(test::has_line(text, R"(rkllm_mcp_calls_total{method="f",outcome="4002"} 1)"));
  CHECK(test::has_line(text, "rkllm_mcp_tokens_total 1"));
  CHECK(test::has_line(text, "# TYPE rkllm_mcp_calls_total counter"));
  CHECK(test::has_line(text, "# TYPE rkllm_mcp_token_interval_seconds histogram"));
}

TEST_CASE("the first token of a new handle is known however many handles went before it, also unheard") {
  Metrics metrics;
  const auto handle = [](std::size_t number) { return "llm-" + std::to_string(number); };
  metrics.note_first_token(handle(1), 1);
  metrics.note_first_token(handle(2), 2);
  metrics.note_first_token(handle(1), 3);  // it still answers
  for (std::size_t number = 3; number <= Metrics::kMostHandles + 1; ++number) {
    metrics.note_first_token(handle(number), 4);
  }
  CHECK(metrics.first_token_of(handle(Metrics::kMostHandles + 1)) == 4);
  CHECK(metrics.first_token_of(handle(1)) == 3);
  CHECK_FALSE(metrics.first_token_of(handle(2)));
}

TEST_CASE("labels are escaped") { CHECK(label("k", "a\"b\\c\nd") == R"(k="a\"b\\c\nd")"); }

TEST_CASE("a board's files become metrics, and a machine without them has none") {
  const test::TemporaryDirectory directory;
  const std::filesystem::path root = directory / "root";
  CHECK(board_metrics(root).empty());
  write(root / "sys/kernel/debug/rknpu/load", "NPU load:  Core0: 10%, Core1:  0%, Core2: 75%,\n");
  write(root / "sys/class/devfreq/fb000000.gpu/cur_freq", "1\n");
  write(root / "sys/class/devfreq/fdab0000.npu/cur_freq", "1000000000\n");
  write(root / "sys/class/thermal/thermal_zone0/type", "soc-thermal\n");
  write(root / "sys/class/thermal/thermal_zone0/temp", "1\n");
  write(root / "sys/class/thermal/thermal_zone6/type", "npu-thermal\n");
  write(root / "sys/class/thermal/thermal_zone6/temp", "42538\n");
  const std::string text = board_metrics(root);
  CHECK(test::has_line(text, R"(rkllm_mcp_npu_load_ratio{core="0"} 0.1)"));
  CHECK(test::has_line(text, R"(rkllm_mcp_npu_load_ratio{core="1"} 0)"));
  CHECK(test::has_line(text, R"(rkllm_mcp_npu_load_ratio{core="2"} 0.75)"));
  CHECK(test::has_line(text, "rkllm_mcp_npu_frequency_hertz 1000000000"));
  CHECK(test::has_line(text, "rkllm_mcp_npu_temperature_celsius 42.538"));
  CHECK(text.find("rkllm_mcp_npu_driver_info") == std::string::npos);
  write(root / "sys/kernel/debug/rknpu/version", "RKNPU driver: v0.9.8\n");
  CHECK(test::has_line(board_metrics(root), R"(rkllm_mcp_npu_driver_info{version="v0.9.8"} 1)"));
  CHECK(npu_status(root) == Json{{"driver", "v0.9.8"},
                                 {"load", {0.1, 0.0, 0.75}},
                                 {"frequency_hz", 1e9},
                                 {"temperature_celsius", 42.538},
                                 {"remedy", nullptr}});
}

TEST_CASE("what only root may read of the NPU is null, with the command that shows it") {
  const test::TemporaryDirectory directory;
  const std::filesystem::path root = directory / "root";
  Json nothing{{"driver", nullptr},
               {"load", nullptr},
               {"frequency_hz", nullptr},
               {"temperature_celsius", nullptr},
               {"remedy", nullptr}};
  CHECK(npu_status(root) == nothing);
  write(root / "sys/class/devfreq/fdab0000.npu/cur_freq", "1000000000\n");
  const Json hidden = npu_status(root);
  CHECK(hidden["driver"].is_null());
  CHECK(hidden["frequency_hz"] == 1e9);
  CHECK_THAT(hidden["remedy"].get<std::string>(),
             test::has_text("mount --bind /sys/kernel/debug/rknpu /run/rkllm-mcp/rknpu"));
  // That is where it is then looked for.
  write(root / "run/rkllm-mcp/rknpu/load", "NPU load: 7%\n");
  write(root / "run/rkllm-mcp/rknpu/version", "RKNPU driver: v0.9.8\n");
  CHECK(npu_status(root)["load"] == Json{0.07});
  CHECK(npu_status(root)["remedy"].is_null());
}

TEST_CASE("files that cannot be read, or never end, leave their metrics out and nothing else") {
  const test::TemporaryDirectory directory;
  const std::filesystem::path root = directory / "root";
  // As sysfs does: it opens, and read() fails.
  const auto fails = [&](const std::filesystem::path& path) {
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::create_symlink("/proc/self/mem", path);
  };
  fails(root / "sys/kernel/debug/rknpu/load");
  fails(root / "sys/kernel/debug/rknpu/version");
  fails(root / "sys/class/thermal/thermal_zone0/type");
  write(root / "sys/class/thermal/thermal_zone6/type", "npu-thermal\n");
  fails(root / "sys/class/thermal/thermal_zone6/temp");
  std::filesystem::create_directories(root / "sys/class/devfreq/fdab0000.npu");
  REQUIRE(::mkfifo((root / "sys/class/devfreq/fdab0000.npu/cur_freq").c_str(), 0600) == 0);
  std::filesystem::create_directories(root / "proc/device-tree");
  std::filesystem::create_symlink("/dev/zero", root / "proc/device-tree/model");
  CHECK(board_metrics(root).empty());
  CHECK(board_description(root) == Json{{"model", nullptr}, {"compatible", nullptr}, {"npu_driver", nullptr}});
  write(root / "sys/class/devfreq/fdab1000.npu/cur_freq", "1000000000\n");
  CHECK(test::has_line(board_metrics(root), "rkllm_mcp_npu_frequency_hertz 1000000000"));
}

TEST_CASE("an NPU of one core has one load") {
  const test::TemporaryDirectory directory;
  const std::filesystem::path root = directory / "root";
  write(root / "sys/kernel/debug/rknpu/load", "NPU load:  7%\n");
  CHECK(test::has_line(board_metrics(root), R"(rkllm_mcp_npu_load_ratio{core="0"} 0.07)"));
}

TEST_CASE("the driver's figures are found where others than root may read them") {
  for (const char* const folder : {"proc/rknpu", "run/rkllm-mcp/rknpu"}) {
    test::TemporaryDirectory directory;
    const std::filesystem::path root = directory.path();
    write(root / folder / "load", "NPU load:  7%\n");
    write(root / folder / "version", "RKNPU driver: v0.9.8\n");
    CHECK(test::has_line(board_metrics(root), R"(rkllm_mcp_npu_load_ratio{core="0"} 0.07)"));
    CHECK(board_description(root)["npu_driver"] == "v0.9.8");
  }
}

TEST_CASE("a board is described by its files, and what is not known is null") {
  const test::TemporaryDirectory directory;
  const std::filesystem::path root = directory / "root";
  CHECK(board_description(root) == Json{{"model", nullptr}, {"compatible", nullptr}, {"npu_driver", nullptr}});
  write(root / "proc/device-tree/model", std::string("A board\0", 8));
  write(root / "proc/device-tree/compatible", std::string("maker,board\0maker,soc\0", 22));
  write(root / "sys/kernel/debug/rknpu/version", "RKNPU driver: v0.9.8\n");
  CHECK(board_description(root) ==
        Json{{"model", "A board"}, {"compatible", {"maker,board", "maker,soc"}}, {"npu_driver", "v0.9.8"}});
}

}  // namespace rkllm_mcp
