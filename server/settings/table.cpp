#include "settings/table.hpp"

#include "limit.hpp"
#include "text/url.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <type_traits>
#include <utility>

namespace rkllm_mcp {
namespace {

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
constexpr Field boolean() {
  return BoolField{access<bool, section, key>()};
}

template <auto section, auto key>
constexpr Field integer(std::int64_t min, std::int64_t max, Unit unit) {
  return IntegerField{access<std::int64_t, section, key>(), min, max, unit};
}

template <auto section, auto key>
constexpr Field text(TextField::Form form = TextField::Form::kAny) {
  return TextField{access<std::string, section, key>(), form};
}

template <auto section, auto key>
constexpr Field word() {
  return ChoiceField{access<std::size_t, section, key>(), kWords<MemberOf<section, key>>};
}

template <auto section, auto key>
constexpr Field list(ListField::Form form = ListField::Form::kAny) {
  return ListField{access<std::vector<std::string>, section, key>(), form};
}

template <auto section, auto key>
constexpr Field list_of(std::span<const std::string_view> words) {
  return ListField{access<std::vector<std::string>, section, key>(), ListField::Form::kAny, words};
}

template <auto section, auto key>
constexpr Field text_map() {
  return TextMapField{access<Json, section, key>()};
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
constexpr Field named(std::string_view what, std::span<const Member> members,
                      std::span<const std::string_view> either = {}) {
  return NamedField{{[](const Settings& settings) { return settings.*section; },
                     [](Settings& settings, Json value) { settings.*section = std::move(value); }},
                    what,
                    members,
                    either};
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
    Setting{"server", "name", text<&S::server, &ServerSettings::name>(),
            "Name under which this instance presents itself to clients."},

    Setting{"stdio", "enabled", word<&S::stdio, &StdioSettings::enabled>(),
            "Serve the program that started this one, on standard input and output. auto: when standard input is a pipe or a socket."},

    Setting{"tcp", "enabled", boolean<&S::tcp, &TcpSettings::enabled>(), "Serve TCP: one message per line."},
    Setting{"tcp", "address", text<&S::tcp, &TcpSettings::address>(kIpAddress), "IP address to listen on."},
    Setting{"tcp", "port", integer<&S::tcp, &TcpSettings::port>(0, 65535, kNone), "Port to listen on; 0 picks a free one."},
    Setting{"tcp", "tls", boolean<&S::tcp, &TcpSettings::tls>(), "Encrypt, with the certificate of the section tls."},

    Setting{"unix", "path", text<&S::unix_socket, &UnixSettings::path>(),
            "Path of a Unix domain socket that serves programs on this machine, one message per line; empty: none."},
    Setting{"unix", "mode", text<&S::unix_socket, &UnixSettings::mode>(kFileMode),
            "Mode of the socket's file, in octal: who may connect. 0660 lets the group in."},

    Setting{"udp", "enabled", boolean<&S::udp, &UdpSettings::enabled>(), "Serve UDP: one message per datagram."},
    Setting{"udp", "address", text<&S::udp, &UdpSettings::address>(kIpAddress), "IP address to listen on."},
    Setting{"udp", "port", integer<&S::udp, &UdpSettings::port>(0, 65535, kNone), "Port to listen on; 0 picks a free one."},
    Setting{"udp", "idle_s", integer<&S::udp, &UdpSettings::idle_s>(1, kDay, kSeconds),
            "Seconds without a datagram after which a peer is forgotten and its runs are cancelled."},
    Setting{"udp", "chunk_bytes", integer<&S::udp, &UdpSettings::chunk_bytes>(512, kMaxDatagramBytes, kBytes),
            "Longest datagram of a stream, in bytes. Up to 1200 pass every usual network unfragmented."},
    Setting{"udp", "retained_chunks", integer<&S::udp, &UdpSettings::retained_chunks>(1, 1'000'000, kCount),
            "Chunks of each stream that are kept so that poll can send them again."},

    Setting{"http", "enabled", boolean<&S::http, &HttpSettings::enabled>(), "Serve HTTP: JSON-RPC with poll, and MCP."},
    Setting{"http", "address", text<&S::http, &HttpSettings::address>(kIpAddress), "IP address to listen on."},
    Setting{"http", "port", integer<&S::http, &HttpSettings::port>(0, 65535, kNone), "Port to listen on; 0 picks a free one."},
    Setting{"http", "tls", boolean<&S::http, &HttpSettings::tls>(),
            "Encrypt (HTTPS), with the certificate of the section tls. Holds for WebSocket on this port too."},
    Setting{"http", "allowed_origins", list<&S::http, &HttpSettings::allowed_origins>(),
            "Origins of web pages that may call and read, e.g. \"https://chat.example.org\"; those of loopback addresses may "
            "call, and read what the chat host's endpoints answer. Holds for WebSocket too."},
    Setting{"http", "allowed_hosts", list<&S::http, &HttpSettings::allowed_hosts>(),
            "Host names that requests may be addressed to, besides loopback ones and the listening address. Holds for WebSocket too."},
    Setting{"http", "header_bytes", integer<&S::http, &HttpSettings::header_bytes>(1 * kKiB, 1 * kMiB, kBytes),
            "Longest request line and headers together, in bytes."},
    Setting{"http", "header_timeout_s", integer<&S::http, &HttpSettings::header_timeout_s>(1, 600, kSeconds),
            "Seconds within which a request's headers must have arrived."},
    Setting{"http", "body_timeout_s", integer<&S::http, &HttpSettings::body_timeout_s>(1, kDay, kSeconds),
            "Seconds within which a request's body must have arrived, from the end of its headers on."},
    Setting{"http", "keep_alive_s", integer<&S::http, &HttpSettings::keep_alive_s>(1, kDay, kSeconds),
            "Seconds that a connection may rest between two requests."},
    Setting{"http", "session_idle_s", integer<&S::http, &HttpSettings::session_idle_s>(1, 30 * kDay, kSeconds),
            "Seconds without a request after which an MCP session is forgotten."},
    Setting{"http", "page", boolean<&S::http, &HttpSettings::page>(),
            "Serve the web page for people at /, to browsers; other clients find there what they look for."},

    Setting{"ws", "enabled", boolean<&S::ws, &WsSettings::enabled>(), "Serve WebSocket: one message per text frame."},
    Setting{"ws", "address", text<&S::ws, &WsSettings::address>(kIpAddress), "IP address to listen on."},
    Setting{"ws", "port", integer<&S::ws, &WsSettings::port>(0, 65535, kNone), "Port to listen on; 0 picks a free one."},
    Setting{"ws", "tls", boolean<&S::ws, &WsSettings::tls>(), "Encrypt (WSS), with the certificate of the section tls."},
    Setting{"ws", "ping_s", integer<&S::ws, &WsSettings::ping_s>(0, kDay, kSeconds), "Seconds between pings; 0 sends none."},

    Setting{"services", "enabled", boolean<&S::services, &ServicesSettings::enabled>(),
            "Serve the services (memory-server, ...) on an HTTP port of their own, too. The certificate is as for http."},
    Setting{"services", "address", text<&S::services, &ServicesSettings::address>(kIpAddress), "IP address to listen on."},
    Setting{"services", "port", integer<&S::services, &ServicesSettings::port>(0, 65535, kNone),
            "Port to listen on; 0 picks a free one."},
    Setting{"services", "only", list<&S::services, &ServicesSettings::only>(),
            "Names of the servers that run, e.g. \"memory-server\"; empty: all. Without that of server.name no model can be loaded."},

    Setting{"memory", "database", text<&S::memory, &MemorySettings::database>(),
            "File that the memory server keeps conversations in; empty: rkllm-mcp/memory.db in the user's state directory; \":memory:\": they end with the server; \"postgresql://user@host/name\": a PostgreSQL database, which several servers may share.", Change::kAtStart, Secrecy::kAddress},
    Setting{"memory", "keep_recent_messages", integer<&S::memory, &MemorySettings::keep_recent_messages>(1, 10'000, kCount),
            "Most recent messages of a conversation that are its context, and that no summary covers."},
    Setting{"memory", "summarize_threshold", integer<&S::memory, &MemorySettings::summarize_threshold>(1, 10'000, kCount),
            "Messages from which on a chat host makes a summary."},
    Setting{"memory", "summary_max_bytes", integer<&S::memory, &MemorySettings::summary_max_bytes>(256, kMiB, kBytes),
            "Bytes of a conversation's summary above which a chat host has it summarised itself."},
    Setting{"memory", "max_bytes", integer<&S::memory, &MemorySettings::max_bytes>(0, 64 * 1024 * kGiB, kBytes),
            "Most bytes that the store may take; 0: no limit."},
    Setting{"memory", "when_full", word<&S::memory, &MemorySettings::when_full>(),
            "refuse: a store that has reached memory.max_bytes takes no more. forget: it removes the conversations that have not changed for longest."},
    Setting{"memory", "retention_days", integer<&S::memory, &MemorySettings::retention_days>(0, 36'500, kDays),
            "Days after which a conversation that has not changed is removed; 0: never."},

    Setting{"tools", "timeout_s", integer<&S::tools, &ToolSettings::timeout_s>(1, 600, kSeconds), "Seconds that one call of a tool may take."},
    Setting{"tools", "workers", integer<&S::tools, &ToolSettings::workers>(1, 64, kCount), "Calls of tools that are worked on at a time."},
    Setting{"tools", "max_waiting", integer<&S::tools, &ToolSettings::max_waiting>(1, 10'000, kCount), "Calls of tools that may wait for their turn."},
    Setting{"tools", "per_minute", integer<&S::tools, &ToolSettings::per_minute>(1, 6000, kCount),
            "Calls a minute of each tool that asks somebody on the network; answers that are kept do not count."},
    Setting{"tools", "cache_s", integer<&S::tools, &ToolSettings::cache_s>(0, kDay, kSeconds),
            "Seconds that answers from the network are kept, for those who ask the same; 0: they are not."},
    Setting{"tools", "cache_bytes", integer<&S::tools, &ToolSettings::cache_bytes>(0, 1 * kGiB, kBytes), "Memory for answers that are kept, in bytes."},
    Setting{"tools", "page_bytes", integer<&S::tools, &ToolSettings::page_bytes>(16 * kKiB, 16 * kMiB, kBytes),
            "Longest page that is read, unpacked, in bytes; what is behind that is cut off."},
    Setting{"tools", "allowed_addresses", list<&S::tools, &ToolSettings::allowed_addresses>(ListField::Form::kNetworks),
            "Addresses and networks, e.g. \"192.168.1.0/24\", that fetch_page may reach although they are not public."},
    Setting{"tools", "ca_file", text<&S::tools, &ToolSettings::ca_file>(),
            "PEM file of those who vouch for https servers; empty: the system's."},
    Setting{"tools", "user_agent", text<&S::tools, &ToolSettings::user_agent>(),
            "What the tools present themselves as to web servers; empty: rkllm-mcp and its version."},
    Setting{"tools.duckduckgo", "url", text<&S::tools, &ToolSettings::duckduckgo_url>(kWebAddress),
            "Address of DuckDuckGo's page for browsers without scripts."},
    Setting{"tools.google", "url", text<&S::tools, &ToolSettings::google_url>(kWebAddress),
            "Address of Google's Programmable Search JSON API."},
    Setting{"tools.google", "api_key", text<&S::tools, &ToolSettings::google_api_key>(),
            "Key for that API; empty: google_search cannot be used.", Change::kAtStart, Secrecy::kSecret},
    Setting{"tools.google", "cx", text<&S::tools, &ToolSettings::google_cx>(),
            "Id of the search engine that was made there; empty: google_search cannot be used."},
    Setting{"tools.searxng", "url", text<&S::tools, &ToolSettings::searxng_url>(kWebAddressOrNone),
            "Address of a SearXNG instance that allows the format json; empty: searxng_search cannot be used."},

    Setting{"tls", "certificate", text<&S::tls, &TlsSettings::certificate>(),
            "PEM file of the server's certificate, followed by those that vouch for it. SIGHUP reads it again for new connections.",
            Change::kWhileRunning},
    Setting{"tls", "key", text<&S::tls, &TlsSettings::key>(),
            "PEM file of the certificate's private key, without a passphrase; mode 0600. SIGHUP reads it again for new connections.",
            Change::kWhileRunning},

    Setting{"auth", "tokens", text<&S::auth, &AuthSettings::tokens>(),
            "File of the access tokens that clients must present, one line each: NAME TOKEN [call,admin]; mode 0600. Empty: none is asked for."},
    Setting{"auth", "timeout_s", integer<&S::auth, &AuthSettings::timeout_s>(1, 3600, kSeconds),
            "Seconds within which a connection must present its access token, where one is asked for."},
    Setting{"auth", "insecure", boolean<&S::auth, &AuthSettings::insecure>(),
            "Allow addresses other than loopback although no access token is asked for."},

    Setting{"limits", "max_message_bytes", integer<&S::limits, &LimitSettings::max_message_bytes>(1 * kKiB, 1 * kGiB, kBytes),
            "Longest message that is accepted, in bytes."},
    Setting{"limits", "max_depth", integer<&S::limits, &LimitSettings::max_depth>(8, 1024, kCount),
            "Deepest nesting of a message that is accepted."},
    Setting{"limits", "max_id_bytes", integer<&S::limits, &LimitSettings::max_id_bytes>(16, 64 * kKiB, kBytes),
            "Longest id of a request that is accepted, in bytes of JSON text."},
    Setting{"limits", "send_queue_bytes", integer<&S::limits, &LimitSettings::send_queue_bytes>(4 * kKiB, 1 * kGiB, kBytes),
            "Bytes that may wait for one client; streams join their tokens meanwhile."},
    Setting{"limits", "stall_s", integer<&S::limits, &LimitSettings::stall_s>(1, kDay, kSeconds),
            "Seconds after which a connection that takes nothing of what waits for it is closed."},
    Setting{"limits", "idle_s", integer<&S::limits, &LimitSettings::idle_s>(0, 30 * kDay, kSeconds),
            "Seconds without any message, in either direction, after which a connection is closed; 0: never."},
    Setting{"limits", "max_connections", integer<&S::limits, &LimitSettings::max_connections>(1, 100'000, kCount),
            "Connections that each transport holds at a time."},
    Setting{"limits", "max_connections_per_peer", integer<&S::limits, &LimitSettings::max_connections_per_peer>(1, 100'000, kCount),
            "Connections of one client machine that each transport holds at a time; of a Unix socket: of one user."},
    Setting{"limits", "max_requests_per_connection", integer<&S::limits, &LimitSettings::max_requests_per_connection>(1, 100'000, kCount),
            "Requests that one connection may have in flight."},
    Setting{"limits", "memory_bytes", integer<&S::limits, &LimitSettings::memory_bytes>(0, 1024 * kGiB, kBytes),
            "Memory that requests, answers and streams may take together, in bytes; 0: a quarter of the machine's."},
    Setting{"limits", "max_reply_bytes", integer<&S::limits, &LimitSettings::max_reply_bytes>(64 * kKiB, 4 * kGiB, kBytes),
            "Longest answer with hidden states or logits that a direct call gets, in bytes."},
    Setting{"limits", "message_timeout_s", integer<&S::limits, &LimitSettings::message_timeout_s>(1, kDay, kSeconds),
            "Seconds within which a message must have arrived, from its first byte on. HTTP has its own times."},
    Setting{"limits", "max_handles", integer<&S::limits, &LimitSettings::max_handles>(1, 1024, kCount),
            "Models that may be initialised at a time."},

    Setting{"mcp", "inline_bytes", integer<&S::mcp, &McpSettings::inline_bytes>(0, 1 * kGiB, kBytes),
            "From so many bytes on, hidden states and logits are a link in the answer of a tool, to be fetched in parts."},
    Setting{"mcp", "tools", list_of<&S::mcp, &McpSettings::tools>(kToolSets),
            "Which tools tools/list shows: \"chat\" (few and small ones, to talk to a model), \"tools\" (of the tool server), \"api\" (one for each C function), \"memory\" (of the memory server). Those of upstreams are always shown; what is not shown can be called all the same. [\"chat\"] suits small models and hosts that take few tools.",
            Change::kWhileRunning},

    Setting{"stream", "poll_timeout_s", integer<&S::stream, &StreamSettings::poll_timeout_s>(1, kDay, kSeconds),
            "Seconds after which what nobody polls is discarded and its run is aborted."},
    Setting{"stream", "poll_wait_ms_max", integer<&S::stream, &StreamSettings::poll_wait_ms_max>(0, 600'000, kMilliseconds),
            "Longest wait_ms that a poll may ask for, in milliseconds."},
    Setting{"stream", "buffer_bytes", integer<&S::stream, &StreamSettings::buffer_bytes>(4 * kKiB, 1 * kGiB, kBytes),
            "Text of one stream that is kept until it is polled, in bytes; a run that exceeds it is aborted."},
    Setting{"stream", "values_bytes", integer<&S::stream, &StreamSettings::values_bytes>(4 * kKiB, 1 * kGiB, kBytes),
            "Hidden states or logits of one run that are kept for its answer, in bytes; a run that exceeds it is aborted."},
    Setting{"stream", "memory_bytes", integer<&S::stream, &StreamSettings::memory_bytes>(64 * kKiB, 64 * kGiB, kBytes),
            "Memory of all streams together, in bytes: what waits for clients or is gathered for answers."},

    Setting{"queue", "max_per_handle", integer<&S::queue, &QueueSettings::max_per_handle>(1, 100'000, kCount),
            "Calls that may wait for one handle."},
    Setting{"queue", "max_per_token", integer<&S::queue, &QueueSettings::max_per_token>(1, 100'000, kCount),
            "Calls of these that one access token may have."},
    Setting{"queue", "timeout_s", integer<&S::queue, &QueueSettings::timeout_s>(0, 30 * kDay, kSeconds),
            "Seconds after which a call that still waits for its handle is given up; 0: never."},

    Setting{"runtime", "library", text<&S::runtime, &RuntimeSettings::library>(),
            "Path of the runtime library; empty: the system's librkllmrt.so; \"simulator\": the simulator that comes with this program."},
    Setting{"runtime", "fallback", word<&S::runtime, &RuntimeSettings::fallback>(),
            "What to use when the system has no runtime library. none: calls are answered with an error."},
    Setting{"runtime", "abi", text<&S::runtime, &RuntimeSettings::abi>(),
            "ABI set to use, e.g. \"1.3.0\", whatever version the library states; empty: by that version."},
    Setting{"runtime", "model_dirs", list<&S::runtime, &RuntimeSettings::model_dirs>(),
            "Directories that models and adapters may be loaded from, links resolved; empty: from anywhere. Relative paths start there. The .rkllm files in them are models by name, and models are pulled into the first; if it is empty, models in $STATE_DIRECTORY, else rkllm-mcp/models in the user's data directory, is that folder."},
    Setting{"runtime", "cache_dir", text<&S::runtime, &RuntimeSettings::cache_dir>(),
            "Directory below which the library may write, e.g. prompt caches; empty: rkllm-mcp in the user's cache directory."},
    Setting{"runtime", "cache_bytes", integer<&S::runtime, &RuntimeSettings::cache_bytes>(0, 1024 * kGiB, kBytes),
            "Most bytes that the files below runtime.cache_dir may take together; a run that would save one more cache is refused."},
    Setting{"runtime", "isolation", word<&S::runtime, &RuntimeSettings::isolation>(),
            "process: the library runs in worker processes, and its death is not the server's. thread: it runs in the server."},
    Setting{"runtime", "workers", word<&S::runtime, &RuntimeSettings::workers>(),
            "per_handle: each model has a worker process of its own. shared: one for all models."},
    Setting{"runtime", "hang_s", integer<&S::runtime, &RuntimeSettings::hang_s>(1, kDay, kSeconds),
            "Seconds without any sign of life during a call after which a worker process is killed."},
    Setting{"runtime", "keep_alive_s", integer<&S::runtime, &RuntimeSettings::keep_alive_s>(-1, 365 * kDay, kSeconds),
            "Seconds that a model which was loaded by its name stays loaded when nobody uses it; -1: for ever.",
            Change::kWhileRunning},
    Setting{"runtime", "default_context", integer<&S::runtime, &RuntimeSettings::default_context>(0, 1'000'000, kCount),
            "max_context_len of models that are loaded by name and have no preset; 0: the runtime's own. One that was built for less is loaded with the runtime's own.",
            Change::kWhileRunning},
    Setting{"runtime", "model_hub", text<&S::runtime, &RuntimeSettings::model_hub>(kWebAddress),
            "Address of the hub that rkllm-mcp pull takes models from, or of a mirror of it.", Change::kWhileRunning},

    Setting{"models", "", named<&S::models>("presets", kModelMembers),
            "Named presets for rkllm_init: {\"NAME\": {\"param\": {fields of RKLLMParam}, \"autoload\": true or false}}.",
            Change::kWhileRunning},

    Setting{"chat", "enabled", boolean<&S::chat, &ChatSettings::enabled>(),
            "Serve chat clients: over HTTP the interfaces of OpenAI, Ollama, Anthropic and Responses, over MCP the tools of the chat set."},
    Setting{"chat", "heartbeat_s", integer<&S::chat, &ChatSettings::heartbeat_s>(1, 3600, kSeconds),
            "Seconds of silence after which a client that streams is told that its request still lives."},
    Setting{"chat", "warm_up_bytes", integer<&S::chat, &ChatSettings::warm_up_bytes>(0, kMiB, kBytes),
            "Bytes of text that a model computes ahead of the next turn at a time, since a prefill cannot be interrupted; 0: nothing ahead."},
    Setting{"chat", "cache_bytes", integer<&S::chat, &ChatSettings::cache_bytes>(0, 1024 * kGiB, kBytes),
            "Most bytes of the conversations' prompt caches below runtime.cache_dir; the one used longest ago goes first. 0: none are kept."},
    Setting{"chat", "structured_tries", integer<&S::chat, &ChatSettings::structured_tries>(1, 10, kCount),
            "Runs that an answer which has to be JSON may take, before the client is told that the model cannot."},
    Setting{"chat", "responses_days", integer<&S::chat, &ChatSettings::responses_days>(0, 36'500, kDays),
            "Days that responses are kept whose clients have asked for that (\"store\": true of POST /v1/responses), to be gone on from; 0: none are."},
    Setting{"chat", "aliases", text_map<&S::chat, &ChatSettings::aliases>(),
            "Other names of models: {\"gpt-4o-mini\": \"qwen2.5-1.5b\"}."},
    Setting{"chat", "any_model", text<&S::chat, &ChatSettings::any_model>(),
            "The model that answers for names that nobody has; empty: such a name is an error."},
    Setting{"chat", "guardrail_model", text<&S::chat, &ChatSettings::guardrail_model>(),
            "The model that profiles ask for all but answers (guardrail, language, summaries, clients' titles), so that the answering model's cache stays; empty: the profile's own."},
    Setting{"chat", "profiles_dir", text<&S::chat, &ChatSettings::profiles_dir>(),
            "Folder of profiles, one assistant in each .json file, offered as a model by the file's name; empty: there are none. SIGHUP reads the files again.",
            Change::kWhileRunning},

    Setting{"upstreams", "", named<&S::upstreams>("servers", kUpstreamMembers, kUpstreamPlaces),
            "Other MCP servers whose tools are served, too, as NAME_TOOL: {\"NAME\": {\"url\": \"http://board:8080/mcp\"}} or {\"NAME\": {\"command\": \"npx\", \"args\": [...]}}.",
            Change::kAtStart, Secrecy::kVariables},

    Setting{"log", "level", word<&S::log, &LogSettings::level>(), "Least important kind of message that is written.",
            Change::kWhileRunning},
    Setting{"log", "format", word<&S::log, &LogSettings::format>(), "text: lines for people. json: one object per line."},
    Setting{"log", "file", text<&S::log, &LogSettings::file>(), "File that the log is appended to; empty: standard error."},
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

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const auto comma = text.find(',');
    std::string_view word = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

std::span<const Setting> settings_table() { return kTable; }

std::string name_of(const Setting& setting) {
  std::string name(setting.section);
  if (!setting.key.empty()) name.append(".").append(setting.key);
  return name;
}

std::string variable_of(const Setting& setting) {
  std::string name = "RKLLM_MCP_" + name_of(setting);
  std::ranges::replace(name, '.', '_');
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

std::string listed(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

std::string expectation_of(const Setting& setting) {
  struct Visitor {
    std::string operator()(const BoolField&) const { return "true or false"; }
    std::string operator()(const IntegerField& field) const {
      std::string range = "an integer from " + std::to_string(field.min) + " to " + std::to_string(field.max);
      switch (field.unit) {
        case Unit::kNone:
        case Unit::kCount: return range;
        case Unit::kBytes: return range + " (bytes)";
        case Unit::kMilliseconds: return range + " (milliseconds)";
        case Unit::kSeconds: return range + " (seconds)";
        case Unit::kDays: return range + " (days)";
      }
      return range;
    }
    std::string operator()(const TextField& field) const {
      switch (field.form) {
        case TextField::Form::kIpAddress: return "an IP address such as 127.0.0.1 or ::1";
        case TextField::Form::kFileMode: return "three octal digits, perhaps with a 0 in front, such as 0660";
        case TextField::Form::kWebAddress: return "an address such as https://example.org/search";
        case TextField::Form::kWebAddressOrNone: return "an address such as https://example.org/search, or nothing";
        case TextField::Form::kAny: break;
      }
      return "a string";
    }
    std::string operator()(const ChoiceField& field) const { return "one of " + listed(field.words); }
    std::string operator()(const ListField& field) const {
      if (!field.words.empty()) return "an array of " + listed(field.words);
      return field.form == ListField::Form::kNetworks ? "an array of addresses or networks such as 192.168.1.0/24"
                                                      : "an array of strings";
    }
    std::string operator()(const NamedField& field) const { return "an object of " + std::string(field.what); }
    std::string operator()(const TextMapField&) const { return "an object of strings"; }
  };
  return std::visit(Visitor{}, setting.field);
}

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

Json value_of(const Setting& setting, const Settings& settings) {
  struct Visitor {
    const Settings& settings;
    Json operator()(const BoolField& field) const { return field.value.get(settings); }
    Json operator()(const IntegerField& field) const { return field.value.get(settings); }
    Json operator()(const TextField& field) const { return field.value.get(settings); }
    Json operator()(const ChoiceField& field) const { return field.words[field.value.get(settings)]; }
    Json operator()(const ListField& field) const { return field.value.get(settings); }
    Json operator()(const NamedField& field) const { return field.value.get(settings); }
    Json operator()(const TextMapField& field) const { return field.value.get(settings); }
  };
  return std::visit(Visitor{settings}, setting.field);
}

namespace {

constexpr const char* kHidden = "********";

Json without_variables(Json servers) {
  for (Json& server : servers) {
    if (!server.contains("env")) continue;
    for (Json& value : server["env"]) value = kHidden;
  }
  return servers;
}

}  // namespace

Json shown_value(const Setting& setting, const Settings& settings) {
  Json value = value_of(setting, settings);
  switch (setting.secrecy) {
    case Secrecy::kPublic: break;
    case Secrecy::kSecret: return value == Json("") ? value : Json(kHidden);
    case Secrecy::kAddress: return shown_address(value.get<std::string>());
    case Secrecy::kVariables: return without_variables(std::move(value));
  }
  return value;
}

}  // namespace rkllm_mcp
