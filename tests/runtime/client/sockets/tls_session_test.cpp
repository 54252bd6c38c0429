// TLS as a client, against a server of OpenSSL's in the same memory: the test carries the bytes between the two.
#include "client/sockets/tls_session.hpp"

#include "client/connection.hpp"
#include "support/catch.hpp"
#include "support/certificate.hpp"
#include "support/process.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace rkllm_mcp::client;
using rkllm_mcp::test::CertificateFiles;
using rkllm_mcp::test::has_text;
using rkllm_mcp::test::make_certificate;
using rkllm_mcp::test::TemporaryDirectory;

namespace {

// The server's side. What it does not know how to go on with waits for more bytes.
class MemoryTlsServer {
 public:
  explicit MemoryTlsServer(const CertificateFiles& files) : context_(::SSL_CTX_new(::TLS_server_method())) {
    if (::SSL_CTX_use_certificate_chain_file(context_.get(), files.certificate.c_str()) != 1 ||
        ::SSL_CTX_use_PrivateKey_file(context_.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
      throw std::runtime_error("no certificate for the server");
    }
    session_.reset(::SSL_new(context_.get()));
    ::SSL_set_bio(session_.get(), ::BIO_new(::BIO_s_mem()), ::BIO_new(::BIO_s_mem()));
    ::SSL_set_accept_state(session_.get());
  }

  SSL* session() const { return session_.get(); }
  void shake_hands() const {
    ::SSL_do_handshake(session_.get());
    ::ERR_clear_error();  // of its own thread, which is the client's as well
  }
  void give(std::string_view bytes) const {
    if (!bytes.empty()) ::BIO_write(::SSL_get_rbio(session_.get()), bytes.data(), static_cast<int>(bytes.size()));
  }
  std::string take_output() const {
    BIO* const output = ::SSL_get_wbio(session_.get());
    std::string bytes(::BIO_ctrl_pending(output), '\0');
    if (!bytes.empty()) ::BIO_read(output, bytes.data(), static_cast<int>(bytes.size()));
    return bytes;
  }
  void write(std::string_view bytes) const {
    if (::SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size())) <= 0) {
      throw std::runtime_error("the server cannot write");
    }
  }
  // All that has come whole.
  std::string read() const {
    std::string text;
    std::array<char, 4096> buffer{};
    int size = 0;
    while ((size = ::SSL_read(session_.get(), buffer.data(), static_cast<int>(buffer.size()))) > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(size));
    }
    has_ended_ = ::SSL_get_error(session_.get(), size) == SSL_ERROR_ZERO_RETURN;
    ::ERR_clear_error();
    return text;
  }
  // The client has said goodbye, as read() has found.
  bool has_ended() const { return has_ended_; }

 private:
  struct Free {
    void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
    void operator()(SSL* session) const { ::SSL_free(session); }
  };
  std::unique_ptr<SSL_CTX, Free> context_;
  std::unique_ptr<SSL, Free> session_;
  mutable bool has_ended_ = false;
};

struct TlsBench {
  explicit TlsBench(const std::string& host = "localhost") {
    endpoint.host = host;
    endpoint.port = 4433;
    endpoint.ca_file = files.certificate;
  }
  TlsSession& begin() {
    client.emplace(endpoint);
    return *client;
  }
  // Carries the bytes of the handshake until the client says that it is done. How often it had to go on.
  int shake_hands() {
    for (int round = 1; round < 10; ++round) {
      const bool is_done = client->shake_hands();
      carry();
      server.shake_hands();
      client->give(server.take_output());
      if (is_done) return round;
    }
    throw std::runtime_error("the handshake does not end");
  }
  void carry() { server.give(client->take_output()); }
  void connect() {
    begin();
    shake_hands();
  }
  // All that the client can read now.
  std::string read() {
    std::string text;
    std::array<char, 1000> buffer{};
    while (const auto size = client->read(buffer)) {
      if (*size == 0) {
        text += "<end>";
        break;
      }
      text.append(buffer.data(), *size);
    }
    return text;
  }

