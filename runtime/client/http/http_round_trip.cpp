#include "client/http/http_round_trip.hpp"

#include "client/http/http_error.hpp"
#include "client/sockets/socket.hpp"
#include "client/sockets/spoken_protocol.hpp"
#include "client/sockets/tls_session.hpp"
#include "clock.hpp"
#include "mcp/protocol/agreed_names.hpp"

#include <rkllm_mcp/lower_case.hpp>

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>

namespace rkllm_mcp::client {
namespace {

std::string media_type_of(const httplib::Response& response) {
  std::string type = response.get_header_value("Content-Type");
  type = type.substr(0, type.find(';'));
  type.erase(type.find_last_not_of(" \t") + 1);
  return in_lower_case(type);
}

// Whether this is the answer of a port that serves WebSocket only.
bool asks_for_websocket(const httplib::Response& response) {
  constexpr int kUpgradeRequired = 426;
  return response.status == kUpgradeRequired && response.get_header_value("Upgrade") == "websocket";
}

bool is_without_connection(httplib::Error error) {
  return is_not_connected(error) || is_certificate_refused(error) || error == httplib::Error::SSLConnection ||
         error == httplib::Error::SSLLoadingCerts;
}

// Newer versions of cpp-httplib deprecate the getter that is used here, for one that older versions do not have.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// Why the certificate of the server of `client` was refused with `error`, which was asked for as `host`. cpp-httplib
// looks at the name by itself, when OpenSSL has found nothing else wrong: older versions tell it by that only, newer
// ones by an error of its own. Nothing where its version does not tell.
template <class Encrypted = httplib::SSLClient, class Error>
std::optional<long> verdict_of(const httplib::ClientImpl& client, Error error, const std::string& host) {
  if (is_name_refused(error)) return verdict_on_name(host);
  [[maybe_unused]] const auto* const encrypted = dynamic_cast<const Encrypted*>(&client);
  if constexpr (requires { encrypted->get_openssl_verify_result(); }) {
    if (encrypted == nullptr) return std::nullopt;
    const long verdict = encrypted->get_openssl_verify_result();
    if (verdict != 0) return verdict;
    if constexpr (!requires { Error::SSLServerHostnameVerification; }) return verdict_on_name(host);
  }
  return std::nullopt;
}

#pragma GCC diagnostic pop

}  // namespace

HttpRoundTrip::HttpRoundTrip(const Endpoint& endpoint, const HttpPatience& patience)
    : endpoint_(endpoint), client_(make_http_client(endpoint, patience)) {}

HttpRoundTrip::~HttpRoundTrip() = default;

HttpRoundTrip::End HttpRoundTrip::run(const HttpRequest& asked, const std::function<bool(const HttpHead&)>& on_head,
                                      const std::function<bool(std::string_view)>& on_bytes) {
  httplib::Request request;
  request.method = asked.method;
  request.path = asked.path;
  request.headers = {asked.headers.begin(), asked.headers.end()};
  request.set_header("Accept-Encoding", "identity");  // compressed events would wait for their block to fill
  request.body = asked.body;
  if (!request.body.empty()) request.set_header("Content-Type", "application/json");
  bool refused = false;  // by a callback
  // What a callback has thrown. It must not pass through cpp-httplib, for which the request would never have ended.
  std::exception_ptr fault;
  const auto goes_on = [&](const auto& callback) {
    bool answer = false;
    try {
      answer = !stopped_ && callback();
    } catch (...) {
      fault = std::current_exception();
    }
    refused = refused || !answer;
    return answer;
  };
  const auto take_head = [&](const httplib::Response& response) {
    return goes_on([&] {
      return on_head({response.status, media_type_of(response), response.get_header_value(mcp::kSessionHeader)});
    });
  };
  bool is_http = false;
  request.response_handler = [&](const httplib::Response& response) {
    is_http = true;
    if (asks_for_websocket(response)) {
      spoken_ = endpoint_;
      spoken_->protocol = endpoint_.speaks_tls() ? Protocol::kWebSockets : Protocol::kWebSocket;
      spoken_->path = "/";
      return false;
    }
    return take_head(response);
  };
  request.content_receiver = [&](const char* bytes, std::size_t count, std::uint64_t, std::uint64_t) {
    return goes_on([&] { return on_bytes({bytes, count}); });
  };
  httplib::Response response;
  httplib::Error error = httplib::Error::Success;
  if (stopped_) return End::kStopped;
  spoken_.reset();
  const auto began = Clock::now();
  const bool complete = client_->send(request, response, error);
  if (complete && !is_http) take_head(response);  // cpp-httplib hands over no head with the status 204
  if (fault) std::rethrow_exception(fault);
  if (stopped_ || refused) return End::kStopped;
  if (spoken_) {
    complaint_ = "no HTTP" + hint_at_protocol(endpoint_, *spoken_);
    return End::kNoConnection;
  }
  if (complete) return End::kComplete;
  complaint_ = complaint_of(error);
  cause_ = is_certificate_refused(error) ? Cause::kCertificate : Cause::kOther;
  verdict_ = cause_ == Cause::kCertificate ? verdict_of(*client_, error, endpoint_.host) : std::nullopt;
  if (verdict_) complaint_ = words_of_certificate(*verdict_);
  if (is_not_connected(error)) {
    const std::string why = why_no_address(endpoint_);
    cause_ = why.empty() ? Cause::kUnreachable : Cause::kUnknownHost;
    if (!why.empty()) complaint_ = why;
  }
  if (is_without_connection(error) && error != httplib::Error::SSLConnection) return End::kNoConnection;
  // A server that speaks another protocol fails at once. One that took its time is only slow, and is not examined.
  const bool is_soon = Clock::now() - began < std::chrono::seconds(1);
  spoken_ = is_http || !is_soon ? std::nullopt : spoken_instead(endpoint_);
  if (spoken_) complaint_ += hint_at_protocol(endpoint_, *spoken_);
  return error == httplib::Error::SSLConnection || spoken_ ? End::kNoConnection : End::kBroken;
}

void HttpRoundTrip::require_reachable(const std::string& where) const {
  const std::string words = where + ": " + complaint_;
  switch (cause_) {
    case Cause::kUnknownHost: throw UnknownHost(words);
    case Cause::kUnreachable: throw Unreachable(words);
    case Cause::kCertificate:
      if (verdict_) refuse_certificate(where, *verdict_);
      throw UntrustedServer(words);
    case Cause::kOther: return;
  }
}

void HttpRoundTrip::stop() {
  stopped_ = true;
  client_->stop();
}

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
