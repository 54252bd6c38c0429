// Descriptors that a program which is started shall not have. For a new process between fork and exec: nothing here
// allocates or locks.
#pragma once

namespace rkllm_mcp {

// All that this process has open, from `first` on.
void close_on_exec_from(int first);
// Does what close_on_exec_from() does where the kernel cannot do it at once: before Linux 5.11.
void close_on_exec_one_by_one(int first);

}  // namespace rkllm_mcp
