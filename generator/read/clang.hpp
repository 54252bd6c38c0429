// libclang's C API, with owners for what it allocates, and what is read of any declaration. The only file that includes
// clang-c: nothing beyond read/ sees a cursor. Uses only what libclang 14 to 19 have in common.
#pragma once

#include "read/c_facts.hpp"

#include <clang-c/Index.h>

#include <memory>
#include <string>
#include <vector>

namespace bindgen::clang {

inline std::string text(CXString string) {
  const char* characters = clang_getCString(string);
  std::string copy = characters != nullptr ? characters : "";
  clang_disposeString(string);
  return copy;
}

inline std::string spelling(CXCursor cursor) { return text(clang_getCursorSpelling(cursor)); }

struct Release {
  void operator()(void* index) const { clang_disposeIndex(index); }
  void operator()(CXTranslationUnit unit) const { clang_disposeTranslationUnit(unit); }
};
using Index = std::unique_ptr<void, Release>;
using Unit = std::unique_ptr<std::remove_pointer_t<CXTranslationUnit>, Release>;

inline CXFile main_file(CXTranslationUnit unit) {
  return clang_getFile(unit, text(clang_getTranslationUnitSpelling(unit)).c_str());
}

// Of the target that the unit was parsed for, in bytes.
inline unsigned pointer_size(CXTranslationUnit unit) {
  CXTargetInfo target = clang_getTranslationUnitTargetInfo(unit);
  const int bits = clang_TargetInfo_getPointerWidth(target);
  clang_TargetInfo_dispose(target);
  return bits > 0 ? static_cast<unsigned>(bits) / 8 : 0;
}

// The direct children, in source order.
inline std::vector<CXCursor> children(CXCursor cursor) {
  std::vector<CXCursor> found;
  clang_visitChildren(
      cursor,
      [](CXCursor child, CXCursor, CXClientData data) {
        static_cast<std::vector<CXCursor>*>(data)->push_back(child);
        return CXChildVisit_Continue;
      },
      &found);
  return found;
}

// Where a declaration stands, and what the comment before it says.
Location location(CXCursor cursor);
unsigned place(CXSourceLocation location);  // in its file, in bytes; macros are where they are used
// `has_comment`: false if the comment that clang has for it is another declaration's.
Documentation documentation(CXCursor cursor, bool has_comment = true);

}  // namespace bindgen::clang
