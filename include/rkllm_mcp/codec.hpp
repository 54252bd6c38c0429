// Both directions between JSON and C: what generated codecs lean on.
#pragma once

#include <rkllm_mcp/codec_rules.hpp>
#include <rkllm_mcp/decoder.hpp>
#include <rkllm_mcp/encoder.hpp>
