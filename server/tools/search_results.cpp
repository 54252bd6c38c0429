#include "tools/search_results.hpp"

#include "text/ascii.hpp"

#include <rkllm_mcp/errors.hpp>

#include <cctype>
#include <utility>

namespace rkllm_mcp {
namespace {

std::string on_one_line_of(const Json& result, const char* member) {
  const auto found = result.find(member);
  if (found == result.end() || !found->is_string()) return {};
  std::string line;
  bool space = false;
  for (const char c : found->get_ref<const std::string&>()) {
    if (static_cast<unsigned char>(c) <= ' ') {
      space = true;
      continue;
    }
    if (std::exchange(space, false) && !line.empty()) line += ' ';
    line += c;
  }
  return line;
}

}  // namespace

Json search_input_schema() {
  return Json{{"type", "object"},
              {"properties",
               {{"query",
                 {{"type", "string"},
                  {"minLength", 1},
                  {"maxLength", 500},
                  {"description", "What to search for: specific, descriptive words find the best results."}}},
                {"max_results",
                 {{"type", "integer"},
                  {"minimum", 1},
                  {"maximum", 10},
                  {"default", 5},
                  {"description", "How many results are wanted at most."}}}}},
              {"required", {"query"}}};
}

Json search_output_schema() {
  const Json text{{"type", "string"}};
  return Json{{"type", "object"},
              {"properties",
               {{"query", text},
                {"results",
                 {{"type", "array"},
                  {"items",
                   {{"type", "object"},
                    {"properties", {{"title", text}, {"content", text}, {"link", text}}},
                    {"required", {"title", "content", "link"}}}}}}}},
              {"required", {"query", "results"}}};
}

ToolAnswer search_answer(const std::string& query, const Json& results, std::size_t most) {
  ToolAnswer answer{{}, Json{{"query", query}, {"results", Json::array()}}};
  Json& told = answer.structured["results"];
  for (const Json& result : results) {
    if (told.size() == most) break;
    Json one{{"title", on_one_line_of(result, "title")},
             {"content", on_one_line_of(result, "content")},
             {"link", on_one_line_of(result, "link")}};
    const auto& link = one["link"].get_ref<const std::string&>();
    if (!link.starts_with("http://") && !link.starts_with("https://")) continue;
    answer.text += std::string(told.empty() ? "" : "\n---\n") + "Title: " + one["title"].get<std::string>() +
                   "\nContent: " + one["content"].get<std::string>() + "\nLink: " + link;
    told.push_back(std::move(one));
  }
  if (told.empty()) answer.text = "No results found for query: " + query;
  return answer;
}

std::string query_in(const Json& arguments) {
  const std::string_view query = without_space_around(arguments["query"].get_ref<const std::string&>());
  if (query.empty()) throw InvalidParams("params.arguments.query", "is empty");
  return std::string(query);
}

Url with_query(const Url& endpoint, std::string_view encoded) {
  Url url = endpoint;
  url.target += url.target.find('?') == std::string::npos ? '?' : '&';
  url.target += encoded;
  return url;
}

}  // namespace rkllm_mcp
