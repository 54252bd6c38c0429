// Complaints that look like a compiler's: where, what, the line itself, and what to do about it.
#pragma once

#include "read/c_facts.hpp"

#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace bindgen {

enum class Severity { kError, kWarning };

struct Diagnostic {
  Location at;
  std::string message;
  std::string source_line;  // the line at `at`; may be empty
  std::string hint;         // may have several lines
  Severity severity = Severity::kError;
};

// The input cannot be used. Carries everything that is wrong with it, not just the first thing.
class Refusal : public std::exception {
 public:
  explicit Refusal(std::vector<Diagnostic> diagnostics);
  Refusal(Location at, std::string message, std::string source_line = {}, std::string hint = {});
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::string text_;
};

std::string format(const Diagnostic& diagnostic);

// A complaint about a line of a header.
Diagnostic complain(const c::Header& header, const Location& at, std::string message, std::string hint = {});

}  // namespace bindgen
