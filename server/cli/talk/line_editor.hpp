// Lines that a person types: edited, with a history that outlives the program. Where standard input is no terminal, its
// lines as they come. Threads: any one.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace rkllm_mcp {

class LineEditor {
 public:
  enum class Lines { kEdited, kAsTheyCome };

  // `history_file`: read now, written at the end, for its owner only; empty: none. kAsTheyCome: also of a terminal.
  LineEditor(std::string history_file, Lines lines);
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;
  ~LineEditor();

  // One line without its end; nothing at the end of input (Ctrl-D). Ctrl-C empties the line.
  std::optional<std::string> read(const std::string& prompt);
  // A further line of a text, without its end; nothing at the end of input, or if Ctrl-C has given that text up.
  std::optional<std::string> read_more(const std::string& prompt);
  bool was_given_up() const;  // by the last read_more()
  void remember(const std::string& text);
  bool is_interactive() const { return editor_ != nullptr; }

 private:
  struct Editor;

  std::optional<std::string> read(const std::string& prompt, const char* at_interrupt);

  std::string history_file_;
  std::unique_ptr<Editor> editor_;  // null: no terminal
};

}  // namespace rkllm_mcp
