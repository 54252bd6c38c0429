// What the search tools have in common: their schemas, and how results are told.
#pragma once

#include "tools/offered_tool.hpp"

#include <rkllm_mcp/json.hpp>

#include <string>
#include <string_view>

namespace rkllm_mcp {

// {query, max_results? (1 to 10, 5)}
Json search_input_schema();
// {query, results: [{title, content, link}]}
Json search_output_schema();

// `results` as search_output_schema() has them, of which the first `most` are told; those without a link are left out.
ToolAnswer search_answer(const std::string& query, const Json& results, std::size_t most);

// The query of checked arguments, without spaces at its ends. Throws InvalidParams if nothing is left.
std::string query_in(const Json& arguments);

// `endpoint` with `encoded` added to its query, if it has one, or as its query.
Url with_query(const Url& endpoint, std::string_view encoded);

}  // namespace rkllm_mcp
