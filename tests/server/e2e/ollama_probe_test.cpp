// How Ollama's clients see whether there is a server: HEAD /, as its command line has it, or GET /.
#include "support/catch.hpp"
#include "support/live_server.hpp"
#include "support/process.hpp"
#include "support/raw_socket.hpp"

#include <sys/stat.h>

#include <string>

namespace rkllm_mcp::test {
namespace {

std::string answer_to(const LiveServer& server, const std::string& method, const std::string& headers) {
  RawSocket client(server.port(Transport::kHttp));
  client.send(method + " / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers + "\r\n");
  return client.receive_rest();
}

}  // namespace

TEST_CASE("HEAD / has the headers of GET /, which says that Ollama is running, also to who has no access token") {
  const bool takes_tokens = GENERATE(false, true);
  CAPTURE(takes_tokens);
  LiveServer::Options options;
  const TemporaryDirectory directory;
  const std::string tokens = directory / "tokens";
  write_file(tokens, "ann  a-token-of-length-20  call\n");
  REQUIRE(chmod(tokens.c_str(), S_IRUSR | S_IWUSR) == 0);
  if (takes_tokens) options.set = {"auth.tokens=" + tokens};
  LiveServer server(options);
  const std::string said = "Ollama is running";
  for (const std::string headers : {"", "Accept: */*\r\n", "Accept: application/json\r\n"}) {
    CAPTURE(headers);
    const std::string got = answer_to(server, "GET", headers);
    CHECK(got.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(got.ends_with("\r\n\r\n" + said));
    CHECK_THAT(got, has_text("Content-Type: text/plain"));
    CHECK(answer_to(server, "HEAD", headers) == got.substr(0, got.size() - said.size()));
  }
}

TEST_CASE("HEAD / of a browser has the headers of the page") {
  LiveServer server;
  const std::string got = answer_to(server, "GET", "Accept: text/html\r\n");
  const std::string head = got.substr(0, got.find("\r\n\r\n") + 4);
  CHECK_THAT(head, has_text("Content-Type: text/html"));
  CHECK(answer_to(server, "HEAD", "Accept: text/html\r\n") == head);
}

}  // namespace rkllm_mcp::test
