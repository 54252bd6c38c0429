// Words without diacritics, times and addresses.
#include "memory/folding.hpp"
#include "memory/conversation.hpp"
#include "support/catch.hpp"

using namespace rkllm_mcp::memory;

TEST_CASE("Vietnamese words lose their marks, and đ becomes d") {
  CHECK(folded("tiếng") == "tieng");
  CHECK(folded("đường") == "duong");
  CHECK(folded("ậẫấầẩ") == "aaaaa");
  CHECK(folded("ươơưỹ") == "uoouy");
  CHECK(folded("ti\x65\xcc\x82\xcc\x81ng") == "tieng");
  CHECK(folded("naïve") == "naive");
  CHECK(folded("日本") == "日本");
}

TEST_CASE("the spellings that Unicode has of one word are one") {
  CHECK(canonical("ệ") == canonical("e\xcc\x82\xcc\xa3"));
  CHECK(canonical("ệ") == canonical("e\xcc\xa3\xcc\x82"));
  CHECK(canonical("ệ") == canonical("\xc3\xaa\xcc\xa3"));
  CHECK(canonical("ế") != canonical("ề"));
  CHECK(canonical("đ") != "d");
}

TEST_CASE("what is searched of a long text ends with a whole character") {
  const std::string text = std::string(256 * 1024 - 1, 'x') + "ế";
  CHECK(searched_part(text).size() == 256 * 1024 - 1);
  CHECK(searched_part("short") == "short");
}

TEST_CASE("times are written in UTC and read back") {
  CHECK(timestamp_of(1'700'000'000'123) == "2023-11-14T22:13:20.123Z");
  CHECK(timestamp_of(-1) == "1969-12-31T23:59:59.999Z");
  CHECK(time_of("2023-11-14T22:13:20.123Z") == 1'700'000'000'123);
  CHECK(time_of("2023-11-14T22:13:20Z") == 1'700'000'000'000);
  for (const char* const wrong :
       {"", "2023-11-14", "2023-13-14T22:13:20Z", "2023-11-14T22:13:20", "2023-11-14T22:13:20+01:00"}) {
    CHECK_FALSE(time_of(wrong));
  }
}

TEST_CASE("addresses of conversations are percent-encoded, and name another's space") {
  const Key key{"laptop", "a b/?ế"};
  CHECK(uri_of(key, "laptop") == "memory://conversation/a%20b%2F%3F%E1%BA%BF");
  CHECK(key_of(uri_of(key, "laptop"), "laptop") == key);
  CHECK(uri_of(key, "phone").ends_with("?space=laptop"));
  CHECK(key_of(uri_of(key, "phone"), "phone") == key);
  for (const char* const wrong : {"memory://conversation/", "memory://other/x", "memory://conversation/%4",
                                  "memory://conversation/%zz", "memory://conversation/x?y=z"}) {
    CHECK_FALSE(key_of(wrong, ""));
  }
}
