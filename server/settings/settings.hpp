// The settings as the server uses them: plain values, grouped by section, named as in settings.json. A default-made
// object holds the built-in values. What each means, its range and how it is written: table.cpp. Reading: load.hpp.
//
// Names end with their unit (_s seconds, _ms milliseconds, _bytes) since that is how they are written on the wire.
#pragma once

#include "settings/choices.hpp"

#include <settings_defaults.h>
#include <rkllm_mcp/json.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rkllm_mcp {

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
};

struct WsSettings {
  bool enabled = defaults::kWsEnabled;
  std::string address{defaults::kWsAddress};
  std::uint16_t port{defaults::kWsPort};
  bool tls = defaults::kWsTls;
  std::chrono::seconds ping_s{defaults::kWsPingS};  // 0: no pings
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
  std::size_t max_handles{defaults::kLimitsMaxHandles};
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
};

struct LogSettings {
  LogLevel level = choice<LogLevel>(defaults::kLogLevel);
  LogFormat format = choice<LogFormat>(defaults::kLogFormat);
  std::string file{defaults::kLogFile};  // empty: standard error
};

struct Settings {
  ServerSettings server;
  StdioSettings stdio;
  TcpSettings tcp;
  UnixSettings unix_socket;
  UdpSettings udp;
  HttpSettings http;
  WsSettings ws;
  TlsSettings tls;
  AuthSettings auth;
  LimitSettings limits;
  StreamSettings stream;
  QueueSettings queue;
  RuntimeSettings runtime;
  Json models = Json::parse(defaults::kModels);  // by name: {"param": {…}, "autoload": bool}, both optional
  Json upstreams = Json::parse(defaults::kUpstreams);  // by name: {"url", "token_file"?, "permission"?, "ca_file"?}
  LogSettings log;
};

}  // namespace rkllm_mcp
