#include "client/sockets/tls_session.hpp"

#include "client/connection.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <limits>

namespace rkllm_mcp::client {
namespace {

bool is_address(const std::string& host) {
  std::array<unsigned char, 16> bytes{};
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

std::string reason_of_openssl() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return reason == nullptr ? "the connection ended" : reason;
}

// Whether a CA file would help. It does not where a certificate has expired, or is for another name.
bool is_of_unknown_issuer(long verdict) {
  return verdict == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT || verdict == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN ||
         verdict == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT || verdict == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
         verdict == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE;
}

bool is_of_another_name(long verdict) {
  return verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH;
}

int bounded(std::size_t size) {
  return static_cast<int>(std::min<std::size_t>(size, static_cast<std::size_t>(std::numeric_limits<int>::max())));
}

}  // namespace

std::string words_of_certificate(long verdict) {
  return std::string("the server's certificate cannot be verified: ") + X509_verify_cert_error_string(verdict);
}

long verdict_on_name(const std::string& host) {
  return is_address(host) ? X509_V_ERR_IP_ADDRESS_MISMATCH : X509_V_ERR_HOSTNAME_MISMATCH;
}

void refuse_certificate(const std::string& where, long verdict) {
  const std::string words = where + ": " + words_of_certificate(verdict);
  if (is_of_unknown_issuer(verdict)) throw UntrustedServer(words);
  if (is_of_another_name(verdict)) throw MisnamedServer(words);
  throw ConnectionError(words);
}

void TlsSession::Free::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }
void TlsSession::Free::operator()(ssl_st* session) const { SSL_free(session); }

TlsSession::TlsSession(const Endpoint& endpoint)
    : where_(endpoint.authority()), context_(SSL_CTX_new(TLS_client_method())) {
  if (!context_) fail("no TLS: " + reason_of_openssl());
  SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  const bool has_authorities =
      endpoint.ca_file.empty() ? SSL_CTX_set_default_verify_paths(context_.get()) == 1
                               : SSL_CTX_load_verify_locations(context_.get(), endpoint.ca_file.c_str(), nullptr) == 1;
  if (!has_authorities) {
    fail("no certificates to verify the server's with" +
         (endpoint.ca_file.empty() ? std::string() : " in " + endpoint.ca_file) + ": " + reason_of_openssl());
  }
  session_.reset(SSL_new(context_.get()));
  BIO* const received = BIO_new(BIO_s_mem());
  BIO* const output = BIO_new(BIO_s_mem());
  SSL_set_bio(session_.get(), received, output);  // owns both now
  X509_VERIFY_PARAM* const verified = SSL_get0_param(session_.get());
  // A file may name the server's certificate itself instead of whoever signed it.
  X509_VERIFY_PARAM_set_flags(verified, X509_V_FLAG_PARTIAL_CHAIN);
  if (is_address(endpoint.host)) {
    X509_VERIFY_PARAM_set1_ip_asc(verified, endpoint.host.c_str());
  } else {
    SSL_set_tlsext_host_name(session_.get(), endpoint.host.c_str());
    SSL_set1_host(session_.get(), endpoint.host.c_str());
  }
  SSL_set_connect_state(session_.get());
}

TlsSession::~TlsSession() = default;

void TlsSession::fail(const std::string& what) const { throw ConnectionError(where_ + ": " + what); }

bool TlsSession::shake_hands() {
  ERR_clear_error();  // SSL_get_error() looks at what others left, too
  const int result = SSL_do_handshake(session_.get());
  if (result == 1) return true;
  if (SSL_get_error(session_.get(), result) == SSL_ERROR_WANT_READ) return false;
  const long verdict = SSL_get_verify_result(session_.get());
  if (verdict != X509_V_OK) {
    ERR_clear_error();
    refuse_certificate(where_, verdict);
  }
  fail("no TLS there (" + reason_of_openssl() + ")");
}

void TlsSession::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ERR_clear_error();
    const int written = SSL_write(session_.get(), bytes.data(), bounded(bytes.size()));
    if (written <= 0) fail(reason_of_openssl());
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::optional<std::size_t> TlsSession::read(std::span<char> buffer) {
  ERR_clear_error();
  const int size = SSL_read(session_.get(), buffer.data(), bounded(buffer.size()));
  if (size > 0) return static_cast<std::size_t>(size);
  const int error = SSL_get_error(session_.get(), size);
  if (error == SSL_ERROR_WANT_READ) return std::nullopt;
  if (error == SSL_ERROR_ZERO_RETURN) return 0;
  fail(reason_of_openssl());
}

void TlsSession::say_goodbye() {
  SSL_shutdown(session_.get());
  ERR_clear_error();
}

void TlsSession::give(std::string_view received) {
  BIO_write(SSL_get_rbio(session_.get()), received.data(), bounded(received.size()));
}

std::string TlsSession::take_output() {
  BIO* const output = SSL_get_wbio(session_.get());
  std::string bytes(BIO_ctrl_pending(output), '\0');
  if (!bytes.empty()) BIO_read(output, bytes.data(), bounded(bytes.size()));
  return bytes;
}

}  // namespace rkllm_mcp::client
