#include "fuzz/every_codec.hpp"

#include "fuzz/reading_library.hpp"
#include "include/recording_sink.hpp"
#include "include/round_trip.hpp"
#include "types_of_sets.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp::test {
namespace {

HandleRecord handle_in(const Circumstances& circumstances) {
  HandleRecord handle;
  handle.id = "llm-1";
  handle.values = {{"is_async", 1}, {"use_cross_attn", 1}};
  handle.values["n_batch"] = circumstances.has_batch ? 2 : 1;
  if (circumstances.embd_size_is_known) handle.values["embd_size"] = 2;
  if (circumstances.vocab_size_is_known) handle.values["vocab_size"] = 100;
  return handle;
}

// Whether an error is one that the contract allows.
bool may_be(const RpcError& error, const Circumstances& circumstances) {
  switch (error.code()) {
    case ErrorCode::kInvalidParams: {
      const std::string path = error.data().at("path");
      return path.rfind("params", 0) == 0 && std::string_view(error.what()).find(": ") != std::string_view::npos;
    }
    case ErrorCode::kUnsupported: return error.data().contains("needs");
    case ErrorCode::kCallFailed:
      return circumstances.call_fails || !circumstances.embd_size_is_known || !circumstances.vocab_size_is_known;
    default: return false;
  }
}

// As Codec::takes, for something that throws.
template <class Run>
bool takes(const Circumstances& circumstances, const Run& run) {
  try {
    run();
    return true;
  } catch (const RpcError& error) {
    if (may_be(error, circumstances)) return false;
    throw std::logic_error("refused with " + std::to_string(static_cast<int>(error.code())) + ": " + error.what());
  }
}

Codec codec_of(const Method& method, std::string_view version, const std::shared_ptr<Binding>& binding) {
  return {std::string(method.name), &method,
          [&method, version, binding](const Json& params, const Circumstances& circumstances) {
            HandleRecord handle = handle_in(circumstances);
            ReadingLibrary library(handle);
            handle.native = &library;
            library.status = circumstances.call_fails ? -1 : 0;
            RecordingSink sink;
            CallContext call{params, &handle, &sink, circumstances.encoding, {}, version};
            return takes(circumstances, [&] { binding->call(method, call).dump(); });
          }};
}

template <class T>
Codec codec_of(const std::string& name, std::string_view version) {
  return {name, nullptr, [version](const Json& json, const Circumstances& circumstances) {
            const HandleRecord handle = handle_in(circumstances);
            const Encoding encoding{circumstances.encoding, &handle};
            Json written;
            const bool taken = takes(circumstances, [&] { written = round_trip<T>(json, encoding, version); });
            // What was written need not be readable (zero as a value that was not given). If it is, it stays the same.
            Json again = written;
            if (taken) takes(circumstances, [&] { again = round_trip<T>(written, encoding, version); });
            if (again != written) {
              throw std::logic_error("written " + written.dump() + ", read and written again " + again.dump());
            }
            return taken;
          }};
}

std::vector<SetOfCodecs> make_every_codec() {
  std::vector<SetOfCodecs> sets;
  for (const AbiSet* set : kAbiSets) {
    SetOfCodecs codecs{set->version, {}, {}};
    std::shared_ptr<Binding> binding;
    for_each_library([&]<class Functions>(std::string_view version, TypeTag<Functions>) {
      if (version == set->version) binding = bound_to_reading_library<Functions>(*set);
    });
    for (const Method& method : set->methods) codecs.methods.push_back(codec_of(method, set->version, binding));
    for_each_struct([&]<class T>(std::string_view version, const std::string& name, TypeTag<T>) {
      if constexpr (Travels<T>) {
        if (version == set->version) codecs.structs.push_back(codec_of<T>(name, set->version));
      }
    });
    sets.push_back(std::move(codecs));
  }
  return sets;
}

}  // namespace

const std::vector<SetOfCodecs>& every_codec() {
  static const std::vector<SetOfCodecs> codecs = make_every_codec();
  return codecs;
}

}  // namespace rkllm_mcp::test
