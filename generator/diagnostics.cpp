#include "diagnostics.hpp"

namespace bindgen {

Refusal::Refusal(std::vector<Diagnostic> diagnostics) : diagnostics_(std::move(diagnostics)) {
  for (const Diagnostic& diagnostic : diagnostics_) text_ += format(diagnostic);
}

Refusal::Refusal(Location at, std::string message, std::string source_line, std::string hint) : diagnostics_(1) {
  diagnostics_.front() = {std::move(at), std::move(message), std::move(source_line), std::move(hint), Severity::kError};
  text_ = format(diagnostics_.front());
}

std::string format(const Diagnostic& diagnostic) {
  std::string text = diagnostic.at.file;
  if (diagnostic.at.line != 0) {
    text += ":" + std::to_string(diagnostic.at.line) + ":" + std::to_string(diagnostic.at.column);
  }
  text += (diagnostic.severity == Severity::kError ? ": error: " : ": warning: ") + diagnostic.message + "\n";
  if (!diagnostic.source_line.empty()) {
    text += "    " + diagnostic.source_line + "\n";
    if (diagnostic.at.column != 0) text += "    " + std::string(diagnostic.at.column - 1, ' ') + "^\n";
  }
  if (!diagnostic.hint.empty()) {
    text += "  hint: ";
    for (const char character : diagnostic.hint) {
      text += character;
      if (character == '\n') text += "        ";
    }
    text += "\n";
  }
  return text;
}

Diagnostic complain(const c::Header& header, const Location& at, std::string message, std::string hint) {
  std::string line;
  if (at.file == header.path && at.line >= 1 && at.line <= header.lines.size()) line = header.lines[at.line - 1];
  return {at, std::move(message), std::move(line), std::move(hint), Severity::kError};
}

}  // namespace bindgen
