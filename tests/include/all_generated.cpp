// Everything that is generated, in one translation unit: a second compiler is asked whether it has anything to say.
#include <rkllm_mcp/v1_3_0/methods.hpp>
