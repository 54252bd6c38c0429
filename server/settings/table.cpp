#include "settings/table.hpp"

#include <settings_defaults.h>
#include <rkllm_mcp/nearest_name.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

// A default that is out of its range, or none of the setting's words, stops the compiler: the functions that make a
// field are consteval, and throw.

// Between the types of Settings and the plain ones that fields read and write.
template <typename Value, typename Member>
Value to_value(const Member& member) {
  if constexpr (requires { member.count(); }) {
    return static_cast<Value>(member.count());
  } else if constexpr (std::is_same_v<Value, Member>) {
    return member;
  } else {
    return static_cast<Value>(member);
  }
}

template <auto section, auto key>
using MemberOf = std::remove_cvref_t<decltype((std::declval<Settings>().*section).*key)>;

template <typename Value, auto section, auto key>
constexpr Access<Value> access() {
  using Member = MemberOf<section, key>;
  return {[](const Settings& settings) { return to_value<Value, Member>((settings.*section).*key); },
          [](Settings& settings, Value value) { (settings.*section).*key = static_cast<Member>(std::move(value)); }};
}

template <auto section, auto key>
consteval Field boolean(bool initial) {
  return BoolField{access<bool, section, key>(), initial};
}

template <auto section, auto key>
consteval Field integer(std::int64_t initial, std::int64_t min, std::int64_t max, Unit unit) {
  if (initial < min || initial > max) throw std::invalid_argument("this default is out of the setting's range");
  return IntegerField{access<std::int64_t, section, key>(), initial, min, max, unit};
}

template <auto section, auto key>
consteval Field text(std::string_view initial, TextField::Form form = TextField::Form::kAny) {
  return TextField{access<std::string, section, key>(), initial, form};
}

template <auto section, auto key>
consteval Field word(std::string_view initial) {
  const std::span<const std::string_view> words = kWords<MemberOf<section, key>>;
  const auto found = std::ranges::find(words, initial);
  if (found == words.end()) throw std::invalid_argument("this default is none of the setting's words");
  return ChoiceField{access<std::size_t, section, key>(), static_cast<std::size_t>(found - words.begin()), words};
}

template <auto section, auto key>
consteval Field list(std::string_view initial, ListField::Form form = ListField::Form::kAny) {
  return ListField{access<std::vector<std::string>, section, key>(), initial, form};
}

template <auto section, auto key>
consteval Field list_of(std::string_view initial, std::span<const std::string_view> words) {
  return ListField{access<std::vector<std::string>, section, key>(), initial, ListField::Form::kAny, words};
}

template <auto section, auto key>
consteval Field text_map(std::string_view initial) {
  return TextMapField{access<Json, section, key>(), initial};
}

using Member = NamedField::Member;
constexpr std::array kModelMembers{
    Member{"param", Member::Kind::kObject, "Fields of RKLLMParam; absent ones keep their defaults."},
    Member{"autoload", Member::Kind::kFlag, "Initialise this model when the server starts."},
    Member{"keep_alive_s", Member::Kind::kNumber,
           "Seconds that it stays loaded when nobody uses it, if it was loaded by name; -1: for ever. "
           "runtime.keep_alive_s, if it is left out."},
    Member{"template", Member::Kind::kText,
           "Family of its chat template, e.g. \"qwen2\"; by the file's name, if it is left out."},
    Member{"embeddings", Member::Kind::kObject,
           "{\"pooling\": \"last\", \"mean\" or \"cls\", \"suffix\": text behind each input}: how embeddings are made "
           "with it."}};
constexpr std::array<std::string_view, 2> kUpstreamPermissions{"admin", "call"};
constexpr std::array<std::string_view, 2> kUpstreamPlaces{"url", "command"};
constexpr std::array kUpstreamMembers{
    Member{"url", Member::Kind::kText,
           "tcp://HOST:PORT, unix:///PATH, udp://HOST:PORT, http[s]://HOST[:PORT][/mcp] or ws://HOST:PORT."},
    Member{"command", Member::Kind::kText,
           "Instead of a url: a program that speaks MCP on standard input and output. It is started, and ends with "
           "this server."},
    Member{"args", Member::Kind::kTexts, "Of the command."},
    Member{"env", Member::Kind::kTextMap, "Variables of the command, beside this server's (but for RKLLM_MCP_...)."},
    Member{"allow", Member::Kind::kTexts,
           "Patterns (*, ?) of the tools that are served, by the names that they have there; all, if it is left out."},
    Member{"deny", Member::Kind::kTexts, "Patterns of those that are not, whatever `allow` says."},
    Member{"token_file", Member::Kind::kText,
           "File with the access token that the server there asks for, closed to other users."},
    Member{"permission", Member::Kind::kText,
           "What a client's access token must allow for calls of its tools: admin (if it is left out) or call.",
           kUpstreamPermissions},
    Member{"ca_file", Member::Kind::kText,
           "PEM file of those who vouch for an https server; the system's, if it is left out."}};

