#include "cli/target.hpp"

#include "settings/refused.hpp"
#include "text/shown.hpp"

#include <settings_defaults.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace rkllm_mcp {
namespace {

using client::Protocol;

Protocol protocol_on(std::string_view port, const Settings& settings, Protocol usual) {
  if (port == std::to_string(settings.http.port)) return settings.http.tls ? Protocol::kHttps : Protocol::kHttp;
  if (port == std::to_string(settings.tcp.port)) return settings.tcp.tls ? Protocol::kTcps : Protocol::kTcp;
  if (port == std::to_string(settings.ws.port)) return settings.ws.tls ? Protocol::kWebSockets : Protocol::kWebSocket;
  return usual;
}

constexpr std::array kWithPorts{Protocol::kTcp,   Protocol::kTcps,      Protocol::kUdp,       Protocol::kHttp,
                                Protocol::kHttps, Protocol::kWebSocket, Protocol::kWebSockets};

// Where a server of ours is that was not told another port; a proxy in front of one has that of HTTPS.
std::int64_t usual_port(Protocol protocol) {
  constexpr std::int64_t kHttpsPort = 443;
  switch (protocol) {
    case Protocol::kTcp:
    case Protocol::kTcps: return defaults::kTcpPort;
    case Protocol::kUdp: return defaults::kUdpPort;
    case Protocol::kHttp: return defaults::kHttpPort;
    case Protocol::kWebSocket: return defaults::kWsPort;
    case Protocol::kHttps:
    case Protocol::kWebSockets: return kHttpsPort;
    case Protocol::kUnix: break;
  }
  return 0;
}

// `to` with that port where it names a host and none, before a path.
std::string with_port(std::string_view to, std::size_t host_at, Protocol protocol) {
  const std::size_t end = std::min(to.find('/', host_at), to.size());
  const std::string_view host = to.substr(host_at, end - host_at);
  const bool has_port = !host.ends_with(']') && host.find(':') != std::string_view::npos;
  std::string whole(to);
  return host.empty() || has_port ? whole : whole.insert(end, ":" + std::to_string(usual_port(protocol)));
}

constexpr const char* kWhereTokensComeFrom = "--token, or RKLLM_MCP_TOKEN in the environment";

template <class Kind>
bool is_a(const client::ConnectionError& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

// Where a client on this machine reaches a server that listens on `address`, which may be all addresses. A certificate
// is for the address that is connected to.
std::string host_of(const std::string& address) {
  if (address == "0.0.0.0") return "127.0.0.1";
  return address == "::" ? "::1" : address;
}

}  // namespace

client::Endpoint target_of(std::string_view to, const Settings& settings, Protocol usual, std::string_view http_path) {
  if (to.find("://") != std::string_view::npos) {
    for (const Protocol each : kWithPorts) {
      const std::string_view prefix = client::prefix_of(each);
      if (to.starts_with(prefix)) return client::parse_endpoint(with_port(to, prefix.size(), each), http_path);
    }
    return client::parse_endpoint(to, http_path);
  }
  const bool is_port = !to.empty() && to.find_first_not_of("0123456789") == std::string_view::npos;
  if (is_port) return target_of("127.0.0.1:" + std::string(to), settings, usual, http_path);
  if (to.starts_with('/')) return client::parse_endpoint("unix://" + std::string(to), http_path);
  const std::string place = with_port(to, 0, usual);
  const std::string port = place.substr(place.rfind(':') + 1);
  // The settings are asked only of a port that somebody has named.
  const Protocol protocol = place == to ? protocol_on(port.substr(0, port.find('/')), settings, usual) : usual;
  return client::parse_endpoint(std::string(client::prefix_of(protocol)) + place, http_path);
}

client::Endpoint http_place(const Settings& settings) {
  client::Endpoint place{settings.http.tls ? Protocol::kHttps : Protocol::kHttp, host_of(settings.http.address),
                         settings.http.port, "/"};
  place.ca_file = settings.tls.certificate;
  return place;
}

std::vector<client::Endpoint> server_places(const Settings& settings, const std::string& http_path) {
  std::vector<client::Endpoint> places;
  if (settings.tcp.enabled && settings.tcp.port != 0) {
    places.push_back({settings.tcp.tls ? client::Protocol::kTcps : client::Protocol::kTcp,
                      host_of(settings.tcp.address), settings.tcp.port, ""});
  }
  if (settings.services.port != 0) {
    places.push_back({settings.http.tls ? client::Protocol::kHttps : client::Protocol::kHttp,
                      host_of(settings.services.address), settings.services.port, http_path});
  }
  return places;
}

void require_nobody_at(const client::Endpoint& place, const client::ConnectionError& error) {
  if (is_a<client::Unreachable>(error)) return;
  const bool is_tcp = place.protocol == Protocol::kTcp || place.protocol == Protocol::kTcps;
  const std::string leave_out =
      std::string("leave it out: --set ") + (is_tcp ? "tcp.enabled=false" : "services.port=0");
  const client::Loss loss(error);
  if (!loss.is_refusal()) loss.raise("; if that is no server of rkllm-mcp, " + leave_out);
  // Here a server is, but perhaps under a name that only its certificate knows.
  loss.raise("; name the server, --to " + std::string(client::prefix_of(place.protocol)) +
             "NAME:" + std::to_string(place.port) + ", or " + leave_out);
}

std::string where_of(const client::Endpoint& place, const Environment& environment) {
  client::Endpoint found{};
  try {
    SettingsRequest request;
    request.environment = environment;
    found = http_place(load_settings(request).values);
  } catch (const SettingsRefused&) {
    // Settings that are refused lead to no server.
  }
  const bool is_found = found.port != 0 && found.url() == place.url();
  std::string where = is_found ? std::string() : " --to " + shell_word(place.url());
  const bool is_trusted = place.ca_file.empty() || (is_found && found.ca_file == place.ca_file);
  if (place.speaks_tls() && !is_trusted) where += " --cacert " + shell_word(place.ca_file);
  return where;
}

std::string words_of(const client::ConnectionError& error, const std::optional<std::string>& serve_options) {
  std::string words = error.what();
  if (is_a<client::UnknownHost>(error)) return words;
  if (is_a<client::MisnamedServer>(error)) return words + "; use the name that the certificate has";
  if (is_a<client::TokenRefused>(error)) return words + "; the token is given by " + kWhereTokensComeFrom;
  if (is_a<client::Unreachable>(error)) {
    words += serve_options ? "; is the server running? Start it: rkllm-mcp serve" + *serve_options
                           : "; is the server running there?";
  }
  if (is_a<client::UntrustedServer>(error))
    words += "; if it is yours, name its certificate, or that of its issuer: --cacert FILE";
  return words;
}

std::string words_of_refused_token(const std::string& token, const std::string& why) {
  if (token.empty()) return std::string("an access token is needed: ") + kWhereTokensComeFrom;
  return std::string("the server refuses the access token, which comes from ") + kWhereTokensComeFrom +
         (why.empty() ? "" : ": " + why);
}

std::string trusted_file(const std::string& named, const Settings& settings) {
  return named.empty() ? settings.tls.certificate : named;
}

}  // namespace rkllm_mcp
