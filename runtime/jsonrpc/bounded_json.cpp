#include "jsonrpc/bounded_json.hpp"

#include "jsonrpc/json_builder.hpp"

#include <stdexcept>

namespace rkllm_mcp {

std::optional<Json> parse_bounded(std::string_view text, std::size_t depth, std::size_t values) {
  JsonBuilder builder(depth);
  builder.refuse_above(values);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) return std::nullopt;
  return builder.take();
}

Json parse_or_complain(std::string_view text) {
  JsonBuilder builder(kDeepestJson);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) throw std::invalid_argument(builder.complaint());
  return builder.take();
}

}  // namespace rkllm_mcp
