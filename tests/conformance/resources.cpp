#include "fixtures.hpp"

#include <optional>

namespace rkllm_mcp::conformance {
namespace {

constexpr std::string_view kBefore = "test://template/";
constexpr std::string_view kAfter = "/data";

std::optional<mcp::ResourceText> read_template(std::string_view uri) {
  if (uri.size() <= kBefore.size() + kAfter.size() || !uri.starts_with(kBefore) || !uri.ends_with(kAfter)) {
    return std::nullopt;
  }
  const std::string id(uri.substr(kBefore.size(), uri.size() - kBefore.size() - kAfter.size()));
  return mcp::ResourceText{Json{{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}}.dump()};
}

mcp::ResourceText static_text() { return {"This is the content of the static text resource."}; }
mcp::ResourceText static_binary() { return {image_block()["data"].get<std::string>(), true}; }
mcp::ResourceText watched() { return {"This could change at any time."}; }

}  // namespace

void add_resources(mcp::Catalogue& catalogue) {
  catalogue.resources = {
      {"test://static-text", "static-text", "", "A text", "text/plain", static_text},
      {"test://static-binary", "static-binary", "", "An image", "image/png", static_binary},
      {"test://watched-resource", "watched-resource", "", "A text to subscribe to", "text/plain", watched}};
  catalogue.templates = {
      {"test://template/{id}/data", "template", "", "A text about an id", "application/json", read_template}};
}

}  // namespace rkllm_mcp::conformance
