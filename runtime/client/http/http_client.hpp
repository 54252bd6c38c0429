// cpp-httplib's client for an endpoint, plain or over TLS, set up the way every connection of ours needs it.
#pragma once

#include "client/endpoint.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace httplib {
class ClientImpl;
enum class Error;
}  // namespace httplib

namespace rkllm_mcp::client {

// What a connection and each wait for bytes may take.
struct HttpPatience {
  std::chrono::milliseconds connect;
  std::chrono::milliseconds read;
};

// The server's certificate is verified, against the endpoint's CA file or else the system's. Nothing is connected yet.
std::unique_ptr<httplib::ClientImpl> make_http_client(const Endpoint& endpoint, const HttpPatience& patience);

// For a person.
std::string complaint_of(httplib::Error error);

}  // namespace rkllm_mcp::client
