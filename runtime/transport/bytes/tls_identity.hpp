// A server's certificate and private key, as TLS connections use them; they can be read again while connections are
// open. TLS 1.2 and newer.
//
// Threads: belongs to the event loop.
#pragma once

#include <memory>
#include <string>

#include <openssl/ossl_typ.h>

namespace rkllm_mcp {

struct TlsFiles {
  std::string certificate;  // PEM: the server's own first, then those that vouch for it
  std::string key;          // PEM, without a passphrase; closed to other users
};

struct FreeTls {
  void operator()(SSL_CTX* context) const;
  void operator()(SSL* session) const;
};
using OwnedSsl = std::unique_ptr<SSL, FreeTls>;

class TlsIdentity {
 public:
  // Throws std::runtime_error that names the file and what is wrong with it; nothing of a key is ever in it.
  explicit TlsIdentity(const TlsFiles& files);

  // What connections use from now on; those that are open keep what they have. Throws what the constructor throws, and
  // then nothing has changed.
  void replace(const TlsFiles& files);

  // The server's side of a new connection.
  OwnedSsl new_session() const;

 private:
  std::unique_ptr<SSL_CTX, FreeTls> context_;
};

}  // namespace rkllm_mcp
