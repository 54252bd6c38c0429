#include "fuzz/codec_input.hpp"

#include <cstddef>
#include <vector>

namespace rkllm_mcp::test {
namespace {

template <class T>
const T& choose(const std::vector<T>& choices, char byte, char first) {
  return choices[static_cast<unsigned char>(byte - first) % choices.size()];
}

}  // namespace

std::optional<CodecInput> read_codec_input(std::string_view bytes) {
  constexpr std::size_t kChoices = 3;
  if (bytes.size() < kChoices) return std::nullopt;
  Json json = Json::parse(bytes.substr(kChoices), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return std::nullopt;
  const SetOfCodecs& set = choose(every_codec(), bytes[0], '0');
  const bool is_struct = bytes[1] >= 'A' && bytes[1] <= 'Z';
  const Codec& codec = is_struct ? choose(set.structs, bytes[1], 'A') : choose(set.methods, bytes[1], 'a');
  const auto flags = static_cast<unsigned char>(bytes[2] - '0');
  const Circumstances circumstances{.embd_size_is_known = (flags & 1U) == 0,
                                    .vocab_size_is_known = (flags & 2U) == 0,
                                    .has_batch = (flags & 4U) != 0,
                                    .call_fails = (flags & 8U) != 0,
                                    .encoding = (flags & 16U) != 0 ? ArrayEncoding::kBase64 : ArrayEncoding::kJson};
  return CodecInput{set, codec, circumstances, std::move(json)};
}

}  // namespace rkllm_mcp::test
