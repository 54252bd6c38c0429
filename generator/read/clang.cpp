#include "read/clang.hpp"

#include "read/clean_text.hpp"
#include "read/documentation.hpp"

namespace bindgen::clang {

Location location(CXCursor cursor) {
  CXFile file = nullptr;
  Location at;
  clang_getFileLocation(clang_getCursorLocation(cursor), &file, &at.line, &at.column, nullptr);
  at.file = text(clang_getFileName(file));
  return at;
}

unsigned place(CXSourceLocation location) {
  unsigned offset = 0;
  clang_getExpansionLocation(location, nullptr, nullptr, nullptr, &offset);
  return offset;
}

Documentation documentation(CXCursor cursor, bool has_comment) {
  const std::string comment = text(clang_Cursor_getRawCommentText(cursor));
  Documentation found = parse_comment(has_comment ? clean(comment) : "");
  int is_deprecated = 0;
  CXString message;
  CXString of_unavailable;
  clang_getCursorPlatformAvailability(cursor, &is_deprecated, &message, nullptr, &of_unavailable, nullptr, 0);
  const std::string why = clean(text(message));
  text(of_unavailable);  // only so that it is freed
  if (is_deprecated == 0 || found.is_deprecated) return found;
  found.is_deprecated = true;
  found.deprecations = {why.empty() ? "Deprecated." : "Deprecated: " + why};
  found.text += (found.text.empty() ? "" : "\n\n") + found.deprecations.front();
  return found;
}

}  // namespace bindgen::clang