template <Json Settings::*section>
constexpr Access<Json> access_to_section() {
  return {[](const Settings& settings) { return settings.*section; },
          [](Settings& settings, Json value) { settings.*section = std::move(value); }};
}

template <Json Settings::*section>
consteval Field named(std::string_view initial, std::string_view what, std::span<const Member> members,
                      std::span<const std::string_view> either = {}) {
  return NamedField{access_to_section<section>(), initial, what, members, either};
}

using S = Settings;
constexpr auto kIpAddress = TextField::Form::kIpAddress;
constexpr auto kWebAddress = TextField::Form::kWebAddress;
constexpr auto kWebAddressOrNone = TextField::Form::kWebAddressOrNone;
constexpr auto kFileMode = TextField::Form::kFileMode;
constexpr auto kNone = Unit::kNone;
constexpr auto kCount = Unit::kCount;
constexpr auto kBytes = Unit::kBytes;
constexpr auto kMilliseconds = Unit::kMilliseconds;
constexpr auto kSeconds = Unit::kSeconds;
constexpr auto kDays = Unit::kDays;
constexpr std::int64_t kDay = 86'400;  // seconds
constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;
constexpr std::int64_t kGiB = 1024 * kMiB;

// clang-format off
constexpr std::array kTable{
    Setting{"server", "name", text<&S::server, &ServerSettings::name>(defaults::kServerName),
            "Name under which this instance presents itself to clients."},

    Setting{"stdio", "enabled", word<&S::stdio, &StdioSettings::enabled>(defaults::kStdioEnabled),
            "Serve the program that started this one, on standard input and output. auto: when standard input is a pipe or a socket."},

    Setting{"tcp", "enabled", boolean<&S::tcp, &TcpSettings::enabled>(defaults::kTcpEnabled), "Serve TCP: one message per line."},
    Setting{"tcp", "address", text<&S::tcp, &TcpSettings::address>(defaults::kTcpAddress, kIpAddress), "IP address to listen on."},
    Setting{"tcp", "port", integer<&S::tcp, &TcpSettings::port>(defaults::kTcpPort, 0, 65535, kNone), "Port to listen on; 0 picks a free one."},
    Setting{"tcp", "tls", boolean<&S::tcp, &TcpSettings::tls>(defaults::kTcpTls), "Encrypt, with the certificate of the section tls."},

    Setting{"unix", "path", text<&S::unix_socket, &UnixSettings::path>(defaults::kUnixPath),
            "Path of a Unix domain socket that serves programs on this machine, one message per line; empty: none."},
    Setting{"unix", "mode", text<&S::unix_socket, &UnixSettings::mode>(defaults::kUnixMode, kFileMode),
            "Mode of the socket's file, in octal: who may connect. 0660 lets the group in."},

    Setting{"udp", "enabled", boolean<&S::udp, &UdpSettings::enabled>(defaults::kUdpEnabled), "Serve UDP: one message per datagram."},
    Setting{"udp", "address", text<&S::udp, &UdpSettings::address>(defaults::kUdpAddress, kIpAddress), "IP address to listen on."},
    Setting{"udp", "port", integer<&S::udp, &UdpSettings::port>(defaults::kUdpPort, 0, 65535, kNone), "Port to listen on; 0 picks a free one."},
    Setting{"udp", "idle_s", integer<&S::udp, &UdpSettings::idle_s>(defaults::kUdpIdleS, 1, kDay, kSeconds),
            "Seconds without a datagram after which a peer is forgotten and its runs are cancelled."},
    Setting{"udp", "chunk_bytes", integer<&S::udp, &UdpSettings::chunk_bytes>(defaults::kUdpChunkBytes, 512, kMaxDatagramBytes, kBytes),
            "Longest datagram of a stream, in bytes. Up to 1200 pass every usual network unfragmented."},
    Setting{"udp", "retained_chunks", integer<&S::udp, &UdpSettings::retained_chunks>(defaults::kUdpRetainedChunks, 1, 1'000'000, kCount),
            "Chunks of each stream that are kept so that poll can send them again."},

    Setting{"http", "enabled", boolean<&S::http, &HttpSettings::enabled>(defaults::kHttpEnabled), "Serve HTTP: JSON-RPC with poll, and MCP."},
    Setting{"http", "address", text<&S::http, &HttpSettings::address>(defaults::kHttpAddress, kIpAddress), "IP address to listen on."},
    Setting{"http", "port", integer<&S::http, &HttpSettings::port>(defaults::kHttpPort, 0, 65535, kNone), "Port to listen on; 0 picks a free one."},
    Setting{"http", "tls", boolean<&S::http, &HttpSettings::tls>(defaults::kHttpTls),
            "Encrypt (HTTPS), with the certificate of the section tls. Holds for WebSocket on this port too."},
    Setting{"http", "allowed_origins", list<&S::http, &HttpSettings::allowed_origins>(defaults::kHttpAllowedOrigins),
            "Origins of web pages that may call and read, e.g. \"https://chat.example.org\"; those of loopback addresses may "
            "call, and read what the chat host's endpoints answer. Holds for WebSocket too."},
    Setting{"http", "allowed_hosts", list<&S::http, &HttpSettings::allowed_hosts>(defaults::kHttpAllowedHosts),
            "Host names that requests may be addressed to. A server on a loopback address takes those of loopback besides, and no other; others take any from programs, and from web pages these and IP addresses. Holds for WebSocket too."},
    Setting{"http", "header_bytes", integer<&S::http, &HttpSettings::header_bytes>(defaults::kHttpHeaderBytes, 1 * kKiB, 1 * kMiB, kBytes),
            "Longest request line and headers together, in bytes."},
    Setting{"http", "header_timeout_s", integer<&S::http, &HttpSettings::header_timeout_s>(defaults::kHttpHeaderTimeoutS, 1, 600, kSeconds),
            "Seconds within which a request's headers must have arrived."},
    Setting{"http", "body_timeout_s", integer<&S::http, &HttpSettings::body_timeout_s>(defaults::kHttpBodyTimeoutS, 1, kDay, kSeconds),
            "Seconds within which a request's body must have arrived, from the end of its headers on."},
    Setting{"http", "keep_alive_s", integer<&S::http, &HttpSettings::keep_alive_s>(defaults::kHttpKeepAliveS, 1, kDay, kSeconds),
            "Seconds that a connection may rest between two requests."},
    Setting{"http", "session_idle_s", integer<&S::http, &HttpSettings::session_idle_s>(defaults::kHttpSessionIdleS, 1, 30 * kDay, kSeconds),
            "Seconds without a request after which an MCP session is forgotten."},
    Setting{"http", "page", boolean<&S::http, &HttpSettings::page>(defaults::kHttpPage),
            "Serve the web page for people at /, to browsers; other clients find there what they look for."},

    Setting{"ws", "enabled", boolean<&S::ws, &WsSettings::enabled>(defaults::kWsEnabled), "Serve WebSocket: one message per text frame."},
    Setting{"ws", "address", text<&S::ws, &WsSettings::address>(defaults::kWsAddress, kIpAddress), "IP address to listen on."},
    Setting{"ws", "port", integer<&S::ws, &WsSettings::port>(defaults::kWsPort, 0, 65535, kNone), "Port to listen on; 0 picks a free one."},
    Setting{"ws", "tls", boolean<&S::ws, &WsSettings::tls>(defaults::kWsTls), "Encrypt (WSS), with the certificate of the section tls."},
    Setting{"ws", "ping_s", integer<&S::ws, &WsSettings::ping_s>(defaults::kWsPingS, 0, kDay, kSeconds), "Seconds between pings; 0 sends none."},

    Setting{"services", "enabled", boolean<&S::services, &ServicesSettings::enabled>(defaults::kServicesEnabled),
            "Serve the services (memory-server, ...) on an HTTP port of their own, too. The certificate is as for http."},
    Setting{"services", "address", text<&S::services, &ServicesSettings::address>(defaults::kServicesAddress, kIpAddress), "IP address to listen on."},
    Setting{"services", "port", integer<&S::services, &ServicesSettings::port>(defaults::kServicesPort, 0, 65535, kNone),
            "Port to listen on; 0 picks a free one."},
    Setting{"services", "only", list<&S::services, &ServicesSettings::only>(defaults::kServicesOnly),
            "Names of the servers that run, e.g. \"memory-server\"; empty: all. Without that of server.name no model can be loaded."},

    Setting{"memory", "database", text<&S::memory, &MemorySettings::database>(defaults::kMemoryDatabase),
            "File that the memory server keeps conversations in; empty: rkllm-mcp/memory.db in the user's state directory; \":memory:\": they end with the server; \"postgresql://user@host/name\": a PostgreSQL database, which several servers may share.", Change::kAtStart, Secrecy::kAddress},
    Setting{"memory", "keep_recent_messages", integer<&S::memory, &MemorySettings::keep_recent_messages>(defaults::kMemoryKeepRecentMessages, 1, 10'000, kCount),
            "Most recent messages of a conversation that are its context, and that no summary covers."},
    Setting{"memory", "summarize_threshold", integer<&S::memory, &MemorySettings::summarize_threshold>(defaults::kMemorySummarizeThreshold, 1, 10'000, kCount),
            "Messages from which on a chat host makes a summary."},
    Setting{"memory", "summary_max_bytes", integer<&S::memory, &MemorySettings::summary_max_bytes>(defaults::kMemorySummaryMaxBytes, 256, kMiB, kBytes),
            "Bytes of a conversation's summary above which a chat host has it summarised itself."},
    Setting{"memory", "max_bytes", integer<&S::memory, &MemorySettings::max_bytes>(defaults::kMemoryMaxBytes, 0, 64 * 1024 * kGiB, kBytes),
            "Most bytes that the store may take; 0: no limit."},
    Setting{"memory", "when_full", word<&S::memory, &MemorySettings::when_full>(defaults::kMemoryWhenFull),
            "refuse: a store that has reached memory.max_bytes takes no more. forget: it removes the conversations that have not changed for longest."},
    Setting{"memory", "retention_days", integer<&S::memory, &MemorySettings::retention_days>(defaults::kMemoryRetentionDays, 0, 36'500, kDays),
            "Days after which a conversation that has not changed is removed; 0: never."},

    Setting{"tools", "timeout_s", integer<&S::tools, &ToolSettings::timeout_s>(defaults::kToolsTimeoutS, 1, 600, kSeconds), "Seconds that one call of a tool may take."},
    Setting{"tools", "workers", integer<&S::tools, &ToolSettings::workers>(defaults::kToolsWorkers, 1, 64, kCount), "Calls of tools that are worked on at a time."},
    Setting{"tools", "max_waiting", integer<&S::tools, &ToolSettings::max_waiting>(defaults::kToolsMaxWaiting, 1, 10'000, kCount), "Calls of tools that may wait for their turn."},
    Setting{"tools", "per_minute", integer<&S::tools, &ToolSettings::per_minute>(defaults::kToolsPerMinute, 1, 6000, kCount),
            "Calls a minute of each tool that asks somebody on the network; answers that are kept do not count."},
    Setting{"tools", "cache_s", integer<&S::tools, &ToolSettings::cache_s>(defaults::kToolsCacheS, 0, kDay, kSeconds),
            "Seconds that answers from the network are kept, for those who ask the same; 0: they are not."},
    Setting{"tools", "cache_bytes", integer<&S::tools, &ToolSettings::cache_bytes>(defaults::kToolsCacheBytes, 0, 1 * kGiB, kBytes), "Memory for answers that are kept, in bytes."},
    Setting{"tools", "page_bytes", integer<&S::tools, &ToolSettings::page_bytes>(defaults::kToolsPageBytes, 16 * kKiB, 16 * kMiB, kBytes),
            "Longest page that is read, unpacked, in bytes; what is behind that is cut off."},
    Setting{"tools", "allowed_addresses", list<&S::tools, &ToolSettings::allowed_addresses>(defaults::kToolsAllowedAddresses, ListField::Form::kNetworks),
            "Addresses and networks, e.g. \"192.168.1.0/24\", that fetch_page may reach although they are not public."},
    Setting{"tools", "ca_file", text<&S::tools, &ToolSettings::ca_file>(defaults::kToolsCaFile),
            "PEM file of those who vouch for https servers; empty: the system's."},
    Setting{"tools", "user_agent", text<&S::tools, &ToolSettings::user_agent>(defaults::kToolsUserAgent),
            "What the tools present themselves as to web servers; empty: rkllm-mcp and its version."},
    Setting{"tools.duckduckgo", "url", text<&S::tools, &ToolSettings::duckduckgo_url>(defaults::kToolsDuckduckgoUrl, kWebAddress),
            "Address of DuckDuckGo's page for browsers without scripts."},
    Setting{"tools.google", "url", text<&S::tools, &ToolSettings::google_url>(defaults::kToolsGoogleUrl, kWebAddress),
            "Address of Google's Programmable Search JSON API."},
    Setting{"tools.google", "api_key", text<&S::tools, &ToolSettings::google_api_key>(defaults::kToolsGoogleApiKey),
            "Key for that API; empty: google_search cannot be used.", Change::kAtStart, Secrecy::kSecret},
    Setting{"tools.google", "cx", text<&S::tools, &ToolSettings::google_cx>(defaults::kToolsGoogleCx),
            "Id of the search engine that was made there; empty: google_search cannot be used."},
    Setting{"tools.searxng", "url", text<&S::tools, &ToolSettings::searxng_url>(defaults::kToolsSearxngUrl, kWebAddressOrNone),
            "Address of a SearXNG instance that allows the format json; empty: searxng_search cannot be used."},

    Setting{"tls", "certificate", text<&S::tls, &TlsSettings::certificate>(defaults::kTlsCertificate),
            "PEM file of the server's certificate, followed by those that vouch for it. SIGHUP reads it again for new connections.",
            Change::kWhileRunning},
    Setting{"tls", "key", text<&S::tls, &TlsSettings::key>(defaults::kTlsKey),
            "PEM file of the certificate's private key, without a passphrase; mode 0600. SIGHUP reads it again for new connections.",
            Change::kWhileRunning},

    Setting{"auth", "tokens", text<&S::auth, &AuthSettings::tokens>(defaults::kAuthTokens),
            "File of the access tokens that clients must present, one line each: NAME TOKEN [call,admin]; mode 0600. Empty: none is asked for."},
    Setting{"auth", "timeout_s", integer<&S::auth, &AuthSettings::timeout_s>(defaults::kAuthTimeoutS, 1, 3600, kSeconds),
            "Seconds within which a connection must present its access token, where one is asked for."},
    Setting{"auth", "insecure", boolean<&S::auth, &AuthSettings::insecure>(defaults::kAuthInsecure),
            "Allow addresses other than loopback although no access token is asked for."},

    Setting{"limits", "max_message_bytes", integer<&S::limits, &LimitSettings::max_message_bytes>(defaults::kLimitsMaxMessageBytes, 1 * kKiB, 1 * kGiB, kBytes),
            "Longest message that is accepted, in bytes."},
    Setting{"limits", "max_depth", integer<&S::limits, &LimitSettings::max_depth>(defaults::kLimitsMaxDepth, 8, 1024, kCount),
            "Deepest nesting of a message that is accepted."},
    Setting{"limits", "max_id_bytes", integer<&S::limits, &LimitSettings::max_id_bytes>(defaults::kLimitsMaxIdBytes, 16, 64 * kKiB, kBytes),
            "Longest id of a request that is accepted, in bytes of JSON text."},
    Setting{"limits", "send_queue_bytes", integer<&S::limits, &LimitSettings::send_queue_bytes>(defaults::kLimitsSendQueueBytes, 4 * kKiB, 1 * kGiB, kBytes),
            "Bytes that may wait for one client; streams join their tokens meanwhile."},
    Setting{"limits", "stall_s", integer<&S::limits, &LimitSettings::stall_s>(defaults::kLimitsStallS, 1, kDay, kSeconds),
            "Seconds after which a connection that takes nothing of what waits for it is closed."},
    Setting{"limits", "idle_s", integer<&S::limits, &LimitSettings::idle_s>(defaults::kLimitsIdleS, 0, 30 * kDay, kSeconds),
            "Seconds without any message, in either direction, after which a connection is closed; 0: never."},
    Setting{"limits", "max_connections", integer<&S::limits, &LimitSettings::max_connections>(defaults::kLimitsMaxConnections, 1, 100'000, kCount),
            "Connections that each transport holds at a time."},
    Setting{"limits", "max_connections_per_peer", integer<&S::limits, &LimitSettings::max_connections_per_peer>(defaults::kLimitsMaxConnectionsPerPeer, 1, 100'000, kCount),
            "Connections of one client machine that each transport holds at a time; of a Unix socket: of one user."},
    Setting{"limits", "max_requests_per_connection", integer<&S::limits, &LimitSettings::max_requests_per_connection>(defaults::kLimitsMaxRequestsPerConnection, 1, 100'000, kCount),
            "Requests that one connection may have in flight."},
    Setting{"limits", "memory_bytes", integer<&S::limits, &LimitSettings::memory_bytes>(defaults::kLimitsMemoryBytes, 0, 1024 * kGiB, kBytes),
            "Memory that requests, answers and streams may take together, in bytes; 0: a quarter of the machine's."},
    Setting{"limits", "max_reply_bytes", integer<&S::limits, &LimitSettings::max_reply_bytes>(defaults::kLimitsMaxReplyBytes, 64 * kKiB, 4 * kGiB, kBytes),
            "Longest answer with hidden states or logits that a direct call gets, in bytes."},
    Setting{"limits", "message_timeout_s", integer<&S::limits, &LimitSettings::message_timeout_s>(defaults::kLimitsMessageTimeoutS, 1, kDay, kSeconds),
            "Seconds within which a message must have arrived, from its first byte on. HTTP has its own times."},
    Setting{"limits", "max_handles", integer<&S::limits, &LimitSettings::max_handles>(defaults::kLimitsMaxHandles, 1, 1024, kCount),
            "Models that may be initialised at a time."},

    Setting{"mcp", "inline_bytes", integer<&S::mcp, &McpSettings::inline_bytes>(defaults::kMcpInlineBytes, 0, 1 * kGiB, kBytes),
            "From so many bytes on, hidden states and logits are a link in the answer of a tool, to be fetched in parts."},
    Setting{"mcp", "tools", list_of<&S::mcp, &McpSettings::tools>(defaults::kMcpTools, kToolSets),
            "Which tools tools/list shows: \"chat\" (few and small ones, to talk to a model), \"tools\" (of the tool server), \"api\" (one for each C function), \"memory\" (of the memory server). Those of upstreams are always shown; what is not shown can be called all the same. [\"chat\"] suits small models and hosts that take few tools.",
            Change::kWhileRunning},

    Setting{"stream", "poll_timeout_s", integer<&S::stream, &StreamSettings::poll_timeout_s>(defaults::kStreamPollTimeoutS, 1, kDay, kSeconds),
            "Seconds after which what nobody polls is discarded and its run is aborted."},
    Setting{"stream", "poll_wait_ms_max", integer<&S::stream, &StreamSettings::poll_wait_ms_max>(defaults::kStreamPollWaitMsMax, 0, 600'000, kMilliseconds),
            "Longest wait_ms that a poll may ask for, in milliseconds."},
    Setting{"stream", "buffer_bytes", integer<&S::stream, &StreamSettings::buffer_bytes>(defaults::kStreamBufferBytes, 4 * kKiB, 1 * kGiB, kBytes),
            "Text of one stream that is kept until it is polled, in bytes; a run that exceeds it is aborted."},
    Setting{"stream", "values_bytes", integer<&S::stream, &StreamSettings::values_bytes>(defaults::kStreamValuesBytes, 4 * kKiB, 1 * kGiB, kBytes),
            "Hidden states or logits of one run that are kept for its answer, in bytes; a run that exceeds it is aborted."},
    Setting{"stream", "memory_bytes", integer<&S::stream, &StreamSettings::memory_bytes>(defaults::kStreamMemoryBytes, 64 * kKiB, 64 * kGiB, kBytes),
            "Memory of all streams together, in bytes: what waits for clients or is gathered for answers."},

    Setting{"queue", "max_per_handle", integer<&S::queue, &QueueSettings::max_per_handle>(defaults::kQueueMaxPerHandle, 1, 100'000, kCount),
            "Calls that may wait for one handle."},
    Setting{"queue", "max_per_token", integer<&S::queue, &QueueSettings::max_per_token>(defaults::kQueueMaxPerToken, 1, 100'000, kCount),
            "Calls of these that one access token may have."},
    Setting{"queue", "timeout_s", integer<&S::queue, &QueueSettings::timeout_s>(defaults::kQueueTimeoutS, 0, 30 * kDay, kSeconds),
            "Seconds after which a call that still waits for its handle is given up; 0: never."},

    Setting{"runtime", "library", text<&S::runtime, &RuntimeSettings::library>(defaults::kRuntimeLibrary),
            "Path of the runtime library; empty: the system's librkllmrt.so; \"simulator\": the simulator that comes with this program."},
    Setting{"runtime", "fallback", word<&S::runtime, &RuntimeSettings::fallback>(defaults::kRuntimeFallback),
            "What to use when the system has no runtime library. none: calls are answered with an error."},
    Setting{"runtime", "abi", text<&S::runtime, &RuntimeSettings::abi>(defaults::kRuntimeAbi),
            "ABI set to use, e.g. \"1.3.0\", whatever version the library states; empty: by that version."},
    Setting{"runtime", "model_dirs", list<&S::runtime, &RuntimeSettings::model_dirs>(defaults::kRuntimeModelDirs),
            "Directories that models and adapters may be loaded from, links resolved; empty: from anywhere. Relative paths start there. The .rkllm files in them are models by name, and models are pulled into the first; if it is empty, models in $STATE_DIRECTORY, else rkllm-mcp/models in the user's data directory, is that folder."},
    Setting{"runtime", "cache_dir", text<&S::runtime, &RuntimeSettings::cache_dir>(defaults::kRuntimeCacheDir),
            "Directory below which the library may write, e.g. prompt caches; empty: $CACHE_DIRECTORY, else rkllm-mcp in the user's cache directory."},
    Setting{"runtime", "cache_bytes", integer<&S::runtime, &RuntimeSettings::cache_bytes>(defaults::kRuntimeCacheBytes, 0, 1024 * kGiB, kBytes),
            "Most bytes that the files below runtime.cache_dir may take together; a run that would save one more cache is refused."},
    Setting{"runtime", "isolation", word<&S::runtime, &RuntimeSettings::isolation>(defaults::kRuntimeIsolation),
            "process: the library runs in worker processes, and its death is not the server's. thread: it runs in the server."},
    Setting{"runtime", "workers", word<&S::runtime, &RuntimeSettings::workers>(defaults::kRuntimeWorkers),
            "per_handle: each model has a worker process of its own. shared: one for all models."},
    Setting{"runtime", "hang_s", integer<&S::runtime, &RuntimeSettings::hang_s>(defaults::kRuntimeHangS, 1, kDay, kSeconds),
            "Seconds without any sign of life during a call after which a worker process is killed."},
    Setting{"runtime", "keep_alive_s", integer<&S::runtime, &RuntimeSettings::keep_alive_s>(defaults::kRuntimeKeepAliveS, -1, 365 * kDay, kSeconds),
            "Seconds that a model which was loaded by its name stays loaded when nobody uses it; -1: for ever.",
            Change::kWhileRunning},
    Setting{"runtime", "default_context", integer<&S::runtime, &RuntimeSettings::default_context>(defaults::kRuntimeDefaultContext, 0, 1'000'000, kCount),
            "max_context_len of models that are loaded by name and have no preset; 0: the runtime's own. One that was built for less is loaded with the runtime's own.",
            Change::kWhileRunning},
    Setting{"runtime", "model_hub", text<&S::runtime, &RuntimeSettings::model_hub>(defaults::kRuntimeModelHub, kWebAddress),
            "Address of the hub that rkllm-mcp pull takes models from, or of a mirror of it.", Change::kWhileRunning},

    Setting{"models", "", named<&S::models>(defaults::kModels, "presets", kModelMembers),
            "Named presets for rkllm_init: {\"NAME\": {\"param\": {fields of RKLLMParam}, \"autoload\": true or false}}.",
            Change::kWhileRunning},

    Setting{"chat", "enabled", boolean<&S::chat, &ChatSettings::enabled>(defaults::kChatEnabled),
            "Serve chat clients: over HTTP the interfaces of OpenAI, Ollama, Anthropic and Responses, over MCP the tools of the chat set."},
    Setting{"chat", "heartbeat_s", integer<&S::chat, &ChatSettings::heartbeat_s>(defaults::kChatHeartbeatS, 1, 3600, kSeconds),
            "Seconds of silence after which a client that streams is told that its request still lives."},
    Setting{"chat", "warm_up_bytes", integer<&S::chat, &ChatSettings::warm_up_bytes>(defaults::kChatWarmUpBytes, 0, kMiB, kBytes),
            "Bytes of text that a model computes ahead of the next turn at a time, since a prefill cannot be interrupted; 0: nothing ahead."},
    Setting{"chat", "cache_bytes", integer<&S::chat, &ChatSettings::cache_bytes>(defaults::kChatCacheBytes, 0, 1024 * kGiB, kBytes),
            "Most bytes of the conversations' prompt caches below runtime.cache_dir; the one used longest ago goes first. 0: none are kept."},
    Setting{"chat", "structured_tries", integer<&S::chat, &ChatSettings::structured_tries>(defaults::kChatStructuredTries, 1, 10, kCount),
            "Runs that an answer which has to be JSON may take, before the client is told that the model cannot."},
    Setting{"chat", "responses_days", integer<&S::chat, &ChatSettings::responses_days>(defaults::kChatResponsesDays, 0, 36'500, kDays),
            "Days that responses are kept whose clients have asked for that (\"store\": true of POST /v1/responses), to be gone on from; 0: none are."},
    Setting{"chat", "aliases", text_map<&S::chat, &ChatSettings::aliases>(defaults::kChatAliases),
            "Other names of models: {\"gpt-4o-mini\": \"qwen2.5-1.5b\"}.", Change::kWhileRunning},
    Setting{"chat", "any_model", text<&S::chat, &ChatSettings::any_model>(defaults::kChatAnyModel),
            "The model that answers for names that nobody has; empty: such a name is an error.", Change::kWhileRunning},
    Setting{"chat", "guardrail_model", text<&S::chat, &ChatSettings::guardrail_model>(defaults::kChatGuardrailModel),
            "The model that profiles ask for all but answers (guardrail, language, summaries, clients' titles), so that the answering model's cache stays; empty: the profile's own."},
    Setting{"chat", "profiles_dir", text<&S::chat, &ChatSettings::profiles_dir>(defaults::kChatProfilesDir),
            "Folder of profiles, one assistant in each .json file, offered as a model by the file's name; empty: there are none. SIGHUP reads the files again.",
            Change::kWhileRunning},

    Setting{"upstreams", "", named<&S::upstreams>(defaults::kUpstreams, "servers", kUpstreamMembers, kUpstreamPlaces),
            "Other MCP servers whose tools are served, too, as NAME_TOOL: {\"NAME\": {\"url\": \"http://board:8080/mcp\"}} or {\"NAME\": {\"command\": \"npx\", \"args\": [...]}}.",
            Change::kAtStart, Secrecy::kVariables},

    Setting{"log", "level", word<&S::log, &LogSettings::level>(defaults::kLogLevel), "Least important kind of message that is written.",
            Change::kWhileRunning},
    Setting{"log", "format", word<&S::log, &LogSettings::format>(defaults::kLogFormat), "text: lines for people. json: one object per line."},
    Setting{"log", "file", text<&S::log, &LogSettings::file>(defaults::kLogFile), "File that the log is appended to; empty: standard error."},
};
// clang-format on

struct SectionText {
  std::string_view section;
  std::string_view documentation;
};

constexpr std::array kSections{
    SectionText{"server", "How this instance presents itself."},
    SectionText{"stdio", "Standard input and output, for hosts that start this program."},
    SectionText{"tcp", "Raw TCP."},
    SectionText{"unix", "A Unix domain socket."},
    SectionText{"udp", "UDP."},
    SectionText{"http", "HTTP."},
    SectionText{"ws", "WebSocket."},
    SectionText{"services", "Servers beside the one of the models, and their own port."},
    SectionText{"memory", "Conversations that outlive this program (memory-server)."},
    SectionText{"tools", "What the tool server looks up in the web, and computes (tool-server)."},
    SectionText{"tools.duckduckgo", "The tool duckduckgo_search."},
    SectionText{"tools.google", "The tool google_search."},
    SectionText{"tools.searxng", "The tool searxng_search."},
    SectionText{"tls", "Encryption, for the transports that ask for it: tcp.tls, http.tls, ws.tls."},
    SectionText{"auth", "Who may call."},
    SectionText{"limits", "What a client may ask for."},
    SectionText{"mcp", "Which tools are shown, and how they answer."},
    SectionText{"stream", "What is kept of answers that are not fetched at once."},
    SectionText{"queue", "Calls that wait for a handle."},
    SectionText{"runtime", "The library that runs models."},
    SectionText{"models", "Named presets for rkllm_init."},
    SectionText{"chat", "The chat host: clients of OpenAI, Ollama, Anthropic and Responses."},
    SectionText{"upstreams", "Other MCP servers whose tools are served here."},
    SectionText{"log", "What is written about what happens."},
};

}  // namespace

Settings::Settings() {
  for (const Setting& setting : kTable) set_initial(setting, *this);
}

std::span<const Setting> settings_table() { return kTable; }

const Setting* find_setting(std::string_view name) {
  const auto found = std::ranges::find_if(kTable, [&](const Setting& setting) { return name_of(setting) == name; });
  return found == kTable.end() ? nullptr : &*found;
}

std::string_view documentation_of_section(std::string_view section) {
  const auto found = std::ranges::find(kSections, section, &SectionText::section);
  return found == kSections.end() ? std::string_view{} : found->documentation;
}

std::string nearest_name(std::string_view name) {
  std::vector<std::string> names;
  const bool is_section = name.find('.') == std::string_view::npos;
  for (const Setting& setting : kTable) names.push_back(is_section ? std::string(setting.section) : name_of(setting));
  return nearest_at_any_distance(name, names);
}

}  // namespace rkllm_mcp
