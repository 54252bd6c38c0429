#include "process/printed_lines.hpp"

#include "backend/logged_errors.hpp"
#include "support/catch.hpp"
#include "text/utf8.hpp"

#include <rkllm_mcp/errors.hpp>

#include <exception>
#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp;

namespace {

std::vector<std::string> errors_in(const std::string& printed) {
  PrintedLines log([](std::string_view) {});
  log.take(printed);
  log.end();
  return log.errors_since(0);
}

}  // namespace

TEST_CASE("an error line is kept whole for answers up to its bound, and cut beyond, between characters") {
  const std::string whole = "E rkllm: " + std::string(PrintedLines::kErrorBytes - 9, 'x');
  CHECK(errors_in(whole + "\n") == std::vector{whole});
  CHECK(errors_in(whole + "x\n") == std::vector{whole.substr(0, whole.size() - 3) + "..."});
  for (std::size_t before = 0; before < 4; ++before) {
    std::string text = "E rkllm: " + std::string(before, 'x');
    while (text.size() < 2000) text += "\xE2\x82\xAC";
    const auto errors = errors_in(text + "\n");
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].size() <= PrintedLines::kErrorBytes);
    CHECK(errors[0].ends_with("..."));
    CHECK(is_valid_utf8(errors[0]));
  }
}

TEST_CASE("what a library prints speaks to no terminal, by one byte or by two, in one piece or in several") {
  CHECK(errors_in("E a\tb\x1b[2J\x7f\n") == std::vector<std::string>{"E a\tb?[2J?"});
  CHECK(errors_in("E \xc2\x9b"
                  "2Jb \xc3\xa9\n") == std::vector<std::string>{"E ?2Jb \xc3\xa9"});
  std::vector<std::string> seen;
  PrintedLines log([&](std::string_view line) { seen.emplace_back(line); });
  log.take("E \xc2");
  log.take(
      "\x9b"
      "c\n");
  CHECK(seen == std::vector<std::string>{"E ?c"});
}

TEST_CASE("a name of a megabyte in the library's log makes neither a long error nor a long warning") {
  const std::string printed = "E rkllm: no adapter named " + std::string(1'000'000, 'n') + "\n";
  CallOutcome failed;
  failed.error = std::make_exception_ptr(CallFailed("rkllm_run", -1));
  add_logged_errors(errors_in(printed), failed);
  try {
    std::rethrow_exception(failed.error);
  } catch (const RpcError& error) {
    CHECK(std::string(error.what()).starts_with("no adapter named nnn"));
    CHECK(std::string(error.what()).size() + error.data().dump().size() < 2000);
  }
  CallOutcome went_well;
  went_well.result = Json{{"status", 0}};
  add_logged_errors(errors_in(printed), went_well);
  CHECK(went_well.result["warnings"].dump().size() < 1000);
}
