// The assistants of this server: the profiles that there are, and the turns that they make.
//
// Threads: event loop only.
#pragma once

#include "chat/assistant/assistant_turn.hpp"
#include "chat/assistant/profile/profile.hpp"
#include "chat/assistant/providers/provider.hpp"
#include "chat/assistant/servers/mcp_host.hpp"
#include "chat/host/chat_host.hpp"
#include "chat/host/turn_listener.hpp"
#include "immutable.hpp"
#include "lifetime.hpp"

#include <asio/io_context.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rkllm_mcp::chat {

class Assistants final : public ProfileTurns {
 public:
  // Who makes the texts of such profiles.
  using Providers = std::map<ProviderKind, Provider*>;

  // `host` and providers outlive it; the host knows of it until its end.
  Assistants(asio::io_context& loop, ChatHost& host, Providers providers, AssistantOptions options);
  Assistants(const Assistants&) = delete;
  Assistants& operator=(const Assistants&) = delete;
  ~Assistants() override;

  McpHost& servers() { return servers_; }
  // From now on there are these; turns under way go on with what they have. Returns why some of them are not taken.
  std::vector<std::string> use(std::vector<Profile> profiles);
  const std::vector<Immutable<Profile>>& profiles() const { return profiles_; }
  // Whether a model of this server has that name or alias.
  bool is_model(const std::string& name) const;
  void stop();  // see AssistantTurn
  std::size_t turns() const { return turns_.size(); }

  // ProfileTurns
  std::vector<ModelDescription> models(const Asker& asker) const override;
  std::optional<ModelDescription> find(std::string_view name, const Asker& asker) const override;
  std::unique_ptr<Running> start(Turn turn, const Asker& asker, std::string peer, TurnListener& listener) override;

 private:
  class RunningTurn;
  const Immutable<Profile>* profile(std::string_view name) const;  // null: none has it
  ModelDescription description_of(const Profile& profile, const Asker& asker) const;

  asio::io_context& loop_;
  ChatHost& host_;
  const Providers providers_;
  const AssistantOptions options_;
  McpHost servers_;
  std::vector<Immutable<Profile>> profiles_;  // shared with the turns, which may outlive a profile
  std::unordered_map<std::uint64_t, std::shared_ptr<AssistantTurn>> turns_;
  std::uint64_t next_ = 0;
  const Lifetime alive_;  // gone: what was posted does nothing
};

}  // namespace rkllm_mcp::chat
