#include <rkllm_mcp/v1_3_0/methods.hpp>  // the runtime must not know any generated API
