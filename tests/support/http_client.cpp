#include "support/http_client.hpp"

#include "client/connection.hpp"

#include <httplib.h>

namespace rkllm_mcp::test {
namespace {

HttpAnswer answer_of(const httplib::Result& result) {
  if (!result) throw client::ConnectionError("HTTP: " + httplib::to_string(result.error()));
  return {result->status, {result->headers.begin(), result->headers.end()}, result->body};
}

// The data of one event, whose lines begin with "data: ".
std::string data_of(std::string_view event) {
  std::string data;
  while (!event.empty()) {
    const auto end = std::min(event.find('\n'), event.size());
    const std::string_view line = event.substr(0, end);
    if (line.starts_with("data: ")) data += line.substr(6);
    event.remove_prefix(std::min(end + 1, event.size()));
  }
  return data;
}

}  // namespace

HttpClient::HttpClient(const client::Endpoint& endpoint)
    : client_(std::make_unique<httplib::Client>(endpoint.host, endpoint.port)) {
  client_->set_keep_alive(true);
  client_->set_tcp_nodelay(true);
  client_->set_read_timeout(20);
}

HttpClient::~HttpClient() = default;

void HttpClient::carry_header(const std::string& name, const std::string& value) {
  client_->set_default_headers({{name, value}});
}

// Older versions of cpp-httplib take no std::string. NOLINTBEGIN(readability-redundant-string-cstr)
HttpAnswer HttpClient::get(const std::string& path) { return answer_of(client_->Get(path.c_str())); }

HttpAnswer HttpClient::post(const std::string& path, const std::string& body) {
  return answer_of(client_->Post(path.c_str(), body, "application/json"));
}

HttpAnswer HttpClient::remove(const std::string& path, const std::string& body) {
  return answer_of(client_->Delete(path.c_str(), body, "application/json"));
}
// NOLINTEND(readability-redundant-string-cstr)

HttpAnswer HttpClient::post_in_parts(const std::string& path, const std::string& body,
                                     const std::function<bool(std::string_view)>& on_more) {
  httplib::Request request;
  request.method = "POST";
  request.path = path;
  request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}};
  request.body = body;
  bool stopped = false;
  std::string received;
  request.content_receiver = [&](const char* bytes, std::size_t count, std::uint64_t, std::uint64_t) {
    received.append(bytes, count);
    stopped = !on_more(received);
    return !stopped;
  };
  httplib::Response response;
  httplib::Error error = httplib::Error::Success;
  const bool complete = client_->send(request, response, error);
  if (stopped) client_->stop();
  if (!stopped && !complete) throw client::ConnectionError("HTTP: " + httplib::to_string(error));
  return {response.status, {response.headers.begin(), response.headers.end()}, std::move(received)};
}

void HttpClient::post_for_events(const std::string& path, const std::string& body,
                                 const std::function<bool(std::string_view)>& on_event) {
  std::size_t seen = 0;
  post_in_parts(path, body, [&](std::string_view received) {
    constexpr std::string_view kEnd = "\n\n";
    for (auto end = received.find(kEnd, seen); end != std::string_view::npos; end = received.find(kEnd, seen)) {
      const std::string_view event = received.substr(seen, end - seen);
      seen = end + kEnd.size();
      if (!on_event(data_of(event))) return false;
    }
    return true;
  });
}

}  // namespace rkllm_mcp::test
