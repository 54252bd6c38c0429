// Says which lines a LineEditor gives. Arguments: the file of its history, and "as-they-come" or nothing. A line that
// ends with "+" has a further one.
#include "cli/talk/line_editor.hpp"

#include <cstdio>
#include <optional>
#include <string>

namespace {

void print(const std::string& text) {
  std::puts(text.c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  using rkllm_mcp::LineEditor;
  if (count < 2) return 2;
  LineEditor editor(arguments[1], count > 2 ? LineEditor::Lines::kAsTheyCome : LineEditor::Lines::kEdited);
  print(editor.is_interactive() ? "edited" : "as they come");
  while (const auto line = editor.read("first> ")) {
    if (!line->ends_with('+')) {
      print("[" + *line + "]");
      editor.remember(*line);
      continue;
    }
    const auto further = editor.read_more("further> ");
    print(further ? "[" + *line + *further + "]" : editor.was_given_up() ? "given up" : "no further line");
  }
  print(editor.was_given_up() ? "was given up" : "the end");
}
