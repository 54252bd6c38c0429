// rkllm_createDefaultParam. The values are those that were measured with 1.3.0; what older versions have is not known.
#include "board/cpus.hpp"

#include <rkllm.h>

#include <cstdint>

namespace {

// What enabled_cpus_mask holds where the vendor's library leaves it unwritten. A real one holds anything.
constexpr std::uint32_t kUnwrittenMask = 0xDEADBEEF;

// A template, so that it may ask for fields that a set lacks.
template <class Param>
Param defaults() {
  Param param{};
  param.max_context_len = 512;
  param.max_new_tokens = 512;
  param.top_k = 40;
  if constexpr (requires { param.n_keep; }) param.n_keep = -1;
  param.top_p = 0.9F;
  param.temperature = 0.8F;
  param.repeat_penalty = 1.1F;
  param.mirostat_tau = 5.0F;
  param.mirostat_eta = 0.1F;
  param.skip_special_token = true;
  if constexpr (requires { param.extend_param.enabled_cpus_mask; }) {
    param.extend_param.embed_flash = 1;
    param.extend_param.enabled_cpus_num = 4;
    const int cpus = rkllm_mcp::sim::cpus_online();
    param.extend_param.enabled_cpus_mask = cpus == 8 ? 0xF0 : cpus == 4 ? 0x0F : kUnwrittenMask;
  }
  if constexpr (requires { param.extend_param.n_batch; }) param.extend_param.n_batch = 1;
  return param;
}

}  // namespace

RKLLMParam rkllm_createDefaultParam() { return defaults<RKLLMParam>(); }
