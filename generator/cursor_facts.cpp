#include "cursor_facts.hpp"

#include "clean_text.hpp"
#include "documentation.hpp"

namespace bindgen::clang {

Location location(CXCursor cursor) {
  CXFile file = nullptr;
  Location at;
  clang_getFileLocation(clang_getCursorLocation(cursor), &file, &at.line, &at.column, nullptr);
  at.file = text(clang_getFileName(file));
  return at;
}

Documentation documentation(CXCursor cursor) {
  return parse_comment(clean(text(clang_Cursor_getRawCommentText(cursor))));
}

}  // namespace bindgen::clang
