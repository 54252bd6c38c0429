// A certificate for this machine (localhost, 127.0.0.1), signed by itself, and its key: made anew for each test that
// needs one.
#pragma once

#include <string>

namespace rkllm_mcp::test {

struct CertificateFiles {
  std::string certificate;
  std::string key;  // mode 0600
};

// Writes NAME.pem and NAME.key into the directory. `name` is the certificate's common name, too. Throws
// std::runtime_error.
CertificateFiles make_certificate(const std::string& directory, const std::string& name = "server");

// The same key, locked by a passphrase; gives the file's path.
std::string lock_key(const CertificateFiles& files, const std::string& directory, const std::string& passphrase);

}  // namespace rkllm_mcp::test
