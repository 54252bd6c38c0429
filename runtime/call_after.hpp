// Something that is to be done later, once, and that nobody calls off: without a timer as a member somewhere.
#pragma once

#include "clock.hpp"

#include <asio/io_context.hpp>

#include <memory>
#include <utility>

namespace rkllm_mcp {

// Calls `action` on the loop, after `pause`. Nothing stops it before: an action whose object may be gone by then has to
// look. It is dropped if the loop ends first.
template <class Action>
void call_after(asio::io_context& loop, Clock::duration pause, Action action) {
  auto timer = std::make_unique<Timer>(loop, pause);
  Timer& waiting = *timer;  // belongs to its own handler, and so lives until that is called
  waiting.async_wait([timer = std::move(timer), action = std::move(action)](const asio::error_code&) { action(); });
}

}  // namespace rkllm_mcp
