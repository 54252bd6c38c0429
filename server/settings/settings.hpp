// The settings as the server uses them: plain values, grouped by section, named as in settings.json. A default-made
// object holds the built-in values. What each means, its range and how it is written: table.cpp. Reading: load.hpp.
//
// Names end with their unit (_s seconds, _ms milliseconds, _bytes) since that is how they are written on the wire.
#pragma once

#include <settings_defaults.h>
#include <rkllm_mcp/json.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

// Settings that are one word out of a few: the enumerations and their words, in the same order.
enum class StdioUse { kAuto, kOn, kOff };
enum class Fallback { kNone, kSimulator };
enum class Isolation { kProcess, kThread };
enum class Workers { kPerHandle, kShared };
enum class MemoryWhenFull { kRefuse, kForget };
enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError, kOff };
enum class LogFormat { kText, kJson };

// The words of an enumeration; the index is the enumerator's value.
template <typename Choice>
inline constexpr std::array<std::string_view, 0> kWords{};
template <>
inline constexpr std::array<std::string_view, 3> kWords<StdioUse>{"auto", "on", "off"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<Fallback>{"none", "simulator"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<Isolation>{"process", "thread"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<Workers>{"per_handle", "shared"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<MemoryWhenFull>{"refuse", "forget"};
template <>
inline constexpr std::array<std::string_view, 6> kWords<LogLevel>{"trace", "debug", "info", "warning", "error", "off"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<LogFormat>{"text", "json"};

// The sets of tools that mcp.tools chooses from.
inline constexpr std::array<std::string_view, 4> kToolSets{"chat", "tools", "api", "memory"};

// The enumerator of a word, for defaults: a wrong word stops the compiler.
template <typename Choice>
consteval Choice choice(std::string_view word) {
  for (std::size_t i = 0; i < kWords<Choice>.size(); ++i) {
    if (kWords<Choice>[i] == word) return static_cast<Choice>(i);
  }
  throw std::invalid_argument("this default is none of the setting's words");
}

// What runtime.library says instead of a path when the simulator that comes with this program is meant.
inline constexpr std::string_view kSimulatorLibrary = "simulator";

// Words separated by commas; spaces around them do not count.
std::vector<std::string> split_list(std::string_view text);

struct ServerSettings {
  std::string name{defaults::kServerName};
};

struct StdioSettings {
  StdioUse enabled = choice<StdioUse>(defaults::kStdioEnabled);
};

struct TcpSettings {
  bool enabled = defaults::kTcpEnabled;
  std::string address{defaults::kTcpAddress};
  std::uint16_t port{defaults::kTcpPort};
  bool tls = defaults::kTcpTls;
};

struct UnixSettings {
  std::string path{defaults::kUnixPath};  // empty: no such socket
  std::string mode{defaults::kUnixMode};  // octal digits
};

struct UdpSettings {
  bool enabled = defaults::kUdpEnabled;
  std::string address{defaults::kUdpAddress};
  std::uint16_t port{defaults::kUdpPort};
  std::chrono::seconds idle_s{defaults::kUdpIdleS};
  std::size_t chunk_bytes{defaults::kUdpChunkBytes};
  std::size_t retained_chunks{defaults::kUdpRetainedChunks};
};

struct HttpSettings {
  bool enabled = defaults::kHttpEnabled;
  std::string address{defaults::kHttpAddress};
  std::uint16_t port{defaults::kHttpPort};
  bool tls = defaults::kHttpTls;
  std::vector<std::string> allowed_origins = split_list(defaults::kHttpAllowedOrigins);
  std::vector<std::string> allowed_hosts = split_list(defaults::kHttpAllowedHosts);
  std::size_t header_bytes{defaults::kHttpHeaderBytes};
  std::chrono::seconds header_timeout_s{defaults::kHttpHeaderTimeoutS};
  std::chrono::seconds body_timeout_s{defaults::kHttpBodyTimeoutS};
  std::chrono::seconds keep_alive_s{defaults::kHttpKeepAliveS};
  std::chrono::seconds session_idle_s{defaults::kHttpSessionIdleS};
  bool page = defaults::kHttpPage;
};

struct WsSettings {
  bool enabled = defaults::kWsEnabled;
  std::string address{defaults::kWsAddress};
  std::uint16_t port{defaults::kWsPort};
  bool tls = defaults::kWsTls;
  std::chrono::seconds ping_s{defaults::kWsPingS};  // 0: no pings
};

struct ServicesSettings {
  bool enabled = defaults::kServicesEnabled;  // their port
  std::string address{defaults::kServicesAddress};
  std::uint16_t port{defaults::kServicesPort};
  std::vector<std::string> only = split_list(defaults::kServicesOnly);  // empty: all, and the models
};

struct MemorySettings {
  std::string database{
      defaults::kMemoryDatabase};  // a path, ":memory:", "postgresql://…", or empty: in the user's state directory
  std::int64_t keep_recent_messages{defaults::kMemoryKeepRecentMessages};
  std::int64_t summarize_threshold{defaults::kMemorySummarizeThreshold};
  std::size_t summary_max_bytes{defaults::kMemorySummaryMaxBytes};
  std::int64_t max_bytes{defaults::kMemoryMaxBytes};  // 0: no limit
  MemoryWhenFull when_full = choice<MemoryWhenFull>(defaults::kMemoryWhenFull);
  std::int64_t retention_days{defaults::kMemoryRetentionDays};  // 0: for ever
};

struct ToolSettings {
  std::chrono::seconds timeout_s{defaults::kToolsTimeoutS};
  std::size_t workers{defaults::kToolsWorkers};
  std::size_t max_waiting{defaults::kToolsMaxWaiting};
  int per_minute{defaults::kToolsPerMinute};
  std::chrono::seconds cache_s{defaults::kToolsCacheS};  // 0: nothing is kept
  std::size_t cache_bytes{defaults::kToolsCacheBytes};
  std::size_t page_bytes{defaults::kToolsPageBytes};
  std::vector<std::string> allowed_addresses = split_list(defaults::kToolsAllowedAddresses);
  std::string ca_file{defaults::kToolsCaFile};
  std::string user_agent{defaults::kToolsUserAgent};
  std::string duckduckgo_url{defaults::kToolsDuckduckgoUrl};
  std::string google_url{defaults::kToolsGoogleUrl};
  std::string google_api_key{defaults::kToolsGoogleApiKey};
  std::string google_cx{defaults::kToolsGoogleCx};
  std::string searxng_url{defaults::kToolsSearxngUrl};
};

struct TlsSettings {
  std::string certificate{defaults::kTlsCertificate};  // paths
  std::string key{defaults::kTlsKey};
};

struct AuthSettings {
  std::string tokens{defaults::kAuthTokens};  // path; empty: everybody may call
  std::chrono::seconds timeout_s{defaults::kAuthTimeoutS};
  bool insecure = defaults::kAuthInsecure;
};

struct LimitSettings {
  std::size_t max_message_bytes{defaults::kLimitsMaxMessageBytes};
  std::size_t max_depth{defaults::kLimitsMaxDepth};
  std::size_t max_id_bytes{defaults::kLimitsMaxIdBytes};
  std::size_t send_queue_bytes{defaults::kLimitsSendQueueBytes};
  std::chrono::seconds stall_s{defaults::kLimitsStallS};
  std::chrono::seconds idle_s{defaults::kLimitsIdleS};  // 0: never closed for being idle
  std::size_t max_connections{defaults::kLimitsMaxConnections};
  std::size_t max_connections_per_peer{defaults::kLimitsMaxConnectionsPerPeer};
  std::size_t max_requests_per_connection{defaults::kLimitsMaxRequestsPerConnection};
  std::size_t memory_bytes{defaults::kLimitsMemoryBytes};  // 0: a quarter of the machine's
  std::size_t max_reply_bytes{defaults::kLimitsMaxReplyBytes};
  std::chrono::seconds message_timeout_s{defaults::kLimitsMessageTimeoutS};
  std::size_t max_handles{defaults::kLimitsMaxHandles};
};

struct McpSettings {
  std::size_t inline_bytes{defaults::kMcpInlineBytes};
  std::vector<std::string> tools = split_list(defaults::kMcpTools);  // of kToolSets: what tools/list shows
};

struct StreamSettings {
  std::chrono::seconds poll_timeout_s{defaults::kStreamPollTimeoutS};
  std::chrono::milliseconds poll_wait_ms_max{defaults::kStreamPollWaitMsMax};
  std::size_t buffer_bytes{defaults::kStreamBufferBytes};
  std::size_t values_bytes{defaults::kStreamValuesBytes};
  std::size_t memory_bytes{defaults::kStreamMemoryBytes};
};

struct QueueSettings {
  std::size_t max_per_handle{defaults::kQueueMaxPerHandle};
  std::size_t max_per_token{defaults::kQueueMaxPerToken};
  std::chrono::seconds timeout_s{defaults::kQueueTimeoutS};
};

struct RuntimeSettings {
  std::string library{defaults::kRuntimeLibrary};  // a path, kSimulatorLibrary, or empty: the system's own
  Fallback fallback = choice<Fallback>(defaults::kRuntimeFallback);
  std::string abi{defaults::kRuntimeAbi};  // empty: by the version that the library's file states
  std::vector<std::string> model_dirs = split_list(defaults::kRuntimeModelDirs);  // empty: anywhere
  std::string cache_dir{defaults::kRuntimeCacheDir};  // empty: in the user's cache directory
  std::size_t cache_bytes{defaults::kRuntimeCacheBytes};
  Isolation isolation = choice<Isolation>(defaults::kRuntimeIsolation);
  Workers workers = choice<Workers>(defaults::kRuntimeWorkers);
  std::chrono::seconds hang_s{defaults::kRuntimeHangS};
  std::chrono::seconds keep_alive_s{defaults::kRuntimeKeepAliveS};  // -1: for ever
  std::int64_t default_context{defaults::kRuntimeDefaultContext};   // tokens; 0: the runtime's own
  std::string model_hub{defaults::kRuntimeModelHub};
};

struct LogSettings {
  LogLevel level = choice<LogLevel>(defaults::kLogLevel);
  LogFormat format = choice<LogFormat>(defaults::kLogFormat);
  std::string file{defaults::kLogFile};  // empty: standard error
};

struct ChatSettings {
  bool enabled{defaults::kChatEnabled};
  std::chrono::seconds heartbeat_s{defaults::kChatHeartbeatS};
  std::size_t warm_up_bytes{defaults::kChatWarmUpBytes};  // 0: nothing is computed ahead
  std::int64_t cache_bytes{defaults::kChatCacheBytes};    // 0: no prompt caches
  unsigned structured_tries{defaults::kChatStructuredTries};
  std::int64_t responses_days{defaults::kChatResponsesDays};   // 0: none are kept
  Json aliases = Json::parse(defaults::kChatAliases);          // another name: a model's
  std::string any_model{defaults::kChatAnyModel};              // empty: an unknown name is an error
  std::string guardrail_model{defaults::kChatGuardrailModel};  // empty: each profile's own
  std::string profiles_dir{defaults::kChatProfilesDir};        // empty: there are no profiles
};

struct Settings {
  ServerSettings server;
  StdioSettings stdio;
  TcpSettings tcp;
  UnixSettings unix_socket;
  UdpSettings udp;
  HttpSettings http;
  WsSettings ws;
  ServicesSettings services;
  MemorySettings memory;
  ToolSettings tools;
  TlsSettings tls;
  AuthSettings auth;
  LimitSettings limits;
  McpSettings mcp;
  StreamSettings stream;
  QueueSettings queue;
  RuntimeSettings runtime;
  Json models = Json::parse(defaults::kModels);  // by name: {"param": {…}, "autoload": bool}, both optional
  ChatSettings chat;
  Json upstreams = Json::parse(defaults::kUpstreams);  // by name: {"url", "token_file"?, "permission"?, "ca_file"?}
  LogSettings log;
};

}  // namespace rkllm_mcp
