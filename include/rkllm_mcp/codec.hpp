// All that generated code includes to convert values between JSON and C.
#pragma once

#include <rkllm_mcp/codec_rules.hpp>
#include <rkllm_mcp/decoder.hpp>
#include <rkllm_mcp/encoder.hpp>
