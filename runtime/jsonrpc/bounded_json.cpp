#include "jsonrpc/bounded_json.hpp"

#include "jsonrpc/json_builder.hpp"

namespace rkllm_mcp {

std::optional<Json> parse_bounded(std::string_view text, std::size_t depth, std::size_t values) {
  JsonBuilder builder(depth);
  builder.refuse_above(values);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) return std::nullopt;
  return builder.take();
}

}  // namespace rkllm_mcp
