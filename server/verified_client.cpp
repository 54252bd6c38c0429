#include "verified_client.hpp"

namespace rkllm_mcp {

std::unique_ptr<httplib::ClientImpl> new_verified_client(const Url& url, const std::string& ca_file) {
  std::unique_ptr<httplib::ClientImpl> client;
  if (url.scheme == Url::Scheme::kHttps) {
    client = std::make_unique<httplib::SSLClient>(url.host, url.port);
    if (!ca_file.empty()) {
      client->set_ca_cert_path(
          ca_file.c_str());  // older versions of cpp-httplib: NOLINT(readability-redundant-string-cstr)
    }
    client->enable_server_certificate_verification(true);
  } else {
    client = std::make_unique<httplib::ClientImpl>(url.host, url.port);
  }
  client->set_follow_location(false);
  client->set_keep_alive(false);
  return client;
}

}  // namespace rkllm_mcp