  TemporaryDirectory folder;
  CertificateFiles files = make_certificate(folder.path());
  MemoryTlsServer server{files};
  Endpoint endpoint;
  std::optional<TlsSession> client;
};

// What somebody else's failed use of OpenSSL leaves on this thread.
void leave_an_error() {
  ::BIO_free(::BIO_new_file("/no/such/file", "r"));
  REQUIRE(::ERR_peek_error() != 0);
}

}  // namespace

TEST_CASE("a TLS session is made with a server whose certificate is for its host, by name or by address") {
  const std::string host = GENERATE("localhost", "127.0.0.1");
  TlsBench bench(host);
  bench.begin();
  CHECK(bench.client->take_output().empty());  // nothing is said before it is to shake hands
  CHECK_FALSE(bench.client->shake_hands());
  CHECK_FALSE(bench.client->shake_hands());  // which says nothing twice
  bench.carry();
  bench.server.shake_hands();
  bench.client->give(bench.server.take_output());
  CHECK(bench.client->shake_hands());
  CHECK(bench.client->shake_hands());  // it stays so
  bench.carry();
  bench.server.shake_hands();
  CHECK(::SSL_is_init_finished(bench.server.session()) == 1);
  const char* const name = ::SSL_get_servername(bench.server.session(), TLSEXT_NAMETYPE_host_name);
  CHECK((name == nullptr ? std::string() : name) == (host == "localhost" ? "localhost" : ""));  // no name is an address
}

TEST_CASE("a TLS session goes on however few bytes arrive at once") {
  TlsBench bench;
  bench.begin();
  CHECK_FALSE(bench.client->shake_hands());
  bench.carry();
  bench.server.shake_hands();
  const std::string answer = bench.server.take_output();
  REQUIRE(answer.size() > 100);
  for (std::size_t at = 0; at < answer.size(); ++at) {
    REQUIRE_FALSE(bench.client->shake_hands());
    bench.client->give(answer.substr(at, 1));
  }
  CHECK(bench.client->shake_hands());
  bench.carry();
  bench.server.shake_hands();
  bench.server.write("hello");
  for (const char byte : bench.server.take_output()) {
    bench.client->give(std::string_view(&byte, 1));
    if (const std::string text = bench.read(); !text.empty()) {
      CHECK(text == "hello");
      return;
    }
  }
  FAIL("it was not read");
}

