#include "transport/http/http_message.hpp"

#include "support/catch.hpp"

#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp;

TEST_CASE("letters of ASCII are the same in either case, and nothing else is") {
  CHECK(http::equal_ignoring_case("", ""));
  CHECK(http::equal_ignoring_case("Content-TYPE", "cONTENT-type"));
  CHECK(http::equal_ignoring_case("azAZ", "AZaz"));
  CHECK_FALSE(http::equal_ignoring_case("a", "ab"));
  CHECK_FALSE(http::equal_ignoring_case("ab", "a"));
  CHECK_FALSE(http::equal_ignoring_case("@", "`"));
  CHECK_FALSE(http::equal_ignoring_case("[", "{"));
  CHECK_FALSE(http::equal_ignoring_case("\xC3\x9C", "\xC3\xBC"));  // Ü, ü
  CHECK_FALSE(http::equal_ignoring_case("\xDC", "\xFC"));
}

TEST_CASE("blanks and tabs go from both ends of a text, and from nowhere else") {
  CHECK(http::trim_blanks("  \t a \t b\t ") == "a \t b");
  CHECK(http::trim_blanks("a") == "a");
  CHECK(http::trim_blanks("").empty());
  CHECK(http::trim_blanks(" \t").empty());
  CHECK(http::trim_blanks("\r\n a\v") == "\r\n a\v");
  CHECK(http::trim_blanks("\xC2\xA0") == "\xC2\xA0");
}

TEST_CASE("a token has letters, digits and the punctuation of RFC 9110, and is not empty") {
  const std::string allowed = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  CHECK(http::is_token(allowed));
  CHECK_FALSE(http::is_token(""));
  for (int code = 0; code < 256; ++code) {
    CAPTURE(code);
    const std::string byte(1, static_cast<char>(code));
    CHECK(http::is_token(byte) == (allowed.find(byte) != std::string::npos));
    CHECK(http::is_token("a" + byte) == http::is_token(byte));
  }
}

TEST_CASE("header fields keep their order, and are found by their name in either case, the first of it") {
  http::Headers headers{{"Accept", "a"}, {"X-One", ""}};
  headers.add("accept", "b");
  CHECK(headers.size() == 3);
  CHECK(headers.find("ACCEPT") == "a");
  CHECK(headers.find("x-one") == "");
  CHECK_FALSE(headers.find("X-On"));
  CHECK_FALSE(headers.find(""));
  CHECK(headers.count("aCCEPT") == 2);
  CHECK(headers.count("X-Two") == 0);
  std::vector<std::string> values;
  for (const auto& [name, value] : headers) values.push_back(name + "=" + value);
  CHECK(values == std::vector<std::string>{"Accept=a", "X-One=", "accept=b"});
}

TEST_CASE("a list is all fields of its name together, each element whole, in either case and without its blanks") {
  const http::Headers headers{{"Connection", "keep-alive ,\tUpgrade"}, {"connection", "x"}, {"Other", "close"}};
  for (const char* const element : {"keep-alive", "upgrade", "UPGRADE", "X"}) {
    CAPTURE(element);
    CHECK(headers.lists("CONNECTION", element));
  }
  for (const char* const element : {"keep", "alive", "close", "keep-alive ,\tUpgrade", ""}) {
    CAPTURE(element);
    CHECK_FALSE(headers.lists("Connection", element));
  }
  CHECK(http::Headers{{"A", "b,,c"}}.lists("A", "c"));
  CHECK(http::Headers{{"A", "b, c"}}.lists("a", "c", http::Headers::Case::kCounts));
  CHECK_FALSE(http::Headers{{"A", "b, C"}}.lists("A", "c", http::Headers::Case::kCounts));
  CHECK_FALSE(http::Headers().lists("A", "b"));
}

TEST_CASE("a request's access token is that of its bearer, else of x-api-key") {
  const auto token_of = [](const http::Headers& headers) {
    http::Request request;
    request.headers = headers;
    return std::string(request.bearer_token());
  };
  CHECK(token_of({}).empty());
  CHECK(token_of({{"Authorization", "Bearer correct-horse"}}) == "correct-horse");
  CHECK(token_of({{"authorization", "bEARER \t correct-horse  "}}) == "correct-horse");
  CHECK(token_of({{"X-Api-Key", " battery "}}) == "battery");
  CHECK(token_of({{"x-api-key", "battery"}, {"Authorization", "Bearer correct-horse"}}) == "correct-horse");
  CHECK(token_of({{"x-api-key", "battery"}, {"Authorization", "Basic YTpi"}}) == "battery");
  for (const char* const other : {"", "Bearer", "Bearer ", "Bearercorrect", "Basic correct-horse", "correct-horse"}) {
    CAPTURE(other);
    CHECK(token_of({{"Authorization", other}}).empty());
  }
}

TEST_CASE("a status has the words of RFC 9110, and one that is not known has words, too") {
  CHECK(http::reason_phrase(101) == "Switching Protocols");
  CHECK(http::reason_phrase(200) == "OK");
  CHECK(http::reason_phrase(202) == "Accepted");
  CHECK(http::reason_phrase(404) == "Not Found");
  CHECK(http::reason_phrase(413) == "Content Too Large");
  CHECK(http::reason_phrase(431) == "Request Header Fields Too Large");
  CHECK(http::reason_phrase(505) == "HTTP Version Not Supported");
  for (const int unknown : {-1, 0, 299, 418, 1000}) CHECK(http::reason_phrase(unknown) == "Status");
}

TEST_CASE("a plain response says its status and what was wrong, as text") {
  const http::Response response = http::plain_response(404, "no gr\xC3\xBC\xC3\x9F here");
  CHECK(response.status == 404);
  CHECK(response.content_type == "text/plain; charset=utf-8");
  CHECK(response.body == "404 Not Found: no gr\xC3\xBC\xC3\x9F here\n");
  CHECK(response.headers.size() == 0);
}

TEST_CASE("a time is told as the protocol has it, whatever the locale") {
  CHECK(http::http_date(784'111'777) == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(http::http_date(0) == "Thu, 01 Jan 1970 00:00:00 GMT");
  CHECK(http::http_date(951'782'400) == "Tue, 29 Feb 2000 00:00:00 GMT");
}
