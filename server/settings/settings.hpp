// The settings as the server uses them: plain values, grouped by section, named as in settings.json. A default-made
// Settings holds the built-in values; a section that is made by itself is empty. What each means,
// its range and how it is written: table.cpp; its built-in value: settings_defaults.h.in. Reading: load.hpp.
//
// Names end with their unit (_s seconds, _ms milliseconds, _bytes) since that is how they are written on the wire.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
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

// What runtime.library says instead of a path when the simulator that comes with this program is meant.
inline constexpr std::string_view kSimulatorLibrary = "simulator";

struct ServerSettings {
  std::string name;
};

struct StdioSettings {
  StdioUse enabled{};
};

struct TcpSettings {
  bool enabled{};
  std::string address;
  std::uint16_t port{};
  bool tls{};
};

struct UnixSettings {
  std::string path;  // empty: no such socket
  std::string mode;  // octal digits
};

struct UdpSettings {
  bool enabled{};
  std::string address;
  std::uint16_t port{};
  std::chrono::seconds idle_s{};
  std::size_t chunk_bytes{};
  std::size_t retained_chunks{};
};

struct HttpSettings {
  bool enabled{};
  std::string address;
  std::uint16_t port{};
  bool tls{};
  std::vector<std::string> allowed_origins;
  std::vector<std::string> allowed_hosts;
  std::size_t header_bytes{};
  std::chrono::seconds header_timeout_s{};
  std::chrono::seconds body_timeout_s{};
  std::chrono::seconds keep_alive_s{};
  std::chrono::seconds session_idle_s{};
  bool page{};
};

struct WsSettings {
  bool enabled{};
  std::string address;
  std::uint16_t port{};
  bool tls{};
  std::chrono::seconds ping_s{};  // 0: no pings
};

struct ServicesSettings {
  bool enabled{};  // their port
  std::string address;
  std::uint16_t port{};
  std::vector<std::string> only;  // empty: all, and the models
};

struct MemorySettings {
  std::string database;  // a path, ":memory:", "postgresql://…", or empty: in the user's state directory
  std::int64_t keep_recent_messages{};
  std::int64_t summarize_threshold{};
  std::size_t summary_max_bytes{};
  std::int64_t max_bytes{};  // 0: no limit
  MemoryWhenFull when_full{};
  std::int64_t retention_days{};  // 0: for ever
};

struct ToolSettings {
  std::chrono::seconds timeout_s{};
  std::size_t workers{};
  std::size_t max_waiting{};
  int per_minute{};
  std::chrono::seconds cache_s{};  // 0: nothing is kept
  std::size_t cache_bytes{};
  std::size_t page_bytes{};
  std::vector<std::string> allowed_addresses;
  std::string ca_file;
  std::string user_agent;
  std::string duckduckgo_url;
  std::string google_url;
  std::string google_api_key;
  std::string google_cx;
  std::string searxng_url;
};

struct TlsSettings {
  std::string certificate;  // paths
  std::string key;
};

struct AuthSettings {
  std::string tokens;  // path; empty: everybody may call
  std::chrono::seconds timeout_s{};
  bool insecure{};
};

struct LimitSettings {
  std::size_t max_message_bytes{};
  std::size_t max_depth{};
  std::size_t max_id_bytes{};
  std::size_t send_queue_bytes{};
  std::chrono::seconds stall_s{};
  std::chrono::seconds idle_s{};  // 0: never closed for being idle
  std::size_t max_connections{};
  std::size_t max_connections_per_peer{};
  std::size_t max_requests_per_connection{};
  std::size_t memory_bytes{};  // 0: a quarter of the machine's
  std::size_t max_reply_bytes{};
  std::chrono::seconds message_timeout_s{};
  std::size_t max_handles{};
};

struct McpSettings {
  std::size_t inline_bytes{};
  std::vector<std::string> tools;  // of kToolSets: what tools/list shows
};

struct StreamSettings {
  std::chrono::seconds poll_timeout_s{};
  std::chrono::milliseconds poll_wait_ms_max{};
  std::size_t buffer_bytes{};
  std::size_t values_bytes{};
  std::size_t memory_bytes{};
};

struct QueueSettings {
  std::size_t max_per_handle{};
  std::size_t max_per_token{};
  std::chrono::seconds timeout_s{};
};

struct RuntimeSettings {
  std::string library;  // a path, kSimulatorLibrary, or empty: the system's own
  Fallback fallback{};
  std::string abi;                      // empty: by the version that the library's file states
  std::vector<std::string> model_dirs;  // empty: anywhere
  std::string cache_dir;                // empty: in the user's cache directory
  std::size_t cache_bytes{};
  Isolation isolation{};
  Workers workers{};
  std::chrono::seconds hang_s{};
  std::chrono::seconds keep_alive_s{};  // -1: for ever
  std::int64_t default_context{};       // tokens; 0: the runtime's own
  std::string model_hub;
};

struct LogSettings {
  LogLevel level{};
  LogFormat format{};
  std::string file;  // empty: standard error
};

struct ChatSettings {
  bool enabled{};
  std::chrono::seconds heartbeat_s{};
  std::size_t warm_up_bytes{};  // 0: nothing is computed ahead
  std::int64_t cache_bytes{};   // 0: no prompt caches
  unsigned structured_tries{};
  std::int64_t responses_days{};  // 0: none are kept
  Json aliases;                   // another name: a model's
  std::string any_model;          // empty: an unknown name is an error
  std::string guardrail_model;    // empty: each profile's own
  std::string profiles_dir;       // empty: there are no profiles
};

struct Settings {
  Settings();  // with the built-in values

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
  Json models;  // by name; what each has: table.cpp
  ChatSettings chat;
  Json upstreams;  // by name; what each has: table.cpp
  LogSettings log;
};

}  // namespace rkllm_mcp
