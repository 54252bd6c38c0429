#include "cli/help/guide.hpp"

#include "cli/help/rows.hpp"
#include "cli/help/terminal.hpp"
#include "version.hpp"

namespace rkllm_mcp {

std::string guide(std::size_t width) {
  constexpr std::size_t kWidestName = 32;
  const auto rows = [width](const char* title, const std::vector<HelpRow>& all) {
    return "\n" + rows_text(title, all, width, kWidestName);
  };
  return wrapped("rkllm-mcp " + std::string(kProgramVersion) +
                     ": language models on the NPU of a Rockchip board, for any program.",
                 width, 0) +
         "\n" +
         rows("First steps", {{"rkllm-mcp doctor", "is this machine ready? what to do if not"},
                              {"rkllm-mcp serve", "start the server"},
                              {"rkllm-mcp pull hf.co/OWNER/NAME", "fetch a model (in another terminal)"},
                              {"rkllm-mcp chat", "talk to a model, or open http://127.0.0.1:8080/ in a browser"}}) +
         rows("On a PC without a board", {{"rkllm-mcp serve --simulator", "the simulator stands in for the NPU"}}) +
         rows("To look and manage", {{"rkllm-mcp status", "is the server running, and what does it do?"},
                                     {"rkllm-mcp models", "which models there are; load NAME, unload NAME"}}) +
         rows("More", {{"rkllm-mcp help", "all commands"}, {"rkllm-mcp help COMMAND", "one of them"}});
}

}  // namespace rkllm_mcp
