#include "tools/web/charset.hpp"

#include "text/utf8.hpp"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kFallback = "windows-1252";

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// The web's name of an encoding as iconv has it. (What is called ISO-8859-1 there is Windows-1252, and so on.)
std::string iconv_name(const std::string& label) {
  struct Alias {
    std::string_view label;
    const char* name;
  };
  constexpr std::array kAliases{
      Alias{"utf8", "UTF-8"},           Alias{"iso-8859-1", "WINDOWS-1252"},
      Alias{"latin1", "WINDOWS-1252"},  Alias{"us-ascii", "WINDOWS-1252"},
      Alias{"ascii", "WINDOWS-1252"},   Alias{"iso-8859-9", "WINDOWS-1254"},
      Alias{"gb2312", "GB18030"},       Alias{"gbk", "GB18030"},
      Alias{"shift_jis", "CP932"},      Alias{"shift-jis", "CP932"},
      Alias{"sjis", "CP932"},           Alias{"euc-kr", "CP949"},
      Alias{"ks_c_5601-1987", "CP949"}, Alias{"big5", "BIG5-HKSCS"},
      Alias{"utf-16", "UTF-16LE"},      Alias{"tis-620", "WINDOWS-874"},
      Alias{"x-sjis", "CP932"},
  };
  const auto found = std::ranges::find(kAliases, label, &Alias::label);
  return found == kAliases.end() ? label : found->name;
}

// iconv's own extensions ("//TRANSLIT") are not for the web.
bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= 40 && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == ':';
  });
}

// The value of charset= in the text, as of a header or of a page's <meta>.
std::string charset_in(std::string_view text) {
  const std::string lowered = lower(text);
  for (auto at = lowered.find("charset"); at != std::string::npos; at = lowered.find("charset", at + 1)) {
    auto begin = lowered.find_first_not_of(" \t\r\n", at + 7);
    if (begin == std::string::npos || lowered[begin] != '=') continue;
    begin = lowered.find_first_not_of(" \t\r\n\"'", begin + 1);
    if (begin == std::string::npos) return {};
    const auto end = lowered.find_first_of(" \t\r\n\"';,/>", begin);
    const auto label = lowered.substr(begin, end == std::string::npos ? end : end - begin);
    return is_label(label) ? label : std::string();
  }
  return {};
}

class Converter {
 public:
  explicit Converter(const std::string& from) : handle_(::iconv_open("UTF-8", from.c_str())) {}
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;
  ~Converter() {
    if (is_open()) ::iconv_close(handle_);
  }

  bool is_open() const { return handle_ != reinterpret_cast<iconv_t>(-1); }  // NOLINT: iconv's own sign of failure

  std::string convert(std::string_view bytes) {
    std::string text;
    std::array<char, 16384> buffer{};
    char* in = const_cast<char*>(bytes.data());  // NOLINT: iconv only reads it
    std::size_t left = bytes.size();
    while (left > 0) {
      char* out = buffer.data();
      std::size_t room = buffer.size();
      const auto result = ::iconv(handle_, &in, &left, &out, &room);
      const int error = errno;
      text.append(buffer.data(), buffer.size() - room);
      if (result != static_cast<std::size_t>(-1) || error == E2BIG) continue;
      text += kReplacement;
      if (error == EINVAL) break;  // it ends inside a character
      ++in;
      --left;
      ::iconv(handle_, nullptr, nullptr, nullptr, nullptr);
    }
    // Some encodings hold a letter back, in case a mark for it follows.
    char* out = buffer.data();
    std::size_t room = buffer.size();
    ::iconv(handle_, nullptr, nullptr, &out, &room);
    text.append(buffer.data(), buffer.size() - room);
    return text;
  }

 private:
  iconv_t handle_;
};

// UTF-8 whose wrong bytes have become U+FFFD. (iconv refuses to see wrong bytes as wrong only in some of its versions.)
std::string repaired_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    std::size_t length = 1;
    const auto first = static_cast<unsigned char>(bytes[0]);
    if (first >= 0xf0) {
      length = 4;
    } else if (first >= 0xe0) {
      length = 3;
    } else if (first >= 0xc0) {
      length = 2;
    }
    const auto character = bytes.substr(0, length);
    if (character.size() == length && is_valid_utf8(character)) {
      text += character;
    } else {
      text += kReplacement;
      length = 1;
    }
    bytes.remove_prefix(std::min(length, bytes.size()));
  }
  return text;
}

bool is_ascii(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](unsigned char c) { return c < 0x80; });
}

struct Mark {
  std::string_view bytes;
  const char* charset;
};

std::optional<Mark> byte_order_mark(std::string_view bytes) {
  constexpr std::array kMarks{Mark{"\xEF\xBB\xBF", "utf-8"}, Mark{"\xFF\xFE", "utf-16le"},
                              Mark{"\xFE\xFF", "utf-16be"}};
  for (const Mark& mark : kMarks) {
    if (bytes.starts_with(mark.bytes)) return mark;
  }
  return std::nullopt;
}

// Where a body was cut off, the last character may be half there.
std::string_view without_half_character(std::string_view bytes) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, bytes.size()); ++back) {
    const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
    if (byte >= 0xc0) return bytes.substr(0, bytes.size() - back);
    if (byte < 0x80) break;
  }
  return bytes;
}

DecodedText read_as(std::string_view bytes, const std::string& charset) {
  const std::string name = iconv_name(charset);
  if (name == "UTF-8" || name == "utf-8") return {repaired_utf8(bytes), "utf-8"};
  Converter converter(name);
  if (converter.is_open()) return {repaired_utf8(converter.convert(bytes)), charset};
  return {Converter("WINDOWS-1252").convert(bytes), std::string(kFallback)};
}

std::string_view meta_part(std::string_view bytes) {
  constexpr std::size_t kWherePagesSayIt = 1024;
  return bytes.substr(0, kWherePagesSayIt);
}

DecodedText decoded_with_nul(std::string_view bytes, std::string_view content_type) {
  if (const auto mark = byte_order_mark(bytes)) return read_as(bytes.substr(mark->bytes.size()), mark->charset);
  if (!is_ascii(bytes)) {
    if (is_valid_utf8(bytes)) return {std::string(bytes), "utf-8"};
    const auto whole = without_half_character(bytes);
    if (!is_ascii(whole) && is_valid_utf8(whole)) return read_as(bytes, "utf-8");
  }
  std::string charset = charset_of(content_type);
  if (charset.empty()) charset = charset_in(meta_part(bytes));
  if (charset.empty()) charset = is_ascii(bytes) ? "utf-8" : std::string(kFallback);
  return read_as(bytes, charset);
}

}  // namespace

std::string charset_of(std::string_view content_type) {
  const auto semicolon = content_type.find(';');
  return semicolon == std::string_view::npos ? std::string() : charset_in(content_type.substr(semicolon));
}

DecodedText decode_text(std::string_view bytes, std::string_view content_type) {
  DecodedText decoded = decoded_with_nul(bytes, content_type);
  std::erase(decoded.text, '\0');
  return decoded;
}

}  // namespace rkllm_mcp
