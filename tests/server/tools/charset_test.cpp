#include "tools/web/charset.hpp"

#include "support/catch.hpp"

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
