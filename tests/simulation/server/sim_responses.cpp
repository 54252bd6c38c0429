#include "sim_responses.hpp"

#include <utility>

namespace rkllm_mcp::simulation {
namespace {

const chat::TurnError& out_of_order() {
  static const chat::TurnError error(chat::ErrorKind::kInternal, "the store is out of order");
  return error;
}

}  // namespace

bool SimResponses::fails() {
  if (!world_.choices().happens(12)) return false;
  World::saw("a store of responses failed");
  ++failures_;
  return true;
}

void SimResponses::recall(const std::string& id, const std::string& /*asker*/, RecalledFunction done) {
  world_.may_happen("a response is recalled", [this, id, done = std::move(done)] {
    Recalled recalled;
    const auto found = kept_.find(id);
    if (found == kept_.end()) {
      recalled.error = chat::TurnError(chat::ErrorKind::kNotKept, "nothing is kept under " + id);
    } else if (fails()) {
      recalled.error = out_of_order();
    } else {
      recalled.items = found->second;
      recalled.bytes = found->second.dump().size();
    }
    done(std::move(recalled));
  });
}

void SimResponses::keep(const std::string& id, const std::string& /*asker*/, Json items, KeptFunction done) {
  world_.may_happen("a response is kept", [this, id, items = std::move(items), done = std::move(done)] {
    if (fails()) return done(out_of_order());
    if (!kept_.emplace(id, items).second) world_.violates("two responses have the id " + id);
    done(std::nullopt);
  });
}

std::vector<std::string> SimResponses::texts_of(const std::string& id) const {
  std::vector<std::string> texts;
  const auto found = kept_.find(id);
  if (found == kept_.end()) return texts;
  for (const Json& item : found->second) {
    if (item.value("type", "") == "function_call") {
      texts.push_back(Json::parse(item.at("arguments").get<std::string>()).at("about"));
      continue;
    }
    const Json& content = item.at(item.value("type", "") == "function_call_output" ? "output" : "content");
    std::string text = content.is_string() ? content.get<std::string>() : "";
    if (content.is_array()) {
      for (const Json& part : content) text += part.at("text").get<std::string>();
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace rkllm_mcp::simulation
