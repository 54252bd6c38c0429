#include "tools/web/charset.hpp"

#include "support/catch.hpp"

#include <array>
#include <string>

using namespace rkllm_mcp;

namespace {

std::string decoded(const std::string& bytes, const std::string& content_type = "text/html") {
  return decode_text(bytes, content_type).text;
}

}  // namespace

TEST_CASE("text is read in the encoding that it has") {
  CHECK(decoded("\xc3\xa9", "text/html; charset=utf-8") == "é");
  CHECK(decoded("\xe9", "text/html; charset=ISO-8859-1") == "é");
  CHECK(decoded("\x93x\x94", "text/html; charset=\"iso-8859-1\"") == "“x”");
  CHECK(decoded("\xe9", "text/html;Charset = windows-1258 ; x=y") == "é");
  CHECK(decoded("<meta charset='koi8-r'>\xd0\xd2\xc9") == "<meta charset='koi8-r'>при");
  CHECK(decoded("<meta http-equiv=Content-Type content=\"text/html; charset=Shift_JIS\">\x93\xfa") ==
        "<meta http-equiv=Content-Type content=\"text/html; charset=Shift_JIS\">日");
  CHECK(decoded(std::string("\xff\xfe\x41\x00\xe9\x00", 6)) == "Aé");
  CHECK(decoded(std::string("\xfe\xff\x00\x41", 4)) == "A");
  CHECK(decoded("\xef\xbb\xbfx", "text/html; charset=iso-8859-1") == "x");
  CHECK(decoded("\xe9t\xe9") == "été");
}

TEST_CASE("a wrong charset does not spoil what is UTF-8, nor let through what is not") {
  CHECK(decoded("s\xc3\xa2u r\xc4\x83ng", "text/html; charset=iso-8859-1") == "sâu răng");
  CHECK(decoded("caf\xe9 x", "text/html; charset=utf-8") == "caf\xEF\xBF\xBD x");
  CHECK(decoded("\xe9", "text/html; charset=x-nobody-knows") == "é");
  CHECK(decoded("\xe9", "text/html; charset=utf-8//IGNORE") == "\xEF\xBF\xBD");
  CHECK(decoded("\x93", "text/html; charset=shift_jis") == "\xEF\xBF\xBD");
  CHECK(decoded("abc s\xc3\xa2u \xe1\xba") == "abc sâu \xEF\xBF\xBD\xEF\xBF\xBD");  // cut in a character
  CHECK(decoded(std::string("a\0b", 3)) == "ab");
  CHECK(decoded("") == "");
}

TEST_CASE("the charset that was used is told") {
  CHECK(decode_text("\xe9", "text/html; charset=ISO-8859-15").charset == "iso-8859-15");
  CHECK(decode_text("\xe9", "text/html").charset == "windows-1252");
  CHECK(decode_text("x", "text/html").charset == "utf-8");
}

TEST_CASE("the encodings of the web are read by their labels") {
  struct Sample {
    std::string label;
    std::string bytes;
    std::string text;
  };
  const std::array samples{
      Sample{"ibm866", "\xaf", "п"},
      Sample{"iso-8859-2", "\xb1", "ą"},
      Sample{"iso-8859-3", "\xa6", "Ĥ"},
      Sample{"iso-8859-4", "\xa2", "ĸ"},
      Sample{"iso-8859-5", "\xd6", "ж"},
      Sample{"iso-8859-6", "\xc7", "ا"},
      Sample{"greek", "\xe1", "α"},
      Sample{"iso-8859-8-i", "\xe0", "א"},
      Sample{"iso-8859-9", "\xfd", "ı"},
      Sample{"iso-8859-10", "\xb6", "ķ"},
      Sample{"iso-8859-13", "\xe0", "ą"},
      Sample{"iso-8859-14", "\xa1", "Ḃ"},
      Sample{"iso-8859-15", "\xa4", "€"},
      Sample{"iso-8859-16", "\xaa", "Ș"},
      Sample{"koi8-r", "\xc1", "а"},
      Sample{"koi8-u", "\xa4", "є"},
      Sample{"macintosh", "\x8e", "é"},
      Sample{"x-mac-cyrillic", "\x80", "А"},
      Sample{"tis-620", "\xa1", "ก"},
      Sample{"cp1250", "\xb9", "ą"},
      Sample{"windows-1251", "\xe6", "ж"},
      Sample{"x-cp1252", "\x80", "€"},
      Sample{"windows-1253", "\xe1", "α"},
      Sample{"windows-1255", "\xe0", "א"},
      Sample{"windows-1256", "\xc7", "ا"},
      Sample{"windows-1257", "\xe0", "ą"},
      Sample{"windows-1258", "\xd0", "Đ"},
      Sample{"gb2312", "\xd6\xd0", "中"},
      Sample{"gb18030", "\x81\x39\xee\x39", "㐀"},
      Sample{"big5", "\xa4\xa4", "中"},
      Sample{"euc-jp", "\xc6\xfc", "日"},
      Sample{"ms932", "\x93\xfa", "日"},
      Sample{"ks_c_5601-1987", "\xb0\xa1", "가"},
      Sample{"utf-16", std::string("\xe9\0", 2), "é"},
      Sample{"utf-16be", std::string("\0\xe9", 2), "é"},
  };
  for (const Sample& sample : samples) {
    INFO(sample.label);
    const DecodedText read = decode_text(sample.bytes, "text/html; charset=" + sample.label);
    CHECK(read.text == sample.text);
    CHECK(read.charset == sample.label);
  }
}

// iconv knows them all, and has aborted on bytes that claimed to be some of them.
TEST_CASE("an encoding that is none of the web's counts as unknown, and its converter is never tried") {
  for (const std::string label : {"iso-2022-jp", "iso-2022-jp-3", "csiso2022jp2", "iso-2022-cn-ext", "iso-2022-kr",
                                  "ibm1390", "ibm1399", "ibm037", "utf-7", "utf-32", "ucs-4be", "euc-tw", "tscii"}) {
    INFO(label);
    const DecodedText read = decode_text("+AGE- \xe9", "text/html; charset=" + label);
    CHECK(read.text == "+AGE- é");
    CHECK(read.charset == "windows-1252");
  }
}
