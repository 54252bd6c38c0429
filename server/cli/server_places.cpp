#include "cli/server_places.hpp"

namespace rkllm_mcp {

std::vector<client::Endpoint> server_places(const Settings& settings, const std::string& http_path) {
  std::vector<client::Endpoint> places;
  if (settings.tcp.enabled && settings.tcp.port != 0) {
    places.push_back({settings.tcp.tls ? client::Protocol::kTcps : client::Protocol::kTcp, settings.tcp.address,
                      settings.tcp.port, ""});
  }
  if (settings.services.port != 0) {
    places.push_back({settings.http.tls ? client::Protocol::kHttps : client::Protocol::kHttp, settings.services.address,
                      settings.services.port, http_path});
  }
  return places;
}

}  // namespace rkllm_mcp
