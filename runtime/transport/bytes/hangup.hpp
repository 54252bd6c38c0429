// Waits until the system itself reports that a socket or a pipe has lost its other side, without reading or writing.
#pragma once

#include <functional>
#include <system_error>
#include <utility>

#include <poll.h>

namespace rkllm_mcp {

// Calls `handler` from the loop when `descriptor` (an asio socket or stream descriptor) has been hung up. Out-of-band
// data wakes the wait as well; it ends the wait and is not a hang-up.
template <class Descriptor>
void wait_hangup(Descriptor& descriptor, std::function<void()> handler) {
  descriptor.async_wait(Descriptor::wait_error,
                        [&descriptor, handler = std::move(handler)](const std::error_code& error) {
                          if (error) return;
                          pollfd state{descriptor.native_handle(), 0, 0};
                          if (::poll(&state, 1, 0) == 1 && (state.revents & (POLLERR | POLLHUP)) != 0) handler();
                        });
}

}  // namespace rkllm_mcp
