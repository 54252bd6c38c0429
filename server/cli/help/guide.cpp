#include "cli/help/guide.hpp"

#include "version.hpp"

namespace rkllm_mcp {

std::string guide() {
  return "rkllm-mcp " + std::string(kProgramVersion) +
         R"(: language models on the NPU of a Rockchip board, for any program.

First steps:
  rkllm-mcp doctor                   is this machine ready? what to do if not
  rkllm-mcp serve                    start the server
  rkllm-mcp pull hf.co/OWNER/NAME    fetch a model (in another terminal)
  rkllm-mcp chat                     talk to a model, or open
                                     http://127.0.0.1:8080/ in a browser

On a PC without a board, the simulator stands in for the NPU:
  rkllm-mcp serve --simulator

To look and manage:
  rkllm-mcp status                   is the server running, and what does it do?
  rkllm-mcp models                   which models there are; load NAME, unload NAME

All commands:  rkllm-mcp help
One command:   rkllm-mcp help COMMAND
)";
}

}  // namespace rkllm_mcp
