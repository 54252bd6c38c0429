#include "transport/bytes/tls_identity.hpp"

#include "text/regular_file.hpp"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <new>
#include <stdexcept>
#include <string_view>

namespace rkllm_mcp {
namespace {

struct FreeKey {
  void operator()(BIO* memory) const { ::BIO_free(memory); }
  void operator()(EVP_PKEY* key) const { ::EVP_PKEY_free(key); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;

// OpenSSL's word for what went wrong first ("ee key too small"): from a fixed list, never from a file.
std::string openssl_reason() {
  const char* reason = ::ERR_reason_error_string(::ERR_peek_error());
  return reason == nullptr ? "OpenSSL refuses it" : reason;
}

// Without it OpenSSL would ask the terminal for a passphrase, and the server would wait for ever.
int no_passphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

void use_certificate(SSL_CTX& context, const std::string& path) {
  const RegularFile readable(path);  // or why it is not
  ::ERR_clear_error();
  if (::SSL_CTX_use_certificate_chain_file(&context, path.c_str()) == 1) return;
  const unsigned long error = ::ERR_peek_error();
  if (ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE) {
    throw std::runtime_error(path + ": holds no certificate in PEM form");
  }
  throw std::runtime_error(path + ": is no certificate that can be used: " + openssl_reason());
}

Key read_key(const std::string& path) {
  std::string text = read_private_file(path);
  const std::unique_ptr<BIO, FreeKey> memory(::BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  bool asked_for_passphrase = false;
  Key key(::PEM_read_bio_PrivateKey(memory.get(), nullptr, no_passphrase, &asked_for_passphrase));
  ::OPENSSL_cleanse(text.data(), text.size());
  if (asked_for_passphrase) throw std::runtime_error(path + ": needs a passphrase, and there is nobody to ask");
  if (!key) throw std::runtime_error(path + ": holds no private key in PEM form");
  return key;
}

std::unique_ptr<SSL_CTX, FreeTls> new_context(const TlsFiles& files) {
  std::unique_ptr<SSL_CTX, FreeTls> context(::SSL_CTX_new(::TLS_server_method()));
  if (!context || ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1) throw std::bad_alloc();
  ::SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  // A write may take a part only, and the rest may come from another buffer. Idle connections hold no buffers.
  ::SSL_CTX_set_mode(context.get(),
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  ::SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);  // clients keep their sessions in tickets
  use_certificate(*context, files.certificate);
  const Key key = read_key(files.key);
  ::ERR_clear_error();
  const bool fits = ::SSL_CTX_use_PrivateKey(context.get(), key.get()) == 1;
  if (!fits || ::SSL_CTX_check_private_key(context.get()) != 1) {
    throw std::runtime_error(files.key + ": is not the key of the certificate in " + files.certificate + " (" +
                             openssl_reason() + ")");
  }
  return context;
}

}  // namespace

void FreeTls::operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
void FreeTls::operator()(SSL* session) const { ::SSL_free(session); }

TlsIdentity::TlsIdentity(const TlsFiles& files) : context_(new_context(files)) {}

void TlsIdentity::replace(const TlsFiles& files) { context_ = new_context(files); }

OwnedSsl TlsIdentity::new_session() const {
  OwnedSsl session(::SSL_new(context_.get()));
  if (!session) throw std::bad_alloc();
  ::SSL_set_accept_state(session.get());
  return session;
}

}  // namespace rkllm_mcp
