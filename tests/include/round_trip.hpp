// Reads JSON as a struct, and writes what was read.
#pragma once

#include <rkllm_mcp/codec.hpp>

#include <string_view>

namespace rkllm_mcp::test {

// `encoding.handle` must be there: it is what the struct is read for, too.
template <class T>
Json round_trip(const Json& json, const Encoding& encoding, std::string_view version = {}) {
  HandleRecord handle = *encoding.handle;
  const Json params = {{"value", json}};
  CallContext call{params, &handle, nullptr, encoding.arrays, {}, version};
  T value = default_of(TypeTag<T>{});
  Decoder decoder(call, "round_trip");
  decoder.structure("value", value, kRequired);
  decoder.finish();
  return encode(value, encoding);
}

// For a handle with vectors of 2 numbers and 100 tokens.
template <class T>
Json round_trip(const Json& json, ArrayEncoding arrays = ArrayEncoding::kJson) {
  HandleRecord handle;
  handle.values = {{"embd_size", 2}, {"vocab_size", 100}, {"n_batch", 1}};
  return round_trip<T>(json, Encoding{arrays, &handle});
}

// False for structs of C functions, which have no JSON.
template <class T>
concept Travels = requires(Encoder& codec, const T& value) {
  members(codec, value);
};

}  // namespace rkllm_mcp::test
