// One list of what another MCP server offers, its tools or others, while it comes, page by page.
#pragma once

#include "client/mcp/remote_error.hpp"
#include "upstreams/offered.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace rkllm_mcp {

class ToolPages {
 public:
  explicit ToolPages(const OfferedList& list = list_of(Offered::kTools)) : list_(list) {}

  // The parameters to ask for the next page with.
  Json params() const { return cursor_.empty() ? Json::object() : Json{{"cursor", cursor_}}; }
  // Takes that page. Whether there is another. Throws ConnectionError if it is no page.
  bool take(const client::Outcome& page);
  // Why the list ends before the server's; empty if it does not.
  const std::string& cut_short() const { return cut_short_; }
  std::vector<Json>& tools() { return tools_; }  // or what else is listed

 private:
  const OfferedList& list_;
  std::vector<Json> tools_;
  std::size_t bytes_ = 0;
  std::size_t values_left_ = kMostUpstreamValues;
  std::string cursor_;
  std::set<std::string> cursors_;
  std::string cut_short_;
};

}  // namespace rkllm_mcp
