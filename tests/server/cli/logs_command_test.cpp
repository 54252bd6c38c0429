// What `logs` prints of a file, and of what a server keeps; as a process, and with -f: logs_test.cpp.
#include "cli/run_command.hpp"

#include "server/cli/board_bench.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <string>
#include <system_error>
#include <vector>

namespace rkllm_mcp::test {
namespace {

std::string printed_by_logs(const LogsOptions& options, const SettingsRequest& request) {
  PrintedOutput output;
  const int status = run_logs(options, request);
  std::string text = output.text();
  CHECK(status == kExitOk);
  return text;
}

class LoggedFile {
 public:
  explicit LoggedFile(const std::string& text) {
    write_file(path(), text);
    write_file(folder_ / "settings.json", Json{{"log", {{"file", path()}}}}.dump());
  }
  std::string path() const { return folder_ / "server.log"; }
  SettingsRequest request() const {
    SettingsRequest request;
    request.path = folder_ / "settings.json";
    return request;
  }
  std::string last(int lines, bool json = false) const {
    return printed_by_logs({.lines = lines, .json = json}, request());
  }

 private:
  TemporaryDirectory folder_;
};

std::string numbered_line(std::size_t number, std::size_t bytes) {
  std::string line = std::to_string(number) + " ";
  line.resize(bytes, 'x');
  return line + "\n";
}

std::string printed_of_server(const BoardBench& board, LogsOptions options) {
  options.remote.to = board.link().url();
  return printed_by_logs(options, board.request());
}

}  // namespace

TEST_CASE("of a log's file so many of the last lines are printed, all of them where there are fewer") {
  const LoggedFile file("one\ntwo\n\nfour\n");
  CHECK(file.last(0).empty());
  CHECK(file.last(1) == "four\n");
  CHECK(file.last(2) == "\nfour\n");
  CHECK(file.last(3) == "two\n\nfour\n");
  CHECK(file.last(4) == "one\ntwo\n\nfour\n");
  CHECK(file.last(5) == "one\ntwo\n\nfour\n");
}

TEST_CASE("a last line without an end counts as one, and a file that is empty has none") {
  const LoggedFile file("one\ntwo\nthr");
  CHECK(file.last(1) == "thr");
  CHECK(file.last(2) == "two\nthr");
  CHECK(LoggedFile("").last(3).empty());
  CHECK(LoggedFile("\n").last(1) == "\n");
  CHECK(LoggedFile("\n\n").last(1) == "\n");
}

TEST_CASE("the last lines are found also where they are longer than what is read at once") {
  constexpr std::size_t kAtOnce = 65536;
  std::string text;
  std::vector<std::string> lines;
  for (const std::size_t bytes : {kAtOnce - 1, kAtOnce, kAtOnce + 1, std::size_t{1}, 2 * kAtOnce + 7, std::size_t{3}}) {
    lines.push_back(numbered_line(lines.size(), bytes));
    text += lines.back();
  }
  const LoggedFile file(text);
  std::string expected;
  for (std::size_t count = 1; count <= lines.size(); ++count) {
    expected.insert(0, lines[lines.size() - count]);
    INFO(count);
    const bool is_as_expected = file.last(static_cast<int>(count)) == expected;
    CHECK(is_as_expected);
  }
}

TEST_CASE("each line of a log is an object for programs, also the last one that has no end") {
  const std::string printed = LoggedFile("2026-01-02 03:04:05.678 info: ready\nwhatever").last(5, true);
  CHECK(Json::parse(printed.substr(0, printed.find('\n')))["message"] == "ready");
  CHECK(Json::parse(printed.substr(printed.find('\n')))["message"] == "whatever");
  CHECK(printed.ends_with("}\n"));
}

TEST_CASE("a log's file that is not there is told with the setting that names it") {
  const TemporaryDirectory folder;
  write_file(folder / "settings.json", Json{{"log", {{"file", folder / "none.log"}}}}.dump());
  SettingsRequest request;
  request.path = folder / "settings.json";
  CHECK_THROWS_WITH(run_logs({}, request), has_text(folder / "none.log") && has_text("(log.file)"));
}

TEST_CASE("of what a server keeps the last lines are printed, and what is no line of text is passed over") {
  const BoardBench board({{"GET /log", {{{"lines", {"one", "two", 5, "four"}}, {"next", 4}}}}});
  CHECK(printed_of_server(board, {.lines = 50}) == "one\ntwo\nfour\n");
  CHECK(printed_of_server(board, {.lines = 1}) == "four\n");
  CHECK(printed_of_server(board, {.lines = 0}).empty());
  const std::string printed = printed_of_server(board, {.lines = 1, .json = true});
  CHECK(Json::parse(printed)["message"] == "four");

  const BoardBench says_nothing({{"GET /log", {Json::object()}}});
  CHECK(printed_of_server(says_nothing, {}).empty());
  const BoardBench is_older({{"GET /health", {Json::object()}}});
  CHECK_THROWS_AS(printed_of_server(is_older, {}), ServerRefuses);
}

}  // namespace rkllm_mcp::test
