#include "transport/bytes/tls_identity.hpp"

#include "support/catch.hpp"
#include "support/certificate.hpp"
#include "support/process.hpp"

#include <sys/stat.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

std::string refusal_of(const TlsFiles& files) {
  try {
    const TlsIdentity identity(files);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

// Some of what stands in a key's file, in pieces that nobody would print by accident.
bool tells_of(const std::string& message, const std::string& key_file) {
  constexpr std::size_t kPiece = 8;
  const std::string key = read_file(key_file);
  const std::size_t begin = key.find('\n') + 1;  // after the line that only names the kind
  const std::size_t end = key.rfind("-----END");
  for (std::size_t at = begin; at + kPiece <= end; ++at) {
    if (message.find(key.substr(at, kPiece)) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("TLS: a certificate and its key are accepted") {
  TemporaryDirectory directory;
  const auto files = make_certificate(directory.path());
  CHECK(refusal_of({files.certificate, files.key}).empty());
}

TEST_CASE("TLS: a certificate or key that cannot be used is refused, naming the file and the reason, never the key") {
  TemporaryDirectory directory;
  const auto files = make_certificate(directory.path());
  const auto other = make_certificate(directory.path(), "other");
  const std::string locked = lock_key(files, directory.path(), "open sesame");
  const std::string broken = directory / "broken.key";
  std::string text = read_file(files.key);
  write_file(broken, text.erase(text.size() / 2, 5));
  REQUIRE(::chmod(broken.c_str(), 0600) == 0);
  const std::string nonsense = directory / "nonsense";
  write_file(nonsense, "-----BEGIN\nhello\n");
  REQUIRE(::chmod(nonsense.c_str(), 0600) == 0);
  const std::string missing = directory / "missing";

  const std::vector<std::pair<TlsFiles, std::string>> cases{
      {{missing, files.key}, missing + ": No such file or directory"},
      {{files.certificate, missing}, missing + ": No such file or directory"},
      {{nonsense, files.key}, nonsense + ": holds no certificate in PEM form"},
      {{files.certificate, nonsense}, nonsense + ": holds no private key in PEM form"},
      {{files.certificate, broken}, broken + ": holds no private key in PEM form"},
      {{files.certificate, files.certificate}, files.certificate + ": is open to other users"},
      {{files.certificate, locked}, locked + ": needs a passphrase"},
      {{files.certificate, other.key}, other.key + ": is not the key of the certificate in " + files.certificate},
  };
  for (const auto& [wrong, expected] : cases) {
    const std::string refusal = refusal_of(wrong);
    INFO(refusal);
    CHECK(refusal.find(expected) == 0);
    for (const auto& key : {files.key, other.key, locked}) CHECK_FALSE(tells_of(refusal, key));
  }
}

TEST_CASE("TLS: a key that others can read is refused") {
  TemporaryDirectory directory;
  const auto files = make_certificate(directory.path());
  for (const mode_t mode : {0640U, 0604U, 0660U, 0602U}) {
    REQUIRE(::chmod(files.key.c_str(), mode) == 0);
    CHECK(refusal_of({files.certificate, files.key}) ==
          files.key + ": is open to other users; close it with chmod 600");
  }
  REQUIRE(::chmod(files.key.c_str(), 0400) == 0);
  CHECK(refusal_of({files.certificate, files.key}).empty());
}

TEST_CASE("TLS: what cannot be read again changes nothing") {
  TemporaryDirectory directory;
  const auto files = make_certificate(directory.path());
  TlsIdentity identity({files.certificate, files.key});
  CHECK_THROWS_AS(identity.replace({files.certificate, directory / "missing"}), std::runtime_error);
  CHECK(identity.new_session() != nullptr);
}
