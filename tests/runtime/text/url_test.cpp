#include "text/url.hpp"

#include "support/catch.hpp"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using test::has_text;

TEST_CASE("an address is taken apart and put together again") {
  const Url url = parse_url("HTTPS://Example.ORG:8443/a b/ü?q=1 2&x=%20%#part");
  CHECK(url.scheme == Url::Scheme::kHttps);
  CHECK(url.host == "example.org");
  CHECK(url.port == 8443);
  CHECK(url.target == "/a%20b/%C3%BC?q=1%202&x=%20%25");
  CHECK(url.text() == "https://example.org:8443/a%20b/%C3%BC?q=1%202&x=%20%25");
  CHECK(parse_url("http://x").text() == "http://x/");
  CHECK(parse_url("http://x:80?q").text() == "http://x/?q");
  CHECK(parse_url("http://[2001:DB8::1]:8080/").text() == "http://[2001:db8::1]:8080/");
  CHECK(parse_url("https://[::1]/").authority() == "[::1]");
}

TEST_CASE("what is no address, or could be read in two ways, is refused with what is wrong") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "http://"},
      {"example.org", "http://"},
      {"ftp://example.org/", "http://"},
      {"file:///etc/passwd", "http://"},
      {"javascript:alert(1)", "http://"},
      {"http:example.org", "//"},
      {"http://", "no host"},
      {"http://user@example.org/", "user name"},
      {"http://user:pass@127.0.0.1/", "user name"},
      {"http://example.org\\@127.0.0.1/", "backslash"},
      {"http://exa mple.org/", "host name"},
      {"http://b\xc3\xbc"
       "cher.example/",
       "xn--"},
      {"http://127.0.0.1%2f/", "host name"},
      {"http://example.org:0/", "port"},
      {"http://example.org:65536/", "port"},
      {"http://example.org:80a/", "port"},
      {"http://[::1/", "bracket"},
      {"http://[127.0.0.1]/", "IPv6"},
      {"http://[fe80::1%25eth0]/", "IPv6"},
      {"http://x/" + std::string(9000, 'a'), "8000"},
  };
  for (const auto& [text, complaint] : cases) {
    INFO(text.substr(0, 80));
    CHECK_THROWS_WITH(parse_url(text), has_text(complaint));
  }
}

TEST_CASE("references mean on a page what they mean in a browser") {
  const Url base = parse_url("https://example.org/a/b/c?x=1");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"d", "https://example.org/a/b/d"},
      {"./d", "https://example.org/a/b/d"},
      {"../d", "https://example.org/a/d"},
      {"../../../../d", "https://example.org/d"},
      {"..", "https://example.org/a/"},
      {"/d?y=../z", "https://example.org/d?y=../z"},
      {"//other.example/d", "https://other.example/d"},
      {"http://other.example:81", "http://other.example:81/"},
      {"?y=2", "https://example.org/a/b/c?y=2"},
      {"#part", "https://example.org/a/b/c?x=1"},
      {"", "https://example.org/a/b/c?x=1"},
      {" \n d e\t ", "https://example.org/a/b/d%20e"},
      {"/\\evil.example", "https://example.org/%5Cevil.example"},
  };
  for (const auto& [reference, meant] : cases) {
    INFO(reference);
    const auto url = resolve_url(base, reference);
    REQUIRE(url);
    CHECK(url->text() == meant);
  }
  for (const char* const reference :
       {"mailto:a@b", "javascript:void(0)", "data:text/html,x", "//user@host/", "http://"}) {
    INFO(reference);
    CHECK_FALSE(resolve_url(base, reference));
  }
}

TEST_CASE("a percent sign that begins no code stays as it is, or there is no text") {
  CHECK(percent_decoded("a%20b%2f%2B+") == "a b/++");
  CHECK(strictly_percent_decoded("a%20b%2f%2B+") == "a b/++");
  CHECK(strictly_percent_decoded("%2541") == "%41");  // decoded once
  CHECK(strictly_percent_decoded("") == "");
  for (const char* const wrong : {"%", "%4", "100%", "%zz", "%4z", "%%41", "%41%"}) {
    INFO(wrong);
    CHECK_FALSE(strictly_percent_decoded(wrong));
  }
  CHECK(percent_decoded("100%zz%%41%") == "100%zz%A%");
}

TEST_CASE("values of a query are found decoded, and encoded so that they are found again") {
  CHECK(query_value("/l/?uddg=https%3A%2F%2Fexample.org%2F%3Fa%3Db&rut=1", "uddg") == "https://example.org/?a=b");
  CHECK(query_value("a=1&b=x+y&b=z", "b") == "x y");
  CHECK(query_value("a=1&flag", "flag") == "");
  CHECK_FALSE(query_value("a=1", "b"));
  CHECK(query_value("a=%zz%4", "a") == "%zz%4");
  const std::string text = "s\xc3\xa2u r\xc4\x83ng & 100% + \"x\"";
  CHECK(query_value("?q=" + encoded_for_query(text), "q") == text);
}
