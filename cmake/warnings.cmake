# The warnings that every target of this project is built with. `WERROR` is for presets, so that a new compiler's new
# warning never stops a user's build.
add_library(rkllm_mcp_warnings INTERFACE)
target_compile_options(rkllm_mcp_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow
                       $<$<BOOL:${RKLLM_MCP_WERROR}>:-Werror>)
