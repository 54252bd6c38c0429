// One HTTP request after the other on a connection of its own, each read as it comes, and cut short from another
// thread if need be.
#pragma once

#include "client/endpoint.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace httplib {
class ClientImpl;
enum class Error;
}  // namespace httplib

namespace rkllm_mcp::client {

// The longest time for making a connection, and the longest for each wait for bytes.
struct HttpPatience {
  std::chrono::milliseconds connect;
  std::chrono::milliseconds read;
};

// cpp-httplib's client for an endpoint, plain or over TLS, set up the way every connection of ours needs it. The
// server's certificate is verified, against the endpoint's CA file or else the system's. Nothing is connected yet.
std::unique_ptr<httplib::ClientImpl> make_http_client(const Endpoint& endpoint, const HttpPatience& patience);

// What has gone wrong, in words for a person.
std::string complaint_of(httplib::Error error);

struct HttpRequest {
  std::string method;
  std::string path;
  std::multimap<std::string, std::string> headers;
  std::string body{};  // JSON
};

struct HttpHead {
  int status;
  std::string media_type;  // without parameters, in lower case
  std::string session;     // Mcp-Session-Id; empty: none
};

class HttpRoundTrip {
 public:
  enum class End {
    kComplete,
    kStopped,       // by stop() or by a callback
    kNoConnection,  // nothing was sent, or the server speaks another protocol
    kBroken,        // the response did not come, or not all of it
  };

  HttpRoundTrip(const Endpoint& endpoint, const HttpPatience& patience);
  ~HttpRoundTrip();

  // Blocks until the response has been read. The callbacks run on this thread, and say whether to go on.
  End run(const HttpRequest& request, const std::function<bool(const HttpHead&)>& on_head,
          const std::function<bool(std::string_view)>& on_bytes);
  // From any thread: ends the run() of now, and every one to come. A run() that is just about to begin may miss it, so
  // repeat it until run() has returned. Waits while a connection is being made.
  void stop();
  // Why there was no connection, or why it broke.
  const std::string& complaint() const { return complaint_; }
  // The endpoint with the protocol that the server speaks, if a wrong protocol is why there was no connection.
  const std::optional<Endpoint>& spoken() const { return spoken_; }
  // Throws UnknownHost or Unreachable, with `where` before the complaint, if nobody accepts connections there, and what
  // refuse_certificate() throws if the server's certificate is refused.
  void require_reachable(const std::string& where) const;

 private:
  const Endpoint endpoint_;
  std::unique_ptr<httplib::ClientImpl> client_;
  std::atomic<bool> stopped_ = false;
  std::string complaint_;
  std::optional<Endpoint> spoken_;
  enum class Cause { kOther, kUnreachable, kUnknownHost, kCertificate };
  Cause cause_ = Cause::kOther;
  std::optional<long> verdict_;  // of OpenSSL on the certificate that is refused, if this cpp-httplib tells it
};

}  // namespace rkllm_mcp::client
