#include "chat/mcp/model_choice.hpp"

#include "auth/access_tokens.hpp"
#include "chat/mcp/turn_failure.hpp"
#include "mcp/catalogue.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

std::optional<ModelDescription> find(const ChatHost& host, const std::string& name, const Asker& asker) {
  if (!name.empty()) return host.find(name, asker);
  std::vector<ModelDescription> all = host.models(asker);
  std::erase_if(all, [](const auto& each) { return each.is_profile; });
  if (all.size() > 1) std::erase_if(all, [](const auto& each) { return each.state != ModelState::kLoaded; });
  if (all.size() != 1) return std::nullopt;
  return std::move(all.front());
}

void use(ChatHost& host, mcp::Invocation& invocation, const std::string& name, bool has_looked,
         const std::function<void(const ModelDescription& model)>& then) {
  if (invocation.ended()) return;
  const Asker asker = asker_of(invocation);
  try {
    if (const auto model = find(host, name, asker)) return then(*model);
    if (has_looked) throw name.empty() ? which_model(host.models(asker)) : no_such_model(name, host.models(asker));
  } catch (const TurnError& error) {
    return invocation.result(mcp::tool_error(rpc_error_of(error)));
  } catch (const RpcError& error) {
    return invocation.result(mcp::tool_error(error));
  }
  host.lender().refresh(
      [&host, kept = invocation.shared_from_this(), name, then] { use(host, *kept, name, true, then); });
}

}  // namespace

Asker asker_of(const mcp::Invocation& invocation) {
  const Principal& principal = *invocation.request().session->principal;
  return {principal.name, principal.may_call, principal.may_admin};
}

std::string peer_of(const mcp::Invocation& invocation) { return invocation.request().reply->peer().facts().address; }

void with_model(ChatHost& host, mcp::Invocation& invocation, const std::string& name,
                const std::function<void(const ModelDescription& model)>& then) {
  use(host, invocation, name, false, then);
}

}  // namespace rkllm_mcp::chat
