// A worker that answers whatever it is asked with bytes that are no frame.
#include "process/descriptor.hpp"
#include "worker/child_process.hpp"
#include "worker/control_socket.hpp"

#include <sys/socket.h>

#include <string_view>
#include <vector>

int main() {
  using namespace rkllm_mcp;
  const Descriptor control(ChildProcess::kControlSocket);
  std::vector<PassedSockets> kept;
  while (auto sockets = take_sockets(control)) {
    constexpr std::string_view kNonsense = "HTTP/1.1 200 OK\r\n\r\n";
    ::send(sockets->ends.first.number(), kNonsense.data(), kNonsense.size(), MSG_NOSIGNAL);
    kept.push_back(std::move(*sockets));
  }
}
