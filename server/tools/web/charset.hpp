// Which encoding a text from the web has, and the text in UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace rkllm_mcp {

struct DecodedText {
  std::string text;     // valid UTF-8, without U+0000; what could not be read is U+FFFD
  std::string charset;  // that it was read as, in lower case
};

// In this order: a byte order mark; valid UTF-8, whatever else is claimed (many servers claim what they were once set
// up with, and no other encoding looks like it by chance); `content_type`'s charset; that of a page's <meta>; and where
// nothing is claimed, or an encoding that nobody knows, windows-1252.
DecodedText decode_text(std::string_view bytes, std::string_view content_type);

// "text/html; Charset=\"UTF-8\"" gives "utf-8"; empty if there is none.
std::string charset_of(std::string_view content_type);

}  // namespace rkllm_mcp
