#include "client/http/http_client.hpp"

#include "client/http/http_error.hpp"
#include "client/sockets/socket.hpp"

#include <httplib.h>

#include <algorithm>

namespace rkllm_mcp::client {

std::unique_ptr<httplib::ClientImpl> make_http_client(const Endpoint& endpoint, const HttpPatience& patience) {
  std::unique_ptr<httplib::ClientImpl> client;
  if (endpoint.protocol == Protocol::kHttps) {
    client = std::make_unique<httplib::SSLClient>(endpoint.host, endpoint.port);
    if (!endpoint.ca_file.empty()) {
      client->set_ca_cert_path(
          endpoint.ca_file.c_str());  // older versions of cpp-httplib: NOLINT(readability-redundant-string-cstr)
    }
    client->enable_server_certificate_verification(true);
  } else {
    client = std::make_unique<httplib::ClientImpl>(endpoint.host, endpoint.port);
  }
  client->set_connection_timeout(std::max(patience.connect, std::chrono::milliseconds(1)));
  client->set_read_timeout(patience.read);
  client->set_socket_options([](int descriptor) { notice_vanished_host(descriptor); });
  client->set_keep_alive(true);
  client->set_tcp_nodelay(true);  // else each request takes 40 ms
  if (!endpoint.token.empty()) client->set_bearer_token_auth(endpoint.token);
  return client;
}

std::string complaint_of(httplib::Error error) {
  if (is_not_connected(error)) return "cannot connect";
  if (is_certificate_refused(error)) return "the server's certificate cannot be verified";
  if (error == httplib::Error::SSLLoadingCerts) return "no certificates to verify the server's with";
  if (error == httplib::Error::SSLConnection) return "no TLS connection came about";
  if (error == httplib::Error::Read) return "the connection ended, or what came is no HTTP";
  return "HTTP failed: " + httplib::to_string(error);
}

}  // namespace rkllm_mcp::client
