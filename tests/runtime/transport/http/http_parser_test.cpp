#include "transport/http/http_parser.hpp"

#include "../mutation.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace rkllm_mcp;
using rkllm_mcp::test::Mutator;

namespace {

const http::ParserLimits kLimits{200, 1000, 10, 100};

// Everything a parser makes of some bytes: its requests, then how it ended.
struct Outcome {
  std::vector<std::string> requests;
  int refused_with = 0;
  bool operator==(const Outcome&) const = default;
};

std::string describe(const http::Request& request) {
  auto text = request.method + " " + request.path + "?" + request.query + " host=" + request.host;
  for (const auto& [name, value] : request.headers) text += "\n" + name + "=" + value;
  return text + "\n" + (request.keep_alive ? "keep" : "close") + "\n" + request.body;
}

Outcome parse(std::string_view bytes, std::size_t piece) {
  Outcome outcome;
  http::Parser parser(kLimits);
  while (!bytes.empty()) {
    auto part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    while (!part.empty()) {
      part.remove_prefix(parser.feed(part));
      if (parser.refusal()) {
        outcome.refused_with = parser.refusal()->status;
        return outcome;
      }
      if (parser.complete()) outcome.requests.push_back(describe(parser.take()));
    }
  }
  return outcome;
}

int refusal_of(const std::string& bytes) {
  const auto outcome = parse(bytes, bytes.size());
  CHECK(parse(bytes, 1) == outcome);
  return outcome.refused_with;
}

http::Request request_of(const std::string& bytes) {
  http::Parser parser(kLimits);
  CHECK(parser.feed(bytes) == bytes.size());
  REQUIRE(parser.complete());
  return parser.take();
}

const std::string kHost = "Host: localhost\r\n";

}  // namespace

TEST_CASE("HTTP parser: a request becomes its parts") {
  const auto request = request_of(
      "POST /mcp?a=1&b HTTP/1.1\r\nhOsT: localhost:80\r\nX-Y:  two words \t\r\nContent-Length: 5\r\n\r\nhello");
  CHECK(request.method == "POST");
  CHECK(request.target == "/mcp?a=1&b");
  CHECK(request.path == "/mcp");
  CHECK(request.query == "a=1&b");
  CHECK(request.host == "localhost:80");
  CHECK(request.headers.find("x-y") == std::string_view("two words"));
  CHECK_FALSE(request.headers.find("x"));
  CHECK(request.body == "hello");
  CHECK(request.keep_alive);
}

TEST_CASE("HTTP parser: the connection stays open as the client wants it") {
  const auto keeps = [](const std::string& version, const std::string& connection) {
    return request_of("GET / HTTP/" + version + "\r\n" + kHost + connection + "\r\n").keep_alive;
  };
  CHECK(keeps("1.1", ""));
  CHECK_FALSE(keeps("1.1", "Connection: x, Close\r\n"));
  CHECK_FALSE(keeps("1.0", ""));
  CHECK(keeps("1.0", "Connection: Keep-Alive\r\n"));
}

TEST_CASE("HTTP parser: chunked bodies are joined, extensions and trailers ignored") {
  const auto request = request_of(
      "POST / HTTP/1.1\r\n" + kHost +
      "Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n00A;x=\"y\"\r\n, chunked \r\n0\r\nX-Trailer: 1\r\n\r\n");
  CHECK(request.body == "hello, chunked ");
  CHECK_FALSE(request.headers.find("X-Trailer"));
}

TEST_CASE("HTTP parser: absolute targets, asterisks and one empty line are understood") {
  const auto request = request_of("\r\nGET http://127.0.0.1:80?q HTTP/1.1\r\n" + kHost + "\r\n");
  CHECK(request.host == "127.0.0.1:80");
  CHECK(request.target == "/?q");
  CHECK(request_of("OPTIONS * HTTP/1.1\r\n" + kHost + "\r\n").path == "*");
  CHECK(request_of("GET / HTTP/1.0\r\n\r\n").host.empty());
}

