# RKLLM_MCP_SANITIZE=address,undefined (or thread) instruments everything, the simulator included.
if(RKLLM_MCP_SANITIZE)
  add_compile_options(-fsanitize=${RKLLM_MCP_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${RKLLM_MCP_SANITIZE})
endif()
