// rkllm_is_running as 1.3.0 documents it, and does.
#include "engine/session.hpp"
#include "exports/preconditions.hpp"

#include <rkllm.h>

using namespace rkllm_mcp::sim;

int rkllm_is_running(LLMHandle handle) {
  if (handle == nullptr) return -1;
  return session_of(handle, __func__).is_running() ? 1 : 0;
}
