// A client for one request. With whose certificates it is content is shown by tests/server/tools/web_client_test.cpp.
#include "verified_client.hpp"

#include "support/catch.hpp"
#include "support/certificate.hpp"
#include "support/process.hpp"
#include "support/web_server.hpp"

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ssl.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <thread>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

TEST_CASE("a client for http asks the URL's host and port, follows no redirect and keeps no connection") {
  WebServer server(web_redirect("/elsewhere"));
  const auto client = new_verified_client(parse_url(server.url("/ignored")), "");
  const auto answer = client->Get("/asked");
  REQUIRE(answer);
  CHECK(answer->status == 302);
  CHECK(answer->get_header_value("Location") == "/elsewhere");
  REQUIRE(server.heads().size() == 1);
  CHECK_THAT(server.heads().at(0), has_text("GET /asked HTTP/1.1\r\n") &&
                                       has_text("\r\nHost: 127.0.0.1:" + std::to_string(server.port()) + "\r\n") &&
                                       has_text("\r\nConnection: close\r\n"));
}

TEST_CASE("a client for https sends nothing until somebody whom it trusts vouches for the server") {
  const TemporaryDirectory directory;
  const auto files = make_certificate(directory.path());
  const auto others = make_certificate(directory.path(), "other");
  asio::ssl::context tls(asio::ssl::context::tls_server);
  tls.use_certificate_chain_file(files.certificate);
  tls.use_private_key_file(files.key, asio::ssl::context::pem);
  asio::io_context loop;
  asio::ip::tcp::acceptor acceptor(loop, {asio::ip::make_address("127.0.0.1"), 0});
  const std::array<std::string, 3> trusted{"", others.certificate, files.certificate};
  std::array<std::string, 3> heads;
  std::thread server([&] {
    for (std::string& head : heads) {
      asio::ssl::stream<asio::ip::tcp::socket> stream(acceptor.accept(), tls);
      asio::error_code error;
      stream.handshake(asio::ssl::stream_base::server, error);
      if (!error) asio::read_until(stream, asio::dynamic_buffer(head), "\r\n\r\n", error);
      if (!error) asio::write(stream, asio::buffer(web_answer("encrypted")), error);
      stream.shutdown(error);
    }
  });
  const Url url = parse_url("https://localhost:" + std::to_string(acceptor.local_endpoint().port()) + "/");
  std::array<std::string, 3> bodies;
  for (std::size_t at = 0; at < trusted.size(); ++at) {
    const auto client = new_verified_client(url, trusted.at(at));
    client->set_hostname_addr_map({{"localhost", "127.0.0.1"}});
    const auto answer = client->Get("/secret");
    bodies.at(at) = answer ? answer->body : "none";
  }
  server.join();
  CHECK(bodies == std::array<std::string, 3>{"none", "none", "encrypted"});
  CHECK(heads[0].empty());
  CHECK(heads[1].empty());
  CHECK_THAT(heads[2], has_text("GET /secret "));
}