TEST_CASE("texts of any length go through a TLS session both ways, and none that is not whole is told") {
  TlsBench bench;
  bench.connect();
  std::string text(100'000, 'x');
  text.front() = '<';
  text.back() = '>';
  bench.client->write(text);
  bench.client->write("");  // which is nothing
  bench.carry();
  CHECK(bench.server.read() == text);

  CHECK(bench.read().empty());  // no more is there, the tickets of the handshake are no text
  bench.server.write(text.substr(0, 16'000));
  const std::string wire = bench.server.take_output();
  bench.client->give(wire.substr(0, wire.size() - 1));
  CHECK(bench.read().empty());
  bench.client->give(wire.substr(wire.size() - 1));
  std::array<char, 1> one{};
  REQUIRE(bench.client->read(one) == std::size_t{1});
  CHECK(one[0] == '<');
  CHECK(bench.read() == text.substr(1, 15'999));
}

TEST_CASE(
    "the end that a TLS server announces is known from one that has cut the connection, behind all that it has said") {
  TlsBench bench;
  bench.connect();
  bench.server.write("last");
  ::SSL_shutdown(bench.server.session());
  bench.client->give(bench.server.take_output());
  CHECK(bench.read() == "last<end>");
  CHECK(bench.read() == "<end>");  // it stays so
  bench.client->say_goodbye();
  bench.carry();
  CHECK(bench.server.read().empty());
  CHECK(bench.server.has_ended());
  bench.client->say_goodbye();  // again, which is nothing
}

TEST_CASE("what is written before a TLS session says goodbye arrives before it") {
  TlsBench bench;
  bench.connect();
  bench.client->write("bye");
  bench.client->say_goodbye();
  CHECK_THROWS_AS(bench.client->write("more"), ConnectionError);
  bench.carry();
  CHECK(bench.server.read() == "bye");
  CHECK(bench.server.has_ended());
}

TEST_CASE("a certificate that nobody known has signed is told apart from one for another host") {
  TlsBench unknown;
  const auto others = make_certificate(unknown.folder.path(), "other");
  unknown.endpoint.ca_file = others.certificate;
  unknown.begin();
  CHECK_THROWS_AS(unknown.shake_hands(), UntrustedServer);

  for (const std::string host : {"example.org", "127.0.0.2", "localhost.example.org"}) {
    TlsBench other(host);
    other.begin();
    try {
      other.shake_hands();
      FAIL("it was taken");
    } catch (const MisnamedServer& error) {
      CHECK_THAT(error.what(),
                 has_text(host + ":4433: the server's certificate cannot be verified: ") && has_text("mismatch"));
    }
  }
}

TEST_CASE("a file of certificates that is missing, or has none, is named before anything is sent") {
  TlsBench bench;
  bench.endpoint.ca_file = bench.folder / "none.pem";
  CHECK_THROWS_WITH(bench.begin(),
                    has_text("no certificates to verify the server's with in " + bench.endpoint.ca_file));
  rkllm_mcp::test::write_file(bench.endpoint.ca_file, "no certificate");
  CHECK_THROWS_AS(bench.begin(), ConnectionError);
}

TEST_CASE("what is no TLS, or too old, is told as that with the place that was meant") {
  TlsBench plain;
  plain.begin();
  CHECK_FALSE(plain.client->shake_hands());
  plain.client->give("HTTP/1.1 400 Bad Request\r\n\r\n");
  CHECK_THROWS_WITH(plain.client->shake_hands(), has_text("localhost:4433: no TLS there ("));

  TlsBench old;
  ::SSL_set_security_level(old.server.session(), 0);
  ::SSL_set_min_proto_version(old.server.session(), TLS1_VERSION);
  ::SSL_set_max_proto_version(old.server.session(), TLS1_1_VERSION);
  old.begin();
  CHECK_THROWS_WITH(old.shake_hands(), has_text("no TLS there ("));

  TlsBench usual;
  ::SSL_set_max_proto_version(usual.server.session(), TLS1_2_VERSION);
  usual.connect();
  usual.server.write("by TLS 1.2");
  usual.client->give(usual.server.take_output());
  CHECK(usual.read() == "by TLS 1.2");
}

TEST_CASE("bytes that have been changed on their way end a TLS session, and are not told") {
  TlsBench bench;
  bench.connect();
  bench.server.write("hello");
  std::string wire = bench.server.take_output();
  wire.back() = static_cast<char>(wire.back() ^ 1);
  bench.client->give(wire);
  CHECK_THROWS_AS(bench.read(), ConnectionError);
}

TEST_CASE("a server that wants a certificate of its clients ends the session with its word for that") {
  TlsBench bench;
  ::SSL_set_verify(bench.server.session(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  bench.begin();
  bench.shake_hands();  // with TLS 1.3 the client is done before the server has looked
  bench.carry();
  bench.server.shake_hands();
  bench.client->give(bench.server.take_output());
  CHECK_THROWS_WITH(bench.read(), has_text("localhost:4433: ") && has_text("certificate required"));
}

TEST_CASE("errors that others have left in OpenSSL are none of a TLS session's") {
  TlsBench bench;
  bench.begin();
  leave_an_error();
  CHECK_FALSE(bench.client->shake_hands());
  bench.carry();
  bench.server.shake_hands();
  bench.client->give(bench.server.take_output());
  leave_an_error();
  CHECK(bench.client->shake_hands());
  bench.carry();
  bench.server.shake_hands();
  leave_an_error();
  CHECK(bench.read().empty());
  leave_an_error();
  bench.client->write("x");
  bench.carry();
  CHECK(bench.server.read() == "x");
  leave_an_error();
  bench.client->say_goodbye();
  CHECK(::ERR_peek_error() == 0);
}
