#include "limit.hpp"

#include <atomic>

namespace rkllm_mcp {
namespace {

constexpr LimitNames kOwnNames = limit_names({
    {Limit::kMessageBytes, "message bytes"},
    {Limit::kDepth, "depth"},
    {Limit::kIdBytes, "id bytes"},
    {Limit::kConnections, "connections"},
    {Limit::kConnectionsPerPeer, "connections of a client"},
    {Limit::kRequestsPerConnection, "requests of a connection"},
    {Limit::kStall, "stall time"},
    {Limit::kIdle, "idle time"},
    {Limit::kHeaderBytes, "header bytes"},
    {Limit::kHeaderTime, "header time"},
    {Limit::kStreamBuffer, "stream buffer"},
    {Limit::kStreamValues, "stream values"},
    {Limit::kStreamMemory, "stream memory"},
    {Limit::kPollTimeout, "poll time"},
    {Limit::kQueueLength, "queue length"},
    {Limit::kQueueTime, "queue time"},
    {Limit::kHandles, "handles"},
    {Limit::kAuthorization, "access tokens"},
    {Limit::kMemory, "memory"},
    {Limit::kMessageTime, "message time"},
    {Limit::kReplyBytes, "reply bytes"},
});

std::atomic<const LimitNames*> names{&kOwnNames};

}  // namespace

void name_limits(const LimitNames& given) { names = &given; }

std::string_view name_of(Limit limit) { return names.load()->at(static_cast<std::size_t>(limit)); }

}  // namespace rkllm_mcp
