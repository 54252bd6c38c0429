// A plain port of this machine behind which a server speaks TLS: so that every client that tests have can be used, on
// a connection that OpenSSL verifies. Ends with its scope, when its clients have ended.
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace rkllm_mcp::test {

class TlsTunnel {
 public:
  // `trusted` as in TlsSocket. Throws std::system_error.
  TlsTunnel(std::uint16_t to, std::string trusted);
  TlsTunnel(const TlsTunnel&) = delete;
  TlsTunnel& operator=(const TlsTunnel&) = delete;
  ~TlsTunnel();

  std::uint16_t port() const { return port_; }

 private:
  void serve();

  const std::uint16_t to_;
  const std::string trusted_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::vector<std::thread> clients_;
  std::thread acceptor_;
};

}  // namespace rkllm_mcp::test
