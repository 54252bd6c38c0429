// A worker that answers whatever it is asked with bytes that are no frame.
#include "worker/descriptor.hpp"
#include "worker/worker_process.hpp"

#include <sys/socket.h>

#include <string_view>
#include <vector>

int main() {
  using namespace rkllm_mcp;
  const Descriptor door(WorkerProcess::kDoor);
  std::vector<Parcel> kept;
  while (auto parcel = take_parcel(door)) {
    constexpr std::string_view kNonsense = "HTTP/1.1 200 OK\r\n\r\n";
    ::send(parcel->descriptors.first.number(), kNonsense.data(), kNonsense.size(), MSG_NOSIGNAL);
    kept.push_back(std::move(*parcel));
  }
}
