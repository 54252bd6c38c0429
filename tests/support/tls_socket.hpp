// A TLS client on a blocking socket, by OpenSSL: verifies the server, sends and reads bytes, and tells how the
// connection ended. Each wait has a deadline, and what goes wrong is thrown as std::runtime_error, but by carry(). One
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <openssl/ossl_typ.h>

namespace rkllm_mcp::test {

class TlsSocket {
 public:
  struct Options {
    std::string trusted{};   // PEM file of the certificate that must have signed the server's
    int newest_version = 0;  // e.g. TLS1_2_VERSION; 0: what OpenSSL has
    int receive_buffer = 0;  // bytes that the kernel holds for a reader who does not read; 0: as usual
  };
  // How the server has ended the connection: by close_notify, or by the socket alone, after which nobody knows whether
  // something is missing.
  enum class End { kNotified, kCut };

  // Connects to this machine and shakes hands.
  TlsSocket(std::uint16_t port, const Options& options);
  TlsSocket(const TlsSocket&) = delete;
  TlsSocket& operator=(const TlsSocket&) = delete;
  ~TlsSocket();

  std::string version() const;      // "TLSv1.3"
  std::string server_name() const;  // the common name in its certificate

  void send(std::string_view bytes);
  std::string receive_until(std::string_view mark);
  std::string receive_rest();  // until the server ends the connection
  End end() const { return end_; }

  void send_close_notify();
  void close();  // the socket, without a word

  // Carries bytes between this connection and another socket until either ends, then closes both.
  void carry(int other);

 private:
  struct Free {
    void operator()(SSL_CTX* context) const;
    void operator()(SSL* session) const;
  };
  bool read_some();  // false at the end

  int descriptor_ = -1;
  std::unique_ptr<SSL_CTX, Free> context_;
  std::unique_ptr<SSL, Free> session_;
  std::string received_;
  End end_ = End::kCut;
};

}  // namespace rkllm_mcp::test
