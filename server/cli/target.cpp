#include "cli/target.hpp"

namespace rkllm_mcp {
namespace {

using client::Protocol;

Protocol protocol_on(std::string_view port, const Settings& settings, Protocol usual) {
  if (port == std::to_string(settings.http.port)) return settings.http.tls ? Protocol::kHttps : Protocol::kHttp;
  if (port == std::to_string(settings.tcp.port)) return settings.tcp.tls ? Protocol::kTcps : Protocol::kTcp;
  if (port == std::to_string(settings.ws.port)) return settings.ws.tls ? Protocol::kWebSockets : Protocol::kWebSocket;
  return usual;
}

template <class Kind>
bool is_a(const client::ConnectionError& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

}  // namespace

client::Endpoint target_of(std::string_view to, const Settings& settings, Protocol usual, std::string_view http_path) {
  if (to.find("://") != std::string_view::npos) return client::parse_endpoint(to, http_path);
  if (to.starts_with('/')) return client::parse_endpoint("unix://" + std::string(to), http_path);
  const auto colon = to.rfind(':');
  const auto port = colon == std::string_view::npos ? std::string_view() : to.substr(colon + 1);
  const Protocol protocol = protocol_on(port.substr(0, port.find('/')), settings, usual);
  return client::parse_endpoint(std::string(client::prefix_of(protocol)) + std::string(to), http_path);
}

std::string words_of(const client::ConnectionError& error) {
  std::string words = error.what();
  if (is_a<client::UnknownHost>(error)) return words;
  if (is_a<client::Unreachable>(error)) words += "; is the server running? Start it: rkllm-mcp serve";
  if (is_a<client::UntrustedServer>(error))
    words += "; if it is yours, name its certificate, or that of who has signed it: --cacert FILE";
  return words;
}

std::string trusted_file(const std::string& named, const Settings& settings) {
  return named.empty() ? settings.tls.certificate : named;
}

}  // namespace rkllm_mcp
