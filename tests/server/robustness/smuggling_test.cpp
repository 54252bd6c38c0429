// Requests whose end two readers could see in different places: where the server and a proxy before it disagree, what
// follows the one is a request of somebody else to the other. Each such request is refused, its connection ends, and
// nothing that follows it is executed.
#include "requests.hpp"
#include "steady_server.hpp"
#include "support/catch.hpp"
#include "support/live_server.hpp"
#include "support/raw_socket.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using namespace std::string_literals;

constexpr int kSmugglingRounds = RKLLM_MCP_SANITIZED ? 3 : 20;
const std::string kBody = ping(1);

struct BadRequest {
  int status;
  std::string text;
};

// A request with these header fields instead of its length, and a body that fits either of two lengths.
BadRequest with_fields(int status, const std::string& fields) {
  return {status, std::string(kPost) + fields + "\r\n\r\n" + kBody};
}

BadRequest with_chunks(int status, const std::string& body) {
  return {status, std::string(kPost) + "Transfer-Encoding: chunked\r\n\r\n" + body};
}

BadRequest without_host(int status, const std::string& line_and_fields) {
  return {status, line_and_fields + "Content-Length: " + std::to_string(kBody.size()) + "\r\n\r\n" + kBody};
}

std::vector<BadRequest> bad_lengths() {
  const std::string length = "Content-Length: " + std::to_string(kBody.size());
  std::vector<BadRequest> requests{
      with_fields(400, length + "\r\nTransfer-Encoding: chunked"),
      with_fields(400, "Transfer-Encoding: chunked\r\n" + length),
      with_fields(400, length + "\r\nTransfer-Encoding: identity"),
      with_fields(400, length + "\r\nTransfer-Encoding:"),
      with_fields(400, length + "\r\nContent-Length: 1"),
      with_fields(400, "Content-Length: 1\r\n" + length),
      with_fields(413, "Content-Length: 18446744073709551617"),
      with_fields(413, "Content-Length: 99999999"),
      with_fields(400, length + "\r\n\x0b" + "Transfer-Encoding: chunked"),
  };
  for (const auto& value : {"4, 4"s, "+4"s, "-1"s, "0x4"s, "4 4"s, ""s, "4\x0b"s, "4;"s, "4.0"s, "\"4\""s}) {
    requests.push_back(with_fields(400, "Content-Length: " + value));
  }
  return requests;
}