TEST_CASE("HTTP parser: what is malformed or ambiguous is refused with the right status") {
  const auto with = [](const std::string& headers) { return "POST / HTTP/1.1\r\n" + kHost + headers + "\r\n"; };
  const std::vector<std::pair<int, std::string>> cases = {
      {400, "GET / HTTP/1.1\n"},
      {400, "GET / HTTP/1.1\r\nHost: localhost\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: local\rhost\r\n\r\n"},
      {400, "GET /\rx HTTP/1.1\r\n"},
      {400, "\r\n\r\n"},
      {400, "GET /\r\n"},
      {400, "GET  HTTP/1.1\r\n"},
      {400, "GET / x HTTP/1.1\r\n"},
      {400, " GET / HTTP/1.1\r\n"},
      {400, "G@T / HTTP/1.1\r\n"},
      {400, "GET x HTTP/1.1\r\n"},
      {400, "GET * HTTP/1.1\r\n"},
      {400, "GET /#x HTTP/1.1\r\n"},
      {400, "GET /\x80 HTTP/1.1\r\n"},
      {400, "GET http:/// HTTP/1.1\r\n"},
      {400, "GET http://user@host/ HTTP/1.1\r\n"},
      {400, "GET / http/1.1\r\n"},
      {400, "GET / HTTP/11\r\n"},
      {505, "GET / HTTP/2.0\r\n"},
      {505, "PRI * HTTP/2.0\r\n"},
      {505, "GET / HTTP/1.2\r\n"},
      {501, "BREW / HTTP/1.1\r\n"},
      {501, "CONNECT localhost:1 HTTP/1.1\r\n"},
      {501, "TRACE / HTTP/1.1\r\n"},
      {414, "GET /" + std::string(300, 'x') + " HTTP/1.1\r\n"},
      {414, "GET /" + std::string(300, 'x')},
      {400, "GET /\r" + std::string(300, 'x')},
      {400, "GET / HTTP/1.1\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"},
      {400, "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost:\r\n\r\n"},
      {400, "GET / HTTP/1.0\r\nHost: \t\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n"},
      {400, with("X : 1\r\n")},
      {400, with("X\r\n")},
      {400, with(": 1\r\n")},
      {400, with("X Y: 1\r\n")},
      {400, with("X: 1\r\n folded\r\n")},
      {400, with("X: 1\r\n\tfolded\r\n")},
      {400, with(std::string("X: \0\r\n", 6))},
      {400, with("X: \x7F\r\n")},
      {431, with("X: " + std::string(1000, 'x') + "\r\n")},
      {431, with("X: " + std::string(600, 'x') + "\r\nY: " + std::string(600, 'x') + "\r\n")},
      {431, with("A:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\n")},
      {400, with("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n")},
      {400, with("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n")},
      {400, with("Content-Length: 1\r\nContent-Length: 2\r\n")},
      {400, with("Content-Length: 1, 1\r\n")},
      {400, with("Content-Length: +1\r\n")},
      {400, with("Content-Length: -1\r\n")},
      {400, with("Content-Length: 0x1\r\n")},
      {400, with("Content-Length: 1 1\r\n")},
      {400, with("Content-Length:\r\n")},
      {413, with("Content-Length: 101\r\n")},
      {413, with("Content-Length: 99999999999999999999999999\r\n")},
      {501, with("Transfer-Encoding: gzip, chunked\r\n")},
      {501, with("Transfer-Encoding: chunked, chunked\r\n")},
      {501, with("Transfer-Encoding: xchunked\r\n")},
      {501, with("Transfer-Encoding:\r\n")},
      {400, with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")},
      {400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {417, with("Expect: the unexpected\r\n")},
      {400, with("Transfer-Encoding: chunked\r\n") + "x\r\n"},
      {400, with("Transfer-Encoding: chunked\r\n") + "-1\r\n"},
      {400, with("Transfer-Encoding: chunked\r\n") + "0x1\r\n"},
      {400, with("Transfer-Encoding: chunked\r\n") + " 1\r\n"},
      {400, with("Transfer-Encoding: chunked\r\n") + "1 \r\n"},
      {400, with("Transfer-Encoding: chunked\r\n") + "\r\n"},
      {400, with("Transfer-Encoding: chunked\r\n") + "00000000000000001\r\n"},
      {400, with("Transfer-Encoding: chunked\r\n") + "1\nx\r\n"},
      {400, with("Transfer-Encoding: chunked\r\n") + "1\r\nxy\r\n"},
      {400, with("Transfer-Encoding: chunked\r\n") + "1;" + std::string(300, 'x')},
      {413, with("Transfer-Encoding: chunked\r\n") + "65\r\n"},
      {413, with("Transfer-Encoding: chunked\r\n") + "FFFFFFFFFFFFFFFF\r\n"},
      {413, with("Transfer-Encoding: chunked\r\n") + "1\r\nx\r\n64\r\n"},
      {400, with("Transfer-Encoding: chunked\r\n") + "0\r\n bad: trailer\r\n\r\n"},
      {431, with("Transfer-Encoding: chunked\r\n") + "0\r\nX: " + std::string(1000, 'x')},
  };
  for (const auto& [status, bytes] : cases) {
    CAPTURE(bytes);
    CHECK(refusal_of(bytes) == status);
  }
}

TEST_CASE("HTTP parser: equal Content-Length fields are one, and bodies at the limit pass") {
  CHECK(request_of("POST / HTTP/1.1\r\n" + kHost + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nok").body == "ok");
  CHECK(request_of("POST / HTTP/1.1\r\n" + kHost + "Content-Length: 100\r\n\r\n" + std::string(100, 'x')).body.size() ==
        100);
  CHECK(request_of("POST / HTTP/1.1\r\n" + kHost + "Transfer-Encoding: chunked\r\n\r\n64\r\n" + std::string(100, 'x') +
                   "\r\n0\r\n\r\n")
            .body.size() == 100);
}

TEST_CASE("HTTP parser: 100 Continue is asked for once, before the body") {
  http::Parser parser(kLimits);
  parser.feed("POST / HTTP/1.1\r\n" + kHost + "Expect: 100-Continue\r\nContent-Length: 2\r\n\r\n");
  CHECK(parser.take_continue());
  CHECK_FALSE(parser.take_continue());
  parser.feed("ok");
  CHECK(parser.complete());
}

TEST_CASE("HTTP parser: requests fed in any pieces are the same requests, mutated ones too") {
  const std::vector<std::string> seeds = {
      "GET /a?b=c HTTP/1.1\r\n" + kHost + "Accept: text/event-stream\r\n\r\nGET /second HTTP/1.1\r\n" + kHost + "\r\n",
      "POST / HTTP/1.1\r\n" + kHost +
          "Content-Length: 11\r\nContent-Type: application/json\r\n\r\n{\"id\":1234}POST / HTTP/1.1\r\n",
      "POST /mcp HTTP/1.1\r\n" + kHost +
          "Transfer-Encoding: chunked\r\n\r\n4;x=y\r\nwiki\r\n3\r\nped\r\n0\r\nA: b\r\n\r\nGET / HTTP/1.0\r\n\r\n",
      "OPTIONS * HTTP/1.1\r\n" + kHost + "Connection: close, x\r\nExpect: 100-continue\r\n\r\n"};
  const std::vector<std::string_view> morsels = {"\r\n",
                                                 "\n",
                                                 "\r",
                                                 ":",
                                                 " ",
                                                 "\t",
                                                 "0",
                                                 "Content-Length: 3\r\n",
                                                 "Transfer-Encoding: chunked\r\n",
                                                 "Host: x\r\n",
                                                 "HTTP/1.1",
                                                 ";",
                                                 ",",
                                                 "\r\n\r\n",
                                                 "FFFFFFFFFFFFFFFF"};
  Mutator mutator(1);
  std::size_t refused = 0;
  constexpr int kRounds = 20'000;
  for (int i = 0; i < kRounds; ++i) {
    const auto input = mutator.mutate(seeds[mutator.below(seeds.size())], morsels);
    const auto whole = parse(input, input.size());
    refused += whole.refused_with != 0;
    const auto piece = 1 + mutator.below(7);
    if (parse(input, 1) != whole || parse(input, piece) != whole) FAIL("pieces matter for: " << input);
    if (whole.refused_with != 0) CHECK(http::reason_phrase(whole.refused_with) != "Status");
  }
  CHECK(refused > kRounds / 4);
  CHECK(refused < kRounds);
}
