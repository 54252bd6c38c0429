#include "tools/web/charset.hpp"

#include "text/utf8.hpp"

#include <rkllm_mcp/lower_case.hpp>

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

// The encodings that pages may have, by the labels that they usually have there: https://encoding.spec.whatwg.org,
// which takes ISO-8859-1 for Windows-1252, and so on. iconv is told of no others: it knows three times as many, and
// bytes have been found that some of those abort this process with (CVE-2021-3326: ISO-2022-JP-3). ISO-2022-JP is left
// out as well, for what it has in common with them. Empty: none of these.
std::string iconv_name(std::string_view label) {
  struct Encoding {
    std::string_view name;    // as iconv has it
    std::string_view labels;  // with a space between them
  };
  constexpr std::array kEncodings{
      Encoding{"UTF-8", "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8"},
      Encoding{"WINDOWS-1252",
               "windows-1252 iso-8859-1 latin1 us-ascii ascii ansi_x3.4-1968 cp1252 cp819 csisolatin1 ibm819 "
               "iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 x-cp1252"},
      Encoding{"IBM866", "ibm866 866 cp866 csibm866"},
      Encoding{"ISO-8859-2",
               "iso-8859-2 latin2 csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2"},
      Encoding{"ISO-8859-3",
               "iso-8859-3 latin3 csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3"},
      Encoding{"ISO-8859-4",
               "iso-8859-4 latin4 csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4"},
      Encoding{"ISO-8859-5",
               "iso-8859-5 cyrillic csisolatincyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988"},
      Encoding{"ISO-8859-6",
               "iso-8859-6 arabic asmo-708 csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 "
               "iso88596 iso_8859-6 iso_8859-6:1987 csiso88596e csiso88596i"},
      Encoding{"ISO-8859-7",
               "iso-8859-7 greek greek8 csisolatingreek ecma-118 elot_928 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
               "iso_8859-7:1987 "
               "sun_eu_greek"},
      Encoding{"ISO-8859-8",
               "iso-8859-8 iso-8859-8-i iso-8859-8-e hebrew visual logical csiso88598e csiso88598i csisolatinhebrew "
               "iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988"},
      Encoding{"ISO-8859-10", "iso-8859-10 latin6 csisolatin6 iso-ir-157 iso8859-10 iso885910 l6"},
      Encoding{"ISO-8859-13", "iso-8859-13 iso8859-13 iso885913"},
      Encoding{"ISO-8859-14", "iso-8859-14 iso8859-14 iso885914"},
      Encoding{"ISO-8859-15", "iso-8859-15 csisolatin9 iso8859-15 iso885915 iso_8859-15 l9"},
      Encoding{"ISO-8859-16", "iso-8859-16"},
      Encoding{"KOI8-R", "koi8-r koi8 koi8_r koi cskoi8r"},
      Encoding{"KOI8-U", "koi8-u koi8-ru"},
      Encoding{"MACINTOSH", "macintosh mac x-mac-roman csmacintosh"},
      Encoding{"MAC-CYRILLIC", "x-mac-cyrillic x-mac-ukrainian"},
      Encoding{"WINDOWS-874", "windows-874 tis-620 dos-874 iso-8859-11 iso8859-11 iso885911"},
      Encoding{"WINDOWS-1250", "windows-1250 cp1250 x-cp1250"},
      Encoding{"WINDOWS-1251", "windows-1251 cp1251 x-cp1251"},
      Encoding{"WINDOWS-1253", "windows-1253 cp1253 x-cp1253"},
      Encoding{"WINDOWS-1254",
               "windows-1254 iso-8859-9 latin5 cp1254 csisolatin5 iso-ir-148 iso8859-9 iso88599 iso_8859-9 "
               "iso_8859-9:1989 l5 x-cp1254"},
      Encoding{"WINDOWS-1255", "windows-1255 cp1255 x-cp1255"},
      Encoding{"WINDOWS-1256", "windows-1256 cp1256 x-cp1256"},
      Encoding{"WINDOWS-1257", "windows-1257 cp1257 x-cp1257"},
      Encoding{"WINDOWS-1258", "windows-1258 cp1258 x-cp1258"},
      Encoding{"GB18030", "gb18030 gbk gb2312 x-gbk chinese csgb2312 csiso58gb231280 gb_2312 gb_2312-80 iso-ir-58"},
      Encoding{"BIG5-HKSCS", "big5 big5-hkscs cn-big5 csbig5 x-x-big5"},
      Encoding{"EUC-JP", "euc-jp x-euc-jp cseucpkdfmtjapanese"},
      Encoding{"CP932", "shift_jis shift-jis sjis x-sjis windows-31j ms932 ms_kanji csshiftjis"},
      Encoding{"CP949",
               "euc-kr korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949 cseuckr csksc56011987 "
               "iso-ir-149"},
      Encoding{"UTF-16LE", "utf-16le utf-16 ucs-2 unicode csunicode iso-10646-ucs-2 unicodefeff"},
      Encoding{"UTF-16BE", "utf-16be unicodefffe"},
  };
  for (const Encoding& encoding : kEncodings) {
    for (std::string_view rest = encoding.labels; !rest.empty();) {
      const auto end = std::min(rest.find(' '), rest.size());
      if (rest.substr(0, end) == label) return std::string(encoding.name);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return {};
}

// iconv's own extensions ("//TRANSLIT") are not for the web.
bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= 40 && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == ':';
  });
}

// The value of charset= in the text, as of a header or of a page's <meta>.
std::string charset_in(std::string_view text) {
  const std::string lowered = in_lower_case(text);
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
  if (name == "UTF-8") return {repaired_utf8(bytes), "utf-8"};
  if (!name.empty()) {
    Converter converter(name);
    if (converter.is_open()) return {repaired_utf8(converter.convert(bytes)), charset};
  }
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
