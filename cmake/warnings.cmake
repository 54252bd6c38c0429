# The warnings that every target of this project is built with. `RKLLM_MCP_WERROR` is for presets, so that a new
# compiler's new warning never stops a user's build.
add_library(rkllm_mcp_warnings INTERFACE)
# GCC 12 sees overlapping copies in every `"text" + std::string` that it optimises (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(rkllm_mcp_warnings INTERFACE -Wno-restrict)
endif()
target_compile_options(rkllm_mcp_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow
                       $<$<BOOL:${RKLLM_MCP_WERROR}>:-Werror>)
