// How arrays of floats appear in replies.
#pragma once

namespace rkllm_mcp {

enum class ArrayEncoding {
  kJson,    // [0.5,-1,...]
  kBase64,  // {"base64":"...","dtype":"float32"}: IEEE 754, little endian
};

}  // namespace rkllm_mcp
