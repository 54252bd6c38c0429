#include "cli/serve_options.hpp"

#include "cli/target.hpp"
#include "settings/refused.hpp"
#include "settings/table.hpp"
#include "text/ip_address.hpp"
#include "text/shown.hpp"

#include <cstdint>

namespace rkllm_mcp {
namespace {

using client::Protocol;

std::string set_option(const std::string& name, const std::string& value) {
  return " --set " + shell_word(name + "=" + value);
}

// What the settings say of a transport's port.
struct PortOfSettings {
  const char* section;
  bool enabled;
  std::string address;
  std::uint16_t port;
  bool tls = false;

  bool is_at(const client::Endpoint& place) const { return enabled && port == place.port && tls == place.speaks_tls(); }
  // The options after which is_at() is true.
  std::string moved_to(const client::Endpoint& place) const {
    const std::string name = section;
    std::string options = enabled ? std::string() : set_option(name + ".enabled", "true");
    if (port != place.port) options += set_option(name + ".port", std::to_string(place.port));
    if (tls != place.speaks_tls()) options += set_option(name + ".tls", tls ? "false" : "true");
    return options;
  }
};

PortOfSettings port_for(Protocol protocol, const Settings& settings) {
  switch (protocol) {
    case Protocol::kTcp:
    case Protocol::kTcps:
      return {"tcp", settings.tcp.enabled, settings.tcp.address, settings.tcp.port, settings.tcp.tls};
    case Protocol::kUdp: return {"udp", settings.udp.enabled, settings.udp.address, settings.udp.port};
    case Protocol::kWebSocket:
    case Protocol::kWebSockets:
      return {"ws", settings.ws.enabled, settings.ws.address, settings.ws.port, settings.ws.tls};
    case Protocol::kUnix:  // has no port
    case Protocol::kHttp:
    case Protocol::kHttps: break;
  }
  return {"http", settings.http.enabled, settings.http.address, settings.http.port, settings.http.tls};
}

// Whether the server has this port already, for another transport than that of `port`.
bool is_anothers(const PortOfSettings& port, const client::Endpoint& place, const Settings& settings) {
  if (place.protocol == Protocol::kUdp) return false;
  for (const Protocol protocol : {Protocol::kTcp, Protocol::kWebSocket, Protocol::kHttp}) {
    const PortOfSettings other = port_for(protocol, settings);
    if (other.section != std::string_view(port.section) && other.enabled && other.port == place.port) return true;
  }
  return false;
}

}  // namespace

bool is_on_this_machine(const client::Endpoint& place) {
  return place.protocol == Protocol::kUnix || place.host == "localhost" || is_loopback(place.host);
}

std::string as_options(const SettingsRequest& request, std::string_view command) {
  std::string options = request.path ? " --settings " + shell_word(*request.path) : std::string();
  for (const Assignment& each : request.assignments) {
    const Setting* const setting = find_setting(each.name);
    const bool is_secret = setting != nullptr && setting->secrecy != Secrecy::kPublic;
    const bool is_said = command.find(" --set " + each.name + "=") != std::string_view::npos ||
                         (each.name == "runtime.library" && command.find(" --simulator") != std::string_view::npos);
    if (!is_secret && !is_said) options += set_option(each.name, each.text);
  }
  return options;
}

std::optional<std::string> serve_options_for(std::string_view to, Protocol usual, const SettingsRequest& request) {
  std::string options = as_options(request);
  Settings settings;
  try {
    settings = load_settings(request).values;
  } catch (const SettingsRefused&) {
    return options;  // a server tells what is wrong with them
  }
  const client::Endpoint place = target_of(to, settings, usual);
  if (place.protocol == Protocol::kUnix) {
    return settings.unix_socket.path == place.path ? options : options + set_option("unix.path", place.path);
  }
  const PortOfSettings port = port_for(place.protocol, settings);
  const bool is_heard_here = is_any_address(port.address) || is_loopback(port.address);
  if (place.host != port.address && (!is_on_this_machine(place) || !is_heard_here)) return std::nullopt;
  if (place.speaks_tls() && !port.tls && settings.tls.certificate.empty()) return std::nullopt;
  const ServicesSettings& of_services = settings.services;
  const PortOfSettings services{"services", of_services.enabled, of_services.address, of_services.port,
                                settings.http.tls};
  const bool is_of_services = port.section == std::string_view("http") && services.is_at(place);
  if (is_of_services || is_anothers(port, place, settings)) return options;
  return options + port.moved_to(place);
}

}  // namespace rkllm_mcp
