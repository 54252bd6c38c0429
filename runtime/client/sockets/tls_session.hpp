// TLS as a client, without a socket: bytes of the application go in and come out on one side, bytes of the wire on the
// other. So nothing here waits, and one lock is enough for a thread that sends and one that receives.
//
// Threads: not safe; a caller with several threads guards it with a lock.
#pragma once

#include "client/endpoint.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct ssl_ctx_st;  // SSL_CTX, SSL of <openssl/ssl.h>
struct ssl_st;

namespace rkllm_mcp::client {

// Throws what OpenSSL's verdict on a server's certificate means to whoever asked for it: UntrustedServer where a CA
// file would help, MisnamedServer, or ConnectionError.
[[noreturn]] void refuse_certificate(const std::string& where, long verdict);
// The verdict in words for a person.
std::string words_of_certificate(long verdict);
// OpenSSL's verdict on a certificate that is valid, and for another host.
long verdict_on_name(const std::string& host);

class TlsSession {
 public:
  // The server must have a certificate for the endpoint's host, signed by those in its ca_file, else by the system's.
  // Throws ConnectionError, like everything here.
  explicit TlsSession(const Endpoint& endpoint);
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;
  ~TlsSession();

  // Goes on with the handshake; true once it is done. Until then: send what take_output() gives, give what arrives.
  bool shake_hands();
  void write(std::string_view bytes);
  // At least one byte of what was received; 0 once the server has said that nothing follows; nothing: give more.
  std::optional<std::size_t> read(std::span<char> buffer);
  void say_goodbye();  // close_notify

  void give(std::string_view received);  // from the wire
  std::string take_output();             // for the wire

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
    void operator()(ssl_st* session) const;
  };
  [[noreturn]] void fail(const std::string& what) const;

  const std::string where_;  // for messages
  std::unique_ptr<ssl_ctx_st, Free> context_;
  std::unique_ptr<ssl_st, Free> session_;
};

}  // namespace rkllm_mcp::client
