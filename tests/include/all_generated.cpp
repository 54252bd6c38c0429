// Everything that is generated, in one translation unit: a second compiler is asked whether it has anything to say.
#include <rkllm_mcp/abi_sets.hpp>
