// The page that DuckDuckGo answers with to those who run no scripts, as results.
#pragma once

#include "text/url.hpp"
#include "tools/html/html_document.hpp"

#include <rkllm_mcp/json.hpp>

namespace rkllm_mcp {

// {"results": [{"title", "content", "link"}]}, advertisements left out; {"refused": true} if it asks to be shown that a
// person searches; {"unknown": true} if it is neither results nor the word that there are none.
Json read_duckduckgo_page(const HtmlDocument& document, const Url& address);

}  // namespace rkllm_mcp
