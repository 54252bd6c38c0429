#include "tools/web/web_client.hpp"

#include "support/catch.hpp"
#include "support/certificate.hpp"
#include "support/process.hpp"
#include "support/web_server.hpp"
#include "tools/tool_failure.hpp"

#include <asio/ssl.hpp>

#include <atomic>
#include <string>
#include <thread>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

constexpr std::size_t kPage = 100'000;

WebClient::Options allowing(const std::string& network) {
  WebClient::Options options;
  options.user_agent = "test/1";
  options.allowed = {*IpNetwork::parse(network)};
  return options;
}

WebAnswer get(const std::string& url, const WebClient::Options& options = allowing("127.0.0.0/8")) {
  StopSignal nobody;
  return WebClient(options).get({parse_url(url), kPage}, nobody);
}

}  // namespace

TEST_CASE("a page is fetched with its headers as they should be") {
  WebServer server(web_answer("hello"));
  const auto answer = get(server.url("/a%20b?q=1+2"));
  CHECK(answer.status == 200);
  CHECK(answer.body == "hello");
  CHECK(answer.content_type == "text/html; charset=utf-8");
  const std::string head = server.heads().at(0);
  CHECK_THAT(head, has_text("GET /a%20b?q=1+2 HTTP/1.1\r\n"));
  CHECK_THAT(head, has_text("\r\nHost: 127.0.0.1:" + std::to_string(server.port()) + "\r\n"));
  CHECK_THAT(head, has_text("\r\nUser-Agent: test/1\r\n"));
  CHECK_THAT(head, has_text("\r\nAccept-Encoding: gzip"));
}

TEST_CASE(
    "addresses that are not public are refused before anything is connected to, also behind a redirect or a name") {
  WebServer server(web_answer("secret"));
  const std::string port = ":" + std::to_string(server.port()) + "/";
  for (
      const std::string host :
      {"127.0.0.1",       "127.1",           "2130706433", "0x7f.0.0.1",         "0177.0.0.1",      "localhost",
       "0.0.0.0",         "[::1]",           "[::]",       "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]",
       "[2002:7f00:1::]", "10.0.0.1",        "100.64.0.1", "169.254.169.254",    "192.168.0.1",     "172.16.0.1",
       "224.0.0.1",       "255.255.255.255", "[fe80::1]",  "[fd00::1]",          "[ff02::1]"}) {
    INFO(host);
    CHECK_THROWS_WITH(get("http://" + host + port, WebClient::Options()), has_text("is not fetched from"));
    WebServer redirecting(web_redirect("http://" + host + port), "127.0.0.2");
    CHECK_THROWS_WITH(get(redirecting.url("/", "127.0.0.2"), allowing("127.0.0.2")), has_text("is not fetched from"));
    CHECK(redirecting.heads().size() == 1);
    const auto address = IpAddress::parse(host.starts_with('[') ? host.substr(1, host.size() - 2) : host);
    if (!address) continue;
    WebClient::Options named;
    named.resolve = [&address](const std::string&) { return std::vector{*address}; };
    CHECK_THROWS_WITH(get("http://name.test" + port, named), has_text("name.test is not fetched from"));
  }
  CHECK(server.heads().empty());
}

TEST_CASE("every address of a name has to be public") {
  WebServer server(web_answer("secret"));
  WebClient::Options options;
  options.resolve = [](const std::string&) {
    return std::vector{*IpAddress::parse("8.8.8.8"), *IpAddress::parse("127.0.0.1")};
  };
  CHECK_THROWS_WITH(get(server.url("/", "two.test"), options), has_text("127.0.0.1 is a loopback address"));
  CHECK(server.heads().empty());
}

TEST_CASE("a redirect to an address that is not public is refused") {
  WebServer inner(web_answer("secret"), "127.0.0.1");
  WebServer outer(web_redirect(inner.url()), "127.0.0.2");
  const auto only_outer = allowing("127.0.0.2");
  CHECK_THROWS_WITH(get(outer.url("/", "127.0.0.2"), only_outer), has_text("127.0.0.1 is a loopback address"));
  CHECK(outer.heads().size() == 1);
  CHECK(inner.heads().empty());
}

TEST_CASE("the address that was looked at is the one that is connected to") {
  WebServer inner(web_answer("secret"), "127.0.0.1");
  WebServer outer(web_answer("open"), "127.0.0.2", inner.port());
  auto options = allowing("127.0.0.2");
  int asked = 0;
  options.resolve = [&asked](const std::string& host) {
    CHECK(host == "rebinding.test");
    return std::vector{*IpAddress::parse(asked++ == 0 ? "127.0.0.2" : "127.0.0.1")};
  };
  CHECK(get(outer.url("/", "rebinding.test"), options).body == "open");
  CHECK(asked == 1);
  CHECK_THAT(outer.heads().at(0), has_text("Host: rebinding.test:"));
  CHECK_THROWS_WITH(get(outer.url("/", "rebinding.test"), options), has_text("loopback"));
  CHECK(inner.heads().empty());
}

TEST_CASE("an address that the settings name is trusted, but not where it redirects to") {
  WebServer inner(web_answer("secret"), "127.0.0.3");
  WebServer server([&inner](const std::string& head, WebServer::Socket& socket) {
    WebServer::send(socket, head.starts_with("GET /out")  ? web_redirect(inner.url("/", "127.0.0.3"))
                            : head.starts_with("GET /in") ? web_redirect("/end")
                                                          : web_answer("found"));
  });
  WebClient client({.user_agent = "x"});
  StopSignal nobody;
  const auto trusted = parse_url(server.url());
  CHECK(client.get({parse_url(server.url("/in")), kPage, trusted}, nobody).body == "found");
  CHECK_THROWS_WITH(client.get({parse_url(server.url("/out")), kPage, trusted}, nobody), has_text("loopback"));
  CHECK(inner.heads().empty());
}

