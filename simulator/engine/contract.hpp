// What happens when a program does what the vendor's library does not survive.
//
// By default the process says on stderr which rule was broken and aborts, so that a mistake is found on a developer's
// machine and not on the board. RKLLM_SIM_STRICT=crash dies the way the vendor's library dies, RKLLM_SIM_STRICT=hang
// blocks the calling thread for ever.
#pragma once

#include <string_view>

namespace rkllm_mcp::sim {

// What the vendor's library does in such a case.
enum class Death {
  kSegmentationFault,
  kAbort,
  kException,  // std::logic_error leaves the C function; nobody catches it in a C program, so it aborts
  kHang,       // it never returns
};

// `what` names the C function and the rule, e.g. "rkllm_run: rkllm_input is NULL". Any thread.
[[noreturn]] void broken_contract(Death death, std::string_view what);

// Ends the process without a word about contracts: for faults that a model file asks for.
[[noreturn]] void die(Death death, std::string_view what = "");

// Blocks the calling thread for ever.
[[noreturn]] void hang();

}  // namespace rkllm_mcp::sim
