// The memory server as assistants see it (HostedServer): conversations, which it sometimes fails to read or to keep.
#pragma once

#include "simulation/world/world.hpp"

#include "chat/assistant/servers/hosted_server.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rkllm_mcp::simulation {

class SimMemory final : public chat::HostedServer {
 public:
  struct Said {
    std::string role;
    std::string content;
    bool is_partial = false;
  };

  explicit SimMemory(World& world) : world_(world) {}

  const std::string& name() const override { return name_; }
  std::unique_ptr<chat::HostCall> call(const std::string& method, const Json& params, const Principal& who,
                                       mcp::DoneFunction done) override;

  const std::vector<Said>& conversation(const std::string& id) { return conversations_[id].said; }
  // How often it has failed, or has not been waited for, in that conversation.
  std::size_t failures_of(const std::string& id) { return conversations_[id].failures; }

 private:
  struct Conversation {
    std::vector<Said> said{};
    std::string summary{};
    std::size_t failures = 0;
  };
  static Json answer(const std::string& method, const Json& params, Conversation& conversation);

  World& world_;
  const std::string name_ = "memory-server";
  std::map<std::string, Conversation> conversations_;
};

}  // namespace rkllm_mcp::simulation
