#include "cli/serve.hpp"

#include "cli/exit_codes.hpp"

#include <cstdio>

namespace rkllm_mcp {

int run_serve(const ServeOptions&, const SettingsRequest&, LoadedSettings) {
  std::fputs("rkllm-mcp serve: not built yet\n", stderr);
  return kExitCannotStart;
}

}  // namespace rkllm_mcp
