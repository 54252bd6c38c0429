#include "threads/stop_signal.hpp"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

namespace rkllm_mcp {

void StopSignal::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (watched_.number() >= 0) ::shutdown(watched_.number(), SHUT_RDWR);
}

bool StopSignal::is_stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

void StopSignal::watch(int socket) {
  const std::lock_guard lock(mutex_);
  watched_ = Descriptor(::fcntl(socket, F_DUPFD_CLOEXEC, 0));
  if (stopped_ || watched_.number() < 0) ::shutdown(socket, SHUT_RDWR);
}

unsigned long long StopSignal::received() const {
  const std::lock_guard lock(mutex_);
  tcp_info info{};
  socklen_t size = sizeof info;
  if (watched_.number() < 0 || ::getsockopt(watched_.number(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return size >= offsetof(tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received ? info.tcpi_bytes_received
                                                                                           : 0;
}

}  // namespace rkllm_mcp
