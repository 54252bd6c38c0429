#include "cli/talk/line_editor.hpp"

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"
#include "support/terminal_process.hpp"

#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp::test;
using Lines = rkllm_mcp::LineEditor::Lines;

namespace {

constexpr const char* kCtrlA = "\x01";
constexpr const char* kCtrlC = "\x03";
constexpr const char* kCtrlD = "\x04";
constexpr const char* kErase = "\x7f";
constexpr const char* kUp = "\x1b[A";

// A history that several editors have, one after the other.
class EditedHistory {
 public:
  std::string file() const { return directory_.path() + "/made/history"; }
  std::string text() const {
    std::ifstream stream(file());
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  Process::Options editor(Lines lines = Lines::kEdited) const {
    Process::Options options;
    options.args = {built_program("edited_lines"), file()};
    if (lines == Lines::kAsTheyCome) options.args.emplace_back("as-they-come");
    options.env = {{"TERM", "xterm"}, {"LC_ALL", "C"}};  // it reads UTF-8 wherever it is
    return options;
  }

 private:
  TemporaryDirectory directory_;
};

// Types keys where the editor asks for them.
class EditedTerminal {
 public:
  explicit EditedTerminal(const EditedHistory& history) : terminal_(history.editor()) { shows("edited"); }

  void shows(std::string_view text) {
    const bool is_shown = terminal_.wait_for(text);
    INFO("expected: " << text << "\nshown: " << terminal_.shown());
    REQUIRE(is_shown);
  }
  void type(const std::string& keys, std::string_view prompt = "first> ") {
    shows(prompt);
    terminal_.type(keys);
  }
  void end() {
    type(kCtrlD);
    shows("the end");
    CHECK(terminal_.wait() == 0);
  }

 private:
  TerminalProcess terminal_;
};

}  // namespace

TEST_CASE("a line that is edited comes as it stands in the end, and letters of several bytes are letters") {
  const EditedHistory history;
  EditedTerminal terminal(history);
  terminal.type(std::string("worlds") + kErase + kCtrlA + "hello \n");
  terminal.shows("[hello world]");
  terminal.type(std::string("für") + kErase + kErase + "ür\n");
  terminal.shows("[für]");
  terminal.type("\n");
  terminal.shows("[]");
  terminal.end();
}

TEST_CASE("Ctrl-C empties a line, or gives up a text of several lines, which the end of input does not") {
  const EditedHistory history;
  EditedTerminal terminal(history);
  terminal.type(std::string("not this") + kCtrlC + "but this\n");
  terminal.shows("[but this]");
  terminal.type("two +\n");
  terminal.type("lines\n", "further> ");
  terminal.shows("[two +lines]");
  terminal.type("half +\n");
  terminal.type(kCtrlD, "further> ");
  terminal.shows("no further line");
  terminal.type("half +\n");
  terminal.type(std::string("of it") + kCtrlC, "further> ");
  terminal.shows("given up");
  terminal.end();  // is not taken for a text that is given up
}

TEST_CASE("what was remembered comes back with the arrow keys, also in the next program, and is for its owner only") {
  const EditedHistory history;
  {
    EditedTerminal terminal(history);
    terminal.type("one\n");
    terminal.type("two\n");
    terminal.type("two\n");
    terminal.type(std::string(kUp) + kUp + "\n");
    terminal.shows("[one]");
    terminal.end();
  }
  struct ::stat kept {};
  REQUIRE(::stat(history.file().c_str(), &kept) == 0);
  CHECK((kept.st_mode & 0777U) == 0600U);
  EditedTerminal again(history);
  again.type(std::string(kUp) + "\n");
  again.shows("[one]");
  again.type(std::string(kUp) + kUp + "\n");
  again.shows("[two]");
  again.end();
}

TEST_CASE("lines of a pipe come as they are, the last one also without its end, and nothing is asked or remembered") {
  const EditedHistory history;
  Process editor(history.editor());
  REQUIRE(editor.write("one\nt\x01wo\nthree +\nlines\nfour"));
  editor.close_input();
  CHECK(editor.read_rest() == "as they come\n[one]\n[t\x01wo]\n[three +lines]\n[four]\nthe end\n");
  CHECK(editor.wait() == 0);
  CHECK(history.text().empty());
}

TEST_CASE("lines of a terminal come as they are where that is asked for") {
  const EditedHistory history;
  TerminalProcess terminal(history.editor(Lines::kAsTheyCome));
  REQUIRE(terminal.wait_for("as they come"));
  terminal.type("one\n");
  CHECK(terminal.wait_for("[one]"));
  terminal.type(kCtrlD);
  CHECK(terminal.wait_for("the end"));
  CHECK(terminal.wait() == 0);
  CHECK(terminal.shown().find("first>") == std::string::npos);
}