TEST_CASE("redirects are followed, five at most, and tell where they have led") {
  WebServer server([](const std::string& head, WebServer::Socket& socket) {
    if (head.starts_with("GET /loop")) WebServer::send(socket, web_redirect("/loop"));
    if (head.starts_with("GET /a/b")) WebServer::send(socket, web_redirect("../c?x=1#y", "301 Moved"));
    if (head.starts_with("GET /c?x=1")) WebServer::send(socket, web_answer("there"));
    if (head.starts_with("GET /file")) WebServer::send(socket, web_redirect("file:///etc/passwd"));
    if (head.starts_with("GET /none")) WebServer::send(socket, web_answer("x", "text/html", {}, "302 Found"));
  });
  const auto answer = get(server.url("/a/b"));
  CHECK(answer.body == "there");
  CHECK(answer.url.target == "/c?x=1");
  CHECK_THROWS_WITH(get(server.url("/loop")), has_text("more than 5 times"));
  CHECK_THROWS_WITH(get(server.url("/file")), has_text("no http or https address"));
  CHECK(get(server.url("/none")).status == 302);
}

TEST_CASE("ports of other services are refused") {
  CHECK_THROWS_WITH(get("http://127.0.0.1:25/"), has_text("port 25"));
}

TEST_CASE("a body is cut where it gets too long, also one without an end") {
  WebServer server([](const std::string&, WebServer::Socket& socket) {
    WebServer::send(socket, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string chunk = "1000\r\n" + std::string(0x1000, 'x') + "\r\n";
    while (WebServer::send(socket, chunk)) {
    }
  });
  const auto answer = get(server.url());
  CHECK(answer.is_cut);
  CHECK(answer.body == std::string(kPage, 'x'));
}

TEST_CASE("fetching stops when it is told to: before an answer, in its head, in its body") {
  for (const std::string sent : {"", "HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"}) {
    INFO(sent);
    std::atomic<bool> has_gone = false;
    {
      WebServer server([&](const std::string&, WebServer::Socket& socket) {
        WebServer::send(socket, sent);
        WebServer::await_end(socket);
        has_gone = true;
      });
      StopSignal stop;
      std::thread other([&] {
        server.await_requests(1);
        stop.stop();
      });
      CHECK_THROWS_WITH(WebClient(allowing("127.0.0.1")).get({parse_url(server.url()), kPage}, stop), "stopped");
      other.join();
    }
    CHECK(has_gone);
  }
}

TEST_CASE("nothing is fetched once it is told to stop") {
  WebServer server(web_answer("x"));
  StopSignal stop;
  stop.stop();
  CHECK_THROWS_WITH(WebClient(allowing("127.0.0.1")).get({parse_url(server.url()), kPage}, stop), "stopped");
  CHECK(server.heads().empty());
}

TEST_CASE("a server that does not answer is given up") {
  WebServer server([](const std::string&, WebServer::Socket& socket) { WebServer::await_end(socket); });
  auto options = allowing("127.0.0.1");
  options.patience = std::chrono::milliseconds(50);
  CHECK_THROWS_WITH(get(server.url(), options), has_text("does not answer"));
}

TEST_CASE("the next address of a name is tried when one does not answer") {
  WebServer server(web_answer("here"), "127.0.0.2");
  auto options = allowing("127.0.0.0/8");
  options.resolve = [](const std::string&) {
    return std::vector{*IpAddress::parse("127.0.0.3"), *IpAddress::parse("127.0.0.2")};
  };
  CHECK(get(server.url("/", "two.test"), options).body == "here");
  options.resolve = [](const std::string&) { return std::vector{*IpAddress::parse("127.0.0.3")}; };
  CHECK_THROWS_WITH(get(server.url("/", "one.test"), options), has_text("one.test: no connection could be made"));
}

TEST_CASE("an https server has to show a certificate that somebody vouches for, with its own name") {
  const TemporaryDirectory directory;
  const auto files = make_certificate(directory.path());
  asio::ssl::context tls(asio::ssl::context::tls_server);
  tls.use_certificate_chain_file(files.certificate);
  tls.use_private_key_file(files.key, asio::ssl::context::pem);
  asio::io_context loop;
  asio::ip::tcp::acceptor acceptor(loop, {asio::ip::make_address("127.0.0.1"), 0});
  constexpr int kConnections = 3;
  std::thread server([&] {
    for (int i = 0; i < kConnections; ++i) {
      asio::ssl::stream<asio::ip::tcp::socket> stream(acceptor.accept(), tls);
      asio::error_code error;
      stream.handshake(asio::ssl::stream_base::server, error);
      std::string head;
      if (!error) asio::read_until(stream, asio::dynamic_buffer(head), "\r\n\r\n", error);
      if (!error) asio::write(stream, asio::buffer(web_answer("encrypted")), error);
      stream.shutdown(error);
    }
  });
  const auto url = [&](const std::string& host) {
    return "https://" + host + ":" + std::to_string(acceptor.local_endpoint().port()) + "/";
  };
  auto options = allowing("127.0.0.1");
  options.resolve = [](const std::string&) { return std::vector{*IpAddress::parse("127.0.0.1")}; };
  CHECK_THROWS_WITH(get(url("localhost"), options), has_text("localhost: its certificate cannot be verified"));
  options.ca_file = files.certificate;
  CHECK(get(url("localhost"), options).body == "encrypted");
  CHECK_THROWS_WITH(get(url("other.test"), options), has_text("other.test: its certificate cannot be verified"));
  server.join();
}

TEST_CASE("an answer without a body has its status") {
  WebServer server("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
  CHECK(get(server.url()).status == 204);
}
