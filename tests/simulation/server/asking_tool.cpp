#include "asking_tool.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

struct Wanted {
  const char* key;
  const char* method;
};
constexpr Wanted kWanted[] = {
    {"roots", "roots/list"}, {"model", "sampling/createMessage"}, {"person", "elicitation/create"}};
static_assert(std::size(kWanted) == AskingTool::kMostWanted);

}  // namespace

Json AskingTool::Wish::arguments() const { return {{"name", name}, {"wanted", wanted}, {"rounds", rounds}}; }

std::string AskingTool::Wish::answer() const {
  std::string text;
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    for (std::uint32_t i = 0; i < wanted; ++i) text += AskingTool::wanted(name, round, i) + "!";
  }
  return text;
}

std::string AskingTool::wanted(const std::string& name, std::uint32_t round, std::uint32_t place) {
  return name + "/" + std::to_string(round) + "/" + kWanted[place].key;
}

Json AskingTool::answer_to(const Json& params) { return {{"said", params.at("about").get<std::string>() + "!"}}; }

mcp::Tool AskingTool::tool() {
  mcp::Tool tool;
  tool.name = kName;
  tool.input_schema = Json{{"type", "object"}};
  tool.run = [this](mcp::Invocation& invocation) { run(invocation); };
  tool.as_task = [](const auto& request) { return request.progress_token.is_null(); };
  return tool;
}

void AskingTool::run(mcp::Invocation& invocation) {
  const Json& arguments = invocation.arguments();
  const Wish wish{arguments.at("name"), arguments.at("wanted"), arguments.at("rounds")};
  if (open_.emplace(&invocation, wish.name).second) {
    invocation.when_ended([this, ended = &invocation] { open_.erase(ended); });
  }
  std::uint32_t round = 1;
  std::string heard;
  if (invocation.state().is_object()) {
    round = invocation.state().at("round").get<std::uint32_t>() + 1;
    heard = invocation.state().at("heard");
    for (std::uint32_t i = 0; i < wish.wanted; ++i) {
      const Json* const answer = invocation.input(kWanted[i].key);
      heard += answer == nullptr ? "?" : answer->at("said").get<std::string>();
    }
  }
  if (round > wish.rounds) {
    Json result = mcp::text_result(heard);
    result["structuredContent"] = {{"text", heard}};
    return invocation.result(std::move(result));
  }
  mcp::InputRequests requests;
  for (std::uint32_t i = 0; i < wish.wanted; ++i) {
    requests.push_back({kWanted[i].key, kWanted[i].method, {{"about", wanted(wish.name, round, i)}}});
  }
  invocation.ask(std::move(requests), {{"round", round}, {"heard", heard}});
}

std::size_t AskingTool::open(std::string_view name) const {
  return static_cast<std::size_t>(
      std::count_if(open_.begin(), open_.end(), [name](const auto& each) { return each.second == name; }));
}

}  // namespace rkllm_mcp::simulation
