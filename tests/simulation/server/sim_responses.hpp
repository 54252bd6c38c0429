// Where answers are kept that a client has asked to keep (ResponseStore): it takes its time, and sometimes fails.
#pragma once

#include "simulation/world/world.hpp"

#include "chat/turn/response_store.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace rkllm_mcp::simulation {

class SimResponses final : public chat::ResponseStore {
 public:
  explicit SimResponses(World& world) : world_(world) {}

  void recall(const std::string& id, const std::string& asker, RecalledFunction done) override;
  void keep(const std::string& id, const std::string& asker, Json items, KeptFunction done) override;

  // What is kept under that id, a text for each that was said; none if nothing is.
  std::vector<std::string> texts_of(const std::string& id) const;
  // How often somebody was told that it could not keep something, or not say what it has kept.
  std::size_t failures() const { return failures_; }

 private:
  bool fails();

  World& world_;
  std::map<std::string, Json> kept_;
  std::size_t failures_ = 0;
};

}  // namespace rkllm_mcp::simulation
