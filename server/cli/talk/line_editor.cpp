#include "cli/talk/line_editor.hpp"

#include <histedit.h>
#include <langinfo.h>
#include <sys/stat.h>
#include <unistd.h>

#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <cwchar>
#include <filesystem>
#include <iostream>

namespace rkllm_mcp {
namespace {

constexpr int kRemembered = 500;  // lines
constexpr const char* kEmptyLine = "em-kill-line";
constexpr const char* kGiveUp = "rkllm-give-up";
constexpr const wchar_t* kGiveUpWide = L"rkllm-give-up";
constexpr const char* kSuspend = "rkllm-suspend";
constexpr const wchar_t* kSuspendWide = L"rkllm-suspend";

// libedit reads characters by the locale; one without UTF-8 would cut every letter with an accent.
void read_utf8() {
  std::setlocale(LC_CTYPE, "");
  if (std::strcmp(::nl_langinfo(CODESET), "UTF-8") != 0) std::setlocale(LC_CTYPE, "C.UTF-8");
}

}  // namespace

struct LineEditor::Editor {
  EditLine* line;
  History* history;
  HistEvent event{};
  std::string prompt{};
  bool was_given_up = false;

  static Editor& of(EditLine* line) {
    void* data = nullptr;
    ::el_get(line, EL_CLIENTDATA, &data);
    return *static_cast<Editor*>(data);
  }
};

LineEditor::LineEditor(std::string history_file, Lines lines) : history_file_(std::move(history_file)) {
  if (lines == Lines::kAsTheyCome || ::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) return;
  read_utf8();
  editor_ = std::make_unique<Editor>(Editor{::el_init("rkllm-mcp", stdin, stdout, stderr), ::history_init()});
  EditLine* const line = editor_->line;
  ::el_set(line, EL_CLIENTDATA, editor_.get());
  ::el_set(
      line, EL_PROMPT, +[](EditLine* asking) -> char* { return Editor::of(asking).prompt.data(); });
  // libedit keeps the two texts as they are; el_set() would copy them and never free that.
  ::el_wset(
      line, EL_ADDFN, kGiveUpWide, L"Give up a text of several lines", +[](EditLine* asking, wint_t) -> unsigned char {
        Editor::of(asking).was_given_up = true;
        return CC_NEWLINE;
      });
  ::el_wset(
      line, EL_ADDFN, kSuspendWide, L"Stop the program, until the shell has it go on",
      +[](EditLine* asking, wint_t) -> unsigned char {
        ::raise(SIGTSTP);  // TerminalGuard gives the terminal back, and takes it again
        ::el_resize(asking);
        ::el_wset(asking, EL_REFRESH);  // behind what the shell has written
        return CC_NORM;
      });
  ::el_set(line, EL_EDITOR, "emacs");
  ::el_set(line, EL_SETTY, "-d", "-isig", nullptr);  // Ctrl-C is a key while a line is edited
  ::el_set(line, EL_BIND, "^Z", kSuspend, nullptr);
  ::el_set(line, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  ::history(editor_->history, &editor_->event, H_SETSIZE, kRemembered);
  ::history(editor_->history, &editor_->event, H_SETUNIQUE, 1);
  ::el_set(line, EL_HIST, ::history, editor_->history);
  if (!history_file_.empty()) ::history(editor_->history, &editor_->event, H_LOAD, history_file_.c_str());
}

LineEditor::~LineEditor() {
  if (!editor_) return;
  if (!history_file_.empty()) {
    std::error_code unwritable;
    std::filesystem::create_directories(std::filesystem::path(history_file_).parent_path(), unwritable);
    const mode_t before = ::umask(0077);
    ::history(editor_->history, &editor_->event, H_SAVE, history_file_.c_str());
    ::umask(before);
  }
  ::el_end(editor_->line);
  ::history_end(editor_->history);
}

std::optional<std::string> LineEditor::read(const std::string& prompt) { return read(prompt, kEmptyLine); }

std::optional<std::string> LineEditor::read_more(const std::string& prompt) { return read(prompt, kGiveUp); }

bool LineEditor::was_given_up() const { return editor_ && editor_->was_given_up; }

std::optional<std::string> LineEditor::read(const std::string& prompt, const char* at_interrupt) {
  std::string text;
  if (!editor_) {
    if (!std::getline(std::cin, text)) return std::nullopt;
    return text;
  }
  editor_->prompt = prompt;
  editor_->was_given_up = false;
  ::el_set(editor_->line, EL_BIND, "^C", at_interrupt, nullptr);
  // Keys are taken from here on. libedit alone would begin that behind its prompt, and a Ctrl-D that comes between
  // would be the terminal's, and lost.
  ::el_set(editor_->line, EL_PREP_TERM, 1);
  int count = 0;
  const char* const line = ::el_gets(editor_->line, &count);
  if (editor_->was_given_up) std::fputs("\n", stdout);  // the next prompt has a line of its own
  if (editor_->was_given_up || line == nullptr || count <= 0) return std::nullopt;
  text.assign(line, static_cast<std::size_t>(count));
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

void LineEditor::remember(const std::string& text) {
  if (editor_ && !text.empty()) ::history(editor_->history, &editor_->event, H_ENTER, text.c_str());
}

}  // namespace rkllm_mcp