std::vector<BadRequest> bad_codings() {
  std::vector<BadRequest> requests{
      with_fields(400, "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
      with_fields(400, "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"),
      with_fields(400, "Transfer-Encoding: \x0b" + "chunked"s),
      with_fields(400, "Transfer-Encoding: chunked\0"s),
      {400, "POST /jsonrpc HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
  };
  for (const std::string value : {"identity", "xchunked", "chunkedx", "chunked, identity", "chunked,chunked",
                                  "gzip, chunked", "chunked;q=1", "\"chunked\"", "", ",chunked", "chunked,"}) {
    requests.push_back(with_fields(501, "Transfer-Encoding: " + value));
  }
  for (const std::string body :
       {"\r\n", "-1\r\nx\r\n0\r\n\r\n", "+1\r\nx\r\n0\r\n\r\n", "0x1\r\nx\r\n0\r\n\r\n", " 1\r\nx\r\n0\r\n\r\n",
        "1 \r\nx\r\n0\r\n\r\n", "1\nx\r\n0\r\n\r\n", "1\r\nx\n0\r\n\r\n", "1\r\nxy\r\n0\r\n\r\n", "1\r\nx0\r\n\r\n",
        "1;a\nb\r\nx\r\n0\r\n\r\n", "1;\x01\r\nx\r\n0\r\n\r\n", "00000000000000001\r\nx\r\n0\r\n\r\n",
        "10000000000000001\r\nx\r\n0\r\n\r\n", "g\r\nx\r\n0\r\n\r\n", "0\r\n folded\r\n\r\n", "0\r\nX : y\r\n\r\n",
        "0\r\nX: y\n\r\n"}) {
    requests.push_back(with_chunks(400, body));
  }
  requests.push_back(with_chunks(400, "1;" + std::string(1000, 'e') + "\r\nx\r\n0\r\n\r\n"));
  requests.push_back(with_chunks(413, "ffffffffffffffff\r\nx\r\n0\r\n\r\n"));
  requests.push_back(with_chunks(413, "1\r\nx\r\nffffffffffffffff\r\nx\r\n0\r\n\r\n"));
  requests.push_back(with_chunks(413, "5000000\r\nx"));
  return requests;
}

std::vector<BadRequest> bad_lines() {
  const std::string length = "Content-Length: " + std::to_string(kBody.size());
  return {
      with_fields(400, length + "\r\nTransfer-Encoding\r\n : chunked"),
      with_fields(400, length + "\r\nX: y\r\n Transfer-Encoding: chunked"),
      with_fields(400, length + "\r\nX: y\r\n\tfolded"),
      with_fields(400, length + "\nX: y"),
      with_fields(400, length + "\r\nX: y\rTransfer-Encoding: chunked"),
      with_fields(400, length + "\r\nX: y\nTransfer-Encoding: chunked"),
      with_fields(400, "Content-Length : 4"),
      with_fields(400, "Content-Length\t: 4"),
      with_fields(400, "Transfer-Encoding : chunked"),
      with_fields(400, length + "\r\nX\0: y"s),
      with_fields(400, length + "\r\nX: y\0z"s),
      with_fields(400, length + "\r\n: y"),
      with_fields(400, length + "\r\nX"),
      with_fields(417, length + "\r\nExpect: 200-ok"),
      with_fields(431, length + "\r\nX: " + std::string(20'000, 'y')),
      {400, std::string(kPost.substr(0, kPost.size() - 1)) + length + "\r\n\r\n" + kBody},
      {400, "POST /jsonrpc HTTP/1.1\nHost: localhost\n" + length + "\n\n" + kBody},
      {400, "POST /jsonrpc HTTP/1.1\r\n Host: localhost\r\n" + length + "\r\n\r\n" + kBody},
  };
}

std::vector<BadRequest> bad_targets() {
  return {
      without_host(400, "POST /jsonrpc HTTP/1.1\r\n"),
      without_host(400, "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n"),
      without_host(400, "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n"),
      without_host(400, "POST /jsonrpc HTTP/1.1\r\nHost: local host\r\n"),
      without_host(400, "POST /jsonrpc HTTP/1.1\r\nHost: localhost@evil.example\r\n"),
      without_host(400, "POST /jsonrpc HTTP/1.1\r\nHost: localhost/x\r\n"),
      without_host(400, "POST http:/jsonrpc HTTP/1.1\r\nHost: localhost\r\n"),
      without_host(400, "POST http:///jsonrpc HTTP/1.1\r\nHost: localhost\r\n"),
      without_host(400, "POST http://localhost@evil.example/ HTTP/1.1\r\nHost: localhost\r\n"),
      without_host(400, "POST https://localhost/jsonrpc HTTP/1.1\r\nHost: localhost\r\n"),
      without_host(400, "POST jsonrpc HTTP/1.1\r\nHost: localhost\r\n"),
      without_host(400, "POST * HTTP/1.1\r\nHost: localhost\r\n"),
      without_host(400, "POST  /jsonrpc HTTP/1.1\r\nHost: localhost\r\n"),
      without_host(400, "POST /json rpc HTTP/1.1\r\nHost: localhost\r\n"),
      without_host(400, "POST\t/jsonrpc\tHTTP/1.1\r\nHost: localhost\r\n"),
      without_host(400, "POST /jsonrpc HTTP/1.1 \r\nHost: localhost\r\n"),
      without_host(400, "POST /jsonrpc HTTP/01.1\r\nHost: localhost\r\n"),
      without_host(400, "POST /jsonrpc\r\nHost: localhost\r\n"),
      without_host(400, "\0POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\n"s),
      without_host(505, "POST /jsonrpc HTTP/1.2\r\nHost: localhost\r\n"),
      without_host(505, "POST /jsonrpc HTTP/2.0\r\nHost: localhost\r\n"),
      without_host(501, "post /jsonrpc HTTP/1.1\r\nHost: localhost\r\n"),
      without_host(501, "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n"),
      without_host(501, "TRACE / HTTP/1.1\r\nHost: localhost\r\n"),
      without_host(414, "POST /" + std::string(20'000, 'x') + " HTTP/1.1\r\nHost: localhost\r\n"),
      {505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
  };
}

enum class Pieces { kOne, kBytes };

// The request, and right after it one that would leave a trace. Gives all that comes back.
std::string send_both(RawSocket& client, const std::string& bad, const std::string& smuggled, Pieces pieces) {
  const std::string bytes = bad + http_post(run(smuggled));
  if (pieces == Pieces::kOne) {
    client.send(bytes);
  } else {
    for (const char byte : bytes) client.send({&byte, 1});
  }
  return client.receive_rest();
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

void check_refused(SteadyServer& server, const std::vector<BadRequest>& requests) {
  const std::string prompt = "@n=1 smuggled";
  server.endures(kSmugglingRounds, [&] {
    for (const Transport transport : {Transport::kHttp, Transport::kWebSocket}) {
      for (const auto& [status, text] : requests) {
        // Byte by byte only what is short.
        for (const Pieces pieces : {Pieces::kOne, text.size() < 1000 ? Pieces::kBytes : Pieces::kOne}) {
          INFO(name_of(transport) << ": " << text);
          RawSocket client(server.live().port(transport));
          const std::string answer = send_both(client, text, prompt, pieces);
          REQUIRE(answer.substr(0, 13) == "HTTP/1.1 " + std::to_string(status) + " ");
          REQUIRE(count(answer, "\r\nContent-Length: ") == 1);
          REQUIRE(answer.find("\r\nConnection: close\r\n") != std::string::npos);
        }
      }
    }
  });
  CHECK(server.runs_of(prompt) == 0);
}

}  // namespace

TEST_CASE("what follows a good request on its connection is executed") {
  SteadyServer server;
  RawSocket client(server.live().port(Transport::kHttp));
  client.send(http_post(ping(1)) + http_post(run("@n=1 pipelined")));
  client.receive_until(pong(1));
  client.receive_until(R"("status":0)");
  CHECK(server.runs_of("@n=1 pipelined") == 1);
}

TEST_CASE("requests of two lengths, or of none that is a number, are refused with all that follows") {
  SteadyServer server;
  check_refused(server, bad_lengths());
}

TEST_CASE("requests with other transfer codings, or broken chunks, are refused with all that follows") {
  SteadyServer server;
  check_refused(server, bad_codings());
}

TEST_CASE("requests whose lines end or begin in a doubtful way are refused with all that follows") {
  SteadyServer server;
  check_refused(server, bad_lines());
}

TEST_CASE("requests to doubtful targets, or of other versions, are refused with all that follows") {
  SteadyServer server;
  check_refused(server, bad_targets());
}

TEST_CASE("the host in the request line counts, not the Host field") {
  SteadyServer server;
  const std::string evil =
      "Content-Length: " + std::to_string(run("@n=1 smuggled").size()) + "\r\n\r\n" + run("@n=1 smuggled");
  server.endures(kSmugglingRounds, [&] {
    RawSocket client(server.live().port(Transport::kHttp));
    client.send("POST http://evil.example/jsonrpc HTTP/1.1\r\nHost: localhost\r\n" + evil);
    REQUIRE(client.receive_until("http.allowed_hosts\n").starts_with("HTTP/1.1 403 "));
    // Where it ends is not in doubt: the next one is a request of its own.
    client.send("POST http://localhost/jsonrpc HTTP/1.1\r\nHost: evil.example\r\nContent-Length: " +
                std::to_string(kBody.size()) + "\r\n\r\n" + kBody);
    REQUIRE(client.receive_until(pong(1)).starts_with("HTTP/1.1 200 "));
  });
  CHECK(server.runs_of("@n=1 smuggled") == 0);
}

}  // namespace rkllm_mcp::test
