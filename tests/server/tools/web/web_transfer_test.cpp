// One request over one connection. Redirects, and addresses that are refused, are in
// tests/server/tools/web_client_test.cpp.
#include "tools/web/web_transfer.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/web_server.hpp"
#include "tools/tool_failure.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

TransferOptions transfer_options(std::size_t max_bytes = 1000) {
  return {"test/1", "text/x", "", std::chrono::seconds(10), max_bytes};
}

// From 127.0.0.1, whatever the host is called.
TransferResult transferred(const std::string& url, const TransferOptions& options = transfer_options()) {
  StopSignal nobody;
  return transfer(parse_url(url), *IpAddress::parse("127.0.0.1"), options, nobody);
}

std::string transfer_failure(const std::string& answer) {
  WebServer server(answer);
  try {
    transferred(server.url("/?key=secret", "name.test"));
  } catch (const ToolFailure& error) {
    CHECK(std::string(error.what()).find("secret") == std::string::npos);
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("the address that is given is connected to, and the server is told the name that the URL has") {
  WebServer server(web_answer("hello", "text/plain", "Location: /elsewhere\r\n"));
  const TransferResult result = transferred(server.url("/a+b%20c?q=%2B", "name.test"));
  CHECK(result.status == 200);
  CHECK(result.content_type == "text/plain");
  CHECK(result.location == "/elsewhere");
  CHECK(result.body == "hello");
  CHECK_FALSE(result.is_cut);
  CHECK_THAT(server.heads().at(0), has_text("GET /a+b%20c?q=%2B HTTP/1.1\r\n") &&
                                       has_text("\r\nHost: name.test:" + std::to_string(server.port()) + "\r\n") &&
                                       has_text("\r\nUser-Agent: test/1\r\n") && has_text("\r\nAccept: text/x\r\n"));
}

TEST_CASE("a redirect is an answer as any other, and is not followed") {
  WebServer server(web_redirect("http://127.0.0.1:1/"));
  const TransferResult result = transferred(server.url());
  CHECK(result.status == 302);
  CHECK(result.location == "http://127.0.0.1:1/");
  CHECK(server.heads().size() == 1);
}

TEST_CASE("a body as long as it may be is whole, and one that is a byte longer is cut there") {
  WebServer server(web_answer(std::string(1000, 'x')));
  const TransferResult whole = transferred(server.url());
  CHECK(whole.body == std::string(1000, 'x'));
  CHECK_FALSE(whole.is_cut);
  const TransferResult cut = transferred(server.url(), transfer_options(999));
  CHECK(cut.body == std::string(999, 'x'));
  CHECK(cut.is_cut);
  CHECK(cut.status == 200);
  CHECK(transferred(server.url(), transfer_options(0)).is_cut);
}

TEST_CASE("where nobody listens another address may be tried, and nowhere else") {
  std::uint16_t port = 0;
  {
    WebServer gone("");
    port = gone.port();
  }
  CHECK_THROWS_AS(transferred("http://name.test:" + std::to_string(port) + "/"), NoConnection);
  CHECK_THAT(transfer_failure(""), has_text("name.test: it does not answer"));
  CHECK_THAT(transfer_failure("nonsense\r\n\r\n"), has_text("name.test: "));
  CHECK_THAT(transfer_failure("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), has_text("name.test: "));
}

TEST_CASE("a body in an encoding that was not asked for is a failure, and one that says it has none is read") {
  CHECK(transfer_failure(web_answer("x", "text/plain", "Content-Encoding: compress\r\n")) ==
        "name.test answers in an encoding that was not asked for");
  WebServer server(web_answer("plain", "text/plain", "Content-Encoding: identity\r\n"));
  CHECK(transferred(server.url()).body == "plain");
}

TEST_CASE("a certificate cannot be verified without certificates, which is said before anything is sent") {
  const TemporaryDirectory directory;
  WebServer server(web_answer("x"));
  TransferOptions options = transfer_options();
  options.ca_file = directory / "absent.pem";
  const std::string url = "https://name.test:" + std::to_string(server.port()) + "/";
  CHECK_THROWS_WITH(transferred(url, options), "name.test: there are no certificates to verify its own with");
  CHECK(server.heads().empty());
}

TEST_CASE("a transfer that is told to stop beforehand says only that") {
  WebServer server(web_answer("x"));
  StopSignal stop;
  stop.stop();
  CHECK_THROWS_WITH(transfer(parse_url(server.url()), *IpAddress::parse("127.0.0.1"), transfer_options(), stop),
                    "stopped");
  CHECK(server.heads().empty());
}
