#include "transport/http/http_message.hpp"

#include "support/catch.hpp"

#include <string>

using namespace rkllm_mcp;

namespace {

http::Request with(const http::Headers& headers) {
  http::Request request;
  request.headers = headers;
  return request;
}

}  // namespace

TEST_CASE("names of headers are compared ignoring the case of ASCII letters, and no others") {
  CHECK(http::equal_ignoring_case("Content-Type", "content-TYPE"));
  CHECK_FALSE(http::equal_ignoring_case("Content-Type", "Content-Typ"));
  CHECK_FALSE(http::equal_ignoring_case("a", ""));
  CHECK(http::equal_ignoring_case("", ""));
  CHECK_FALSE(http::equal_ignoring_case("\xC3\x84", "\xC3\xA4"));
  CHECK_FALSE(http::equal_ignoring_case("@", "`"));  // one bit apart, as letters are
}

TEST_CASE("blanks and tabs around a text are left out, and nothing else") {
  CHECK(http::trim_blanks(" \t a b\t ") == "a b");
  CHECK(http::trim_blanks("").empty());
  CHECK(http::trim_blanks(" \t").empty());
  CHECK(http::trim_blanks("\na\n") == "\na\n");
}

TEST_CASE("a token is what RFC 9110 lets names be") {
  CHECK(http::is_token("X-Request_Id.1"));
  CHECK(http::is_token("!#$%&'*+-.^_`|~09azAZ"));
  for (const auto* wrong : {"", "a b", "a:b", "a(b)", "a\tb", "a/b", "\xC3\xA4", "a\"", "a,b", "{a}"}) {
    INFO(wrong);
    CHECK_FALSE(http::is_token(wrong));
  }
}

TEST_CASE("headers keep their order, and the first of a name is found") {
  http::Headers headers{{"A", "1"}, {"b", "2"}};
  headers.add("a", "3");
  CHECK(headers.size() == 3);
  CHECK(headers.find("a") == "1");
  CHECK(headers.find("B") == "2");
  CHECK_FALSE(headers.find("c"));
  CHECK(headers.count("A") == 2);
  CHECK(headers.count("c") == 0);
}

TEST_CASE("lists in several headers of a name are one list, whose elements are compared ignoring case") {
  const http::Headers headers{{"Connection", "keep-alive, Upgrade"}, {"connection", "x"}, {"Other", "close"}};
  CHECK(headers.lists("Connection", "upgrade"));
  CHECK(headers.lists("Connection", "X"));
  CHECK_FALSE(headers.lists("Connection", "close"));
  CHECK_FALSE(headers.lists("Connection", "keep"));
  CHECK_FALSE(headers.lists("Connection", "keep-alive, Upgrade"));
}

TEST_CASE("an access token is that of Authorization: Bearer, else that of x-api-key") {
  CHECK(with({{"Authorization", "Bearer abc"}}).bearer_token() == "abc");
  CHECK(with({{"authorization", "bearer  abc "}}).bearer_token() == "abc");
  CHECK(with({{"x-api-key", " abc "}}).bearer_token() == "abc");
  CHECK(with({{"x-api-key", "other"}, {"Authorization", "Bearer abc"}}).bearer_token() == "abc");
  CHECK(with({{"Authorization", "Basic abc"}, {"x-api-key", "key"}}).bearer_token() == "key");
  CHECK(with({{"Authorization", "Bearer"}}).bearer_token().empty());
  CHECK(with({{"Authorization", "Bearer "}}).bearer_token().empty());
  CHECK(with({}).bearer_token().empty());
}

TEST_CASE("a plain response says in words what was wrong, and of a status without a name so much") {
  const http::Response response = http::plain_response(404, "nothing is here");
  CHECK(response.status == 404);
  CHECK(response.content_type == "text/plain; charset=utf-8");
  CHECK(response.body == "404 Not Found: nothing is here\n");
  CHECK(http::plain_response(499, "").body == "499 Status: \n");
}
