// The one list of all settings, a row each (setting.hpp). Reading and checking, the schema, the environment's and the
// command line's names, the written file, `rkllm-mcp settings` and a default-made Settings all come from it. A row
// names its built-in value; which it is stands in settings_defaults.h.in, where a build can set another.
#pragma once

#include "limit.hpp"
#include "settings/setting.hpp"

#include <rkllm_mcp/json.hpp>

#include <span>
#include <string>
#include <string_view>

namespace rkllm_mcp {

std::span<const Setting> settings_table();           // sections together, in the order of the written file
const Setting* find_setting(std::string_view name);  // by "http.port"; null if there is none

std::string_view documentation_of_section(std::string_view section);  // empty if there is no such section

// The name that was probably meant: of the whole "section.key" names, or of the sections if `name` has no dot.
std::string nearest_name(std::string_view name);

// The setting behind each limit of the runtime library. Threads: any.
inline constexpr LimitNames kSettingOfLimit = limit_names({
    {Limit::kMessageBytes, "limits.max_message_bytes"},
    {Limit::kDepth, "limits.max_depth"},
    {Limit::kIdBytes, "limits.max_id_bytes"},
    {Limit::kConnections, "limits.max_connections"},
    {Limit::kConnectionsPerPeer, "limits.max_connections_per_peer"},
    {Limit::kRequestsPerConnection, "limits.max_requests_per_connection"},
    {Limit::kStall, "limits.stall_s"},
    {Limit::kIdle, "limits.idle_s"},
    {Limit::kHeaderBytes, "http.header_bytes"},
    {Limit::kHeaderTime, "http.header_timeout_s"},
    {Limit::kStreamBuffer, "stream.buffer_bytes"},
    {Limit::kStreamValues, "stream.values_bytes"},
    {Limit::kStreamMemory, "stream.memory_bytes"},
    {Limit::kPollTimeout, "stream.poll_timeout_s"},
    {Limit::kQueueLength, "queue.max_per_handle"},
    {Limit::kQueueTime, "queue.timeout_s"},
    {Limit::kHandles, "limits.max_handles"},
    {Limit::kAuthorization, "auth.tokens"},
    {Limit::kMemory, "limits.memory_bytes"},
    {Limit::kMessageTime, "limits.message_timeout_s"},
    {Limit::kReplyBytes, "limits.max_reply_bytes"},
});

// What a settings file looks like, as JSON Schema (draft 2020-12), with documentation, ranges and defaults: editors
// show it.
Json settings_schema();
// A settings file with every built-in value; it names the schema beside it.
Json default_settings_file();

}  // namespace rkllm_mcp
