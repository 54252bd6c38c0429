#include "support/certificate.hpp"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdio>
#include <memory>
#include <stdexcept>

namespace rkllm_mcp::test {
namespace {

struct Free {
  void operator()(EVP_PKEY_CTX* context) const { ::EVP_PKEY_CTX_free(context); }
  void operator()(EVP_PKEY* key) const { ::EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { ::X509_free(certificate); }
  void operator()(X509_EXTENSION* extension) const { ::X509_EXTENSION_free(extension); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

void expect(bool well, const char* step) {
  if (!well) throw std::runtime_error(std::string("no certificate could be made: ") + step);
}

Owned<EVP_PKEY> new_key() {
  const Owned<EVP_PKEY_CTX> context(::EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nullptr));
  EVP_PKEY* key = nullptr;
  expect(context && ::EVP_PKEY_keygen_init(context.get()) == 1 &&
             ::EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context.get(), NID_X9_62_prime256v1) == 1 &&
             ::EVP_PKEY_keygen(context.get(), &key) == 1,
         "its key");
  return Owned<EVP_PKEY>(key);
}

void add_extension(X509& certificate, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  ::X509V3_set_ctx(&context, &certificate, &certificate, nullptr, nullptr, 0);
  const Owned<X509_EXTENSION> extension(::X509V3_EXT_conf_nid(nullptr, &context, kind, value));
  expect(extension && ::X509_add_ext(&certificate, extension.get(), -1) == 1, value);
}

Owned<X509> new_certificate(EVP_PKEY& key, const std::string& name) {
  constexpr long kHour = 3600;
  Owned<X509> certificate(::X509_new());
  X509& made = *certificate;
  ::X509_set_version(&made, 2);  // which is version 3
  ::ASN1_INTEGER_set(::X509_get_serialNumber(&made), 1);
  ::X509_gmtime_adj(::X509_getm_notBefore(&made), -kHour);
  ::X509_gmtime_adj(::X509_getm_notAfter(&made), kHour);
  ::X509_set_pubkey(&made, &key);
  X509_NAME* subject = ::X509_get_subject_name(&made);
  const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
  ::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, text, -1, -1, 0);
  ::X509_set_issuer_name(&made, subject);
  add_extension(made, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(made, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  expect(::X509_sign(&made, &key, ::EVP_sha256()) > 0, "its signature");
  return certificate;
}

Owned<std::FILE> open_file(const std::string& path, const char* mode) {
  Owned<std::FILE> file(std::fopen(path.c_str(), mode));
  expect(file != nullptr, path.c_str());
  return file;
}

}  // namespace

CertificateFiles make_certificate(const std::string& directory, const std::string& name) {
  CertificateFiles files{directory + "/" + name + ".pem", directory + "/" + name + ".key"};
  const auto key = new_key();
  const auto certificate = new_certificate(*key, name);
  expect(::PEM_write_X509(open_file(files.certificate, "w").get(), certificate.get()) == 1, "its file");
  expect(::PEM_write_PrivateKey(open_file(files.key, "w").get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1,
         "its key's file");
  expect(::chmod(files.key.c_str(), 0600) == 0, "its key's mode");
  return files;
}

std::string lock_key(const CertificateFiles& files, const std::string& directory, const std::string& passphrase) {
  const Owned<EVP_PKEY> key(::PEM_read_PrivateKey(open_file(files.key, "r").get(), nullptr, nullptr, nullptr));
  const std::string path = directory + "/locked.key";
  std::string words = passphrase;
  expect(key && ::PEM_write_PKCS8PrivateKey(open_file(path, "w").get(), key.get(), ::EVP_aes_128_cbc(), words.data(),
                                            static_cast<int>(words.size()), nullptr, nullptr) == 1,
         "a locked key");
  expect(::chmod(path.c_str(), 0600) == 0, "its mode");
  return path;
}

}  // namespace rkllm_mcp::test
