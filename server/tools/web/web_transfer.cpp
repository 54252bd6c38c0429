#include "tools/web/web_transfer.hpp"

#include "client/http/http_error.hpp"
#include "tools/tool_failure.hpp"
#include "verified_client.hpp"

#include <httplib.h>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace rkllm_mcp {
namespace {

// What this build of cpp-httplib unpacks.
constexpr const char* kEncodings =
#if defined(CPPHTTPLIB_BROTLI_SUPPORT)
    "gzip, deflate, br";
#elif defined(CPPHTTPLIB_ZLIB_SUPPORT)
    "gzip, deflate";
#else
    "identity";
#endif

// Whether cpp-httplib unpacks a body of this encoding. Bodies of other encodings stay packed.
bool is_unpacked(const std::string& encoding) {
  if (encoding.empty() || encoding == "identity") return true;
#if defined(CPPHTTPLIB_ZLIB_SUPPORT)
  if (encoding == "gzip" || encoding == "deflate") return true;
#endif
#if defined(CPPHTTPLIB_BROTLI_SUPPORT)
  if (encoding == "br") return true;
#endif
  return false;
}

std::unique_ptr<httplib::ClientImpl> client_for(const Url& url, const IpAddress& address,
                                                const TransferOptions& options, StopSignal& stop) {
  auto client = new_verified_client(url, options.ca_file);
  client->set_hostname_addr_map({{url.host, address.text()}});
  client->set_connection_timeout(options.patience);
  client->set_read_timeout(options.patience);
  client->set_write_timeout(options.patience);
  client->set_tcp_nodelay(true);
  client->set_url_encode(false);  // it is encoded, and that would encode a plus sign once more
  client->set_socket_options([&stop](auto socket) { stop.watch(static_cast<int>(socket)); });
  return client;
}

std::string words_of(httplib::Error error) {
  if (client::is_certificate_refused(error)) return "its certificate cannot be verified";
  switch (error) {
    case httplib::Error::SSLLoadingCerts: return "there are no certificates to verify its own with";
    case httplib::Error::SSLConnection: return "no encrypted connection could be made";
    case httplib::Error::Read: return "it does not answer, has broken off, or sends headers without end";
    default: return "HTTP failed: " + httplib::to_string(error);
  }
}

}  // namespace

TransferResult transfer(const Url& url, const IpAddress& address, const TransferOptions& options, StopSignal& stop) {
  const auto client = client_for(url, address, options, stop);
  TransferResult result;
  std::string encoding;
  httplib::Request request;
  request.method = "GET";
  request.path = url.target;
  request.headers = {{"Host", url.authority()},
                     {"User-Agent", options.user_agent},
                     {"Accept", options.accept},
                     {"Accept-Encoding", kEncodings}};
  request.response_handler = [&](const httplib::Response& response) {
    result.status = response.status;
    result.content_type = response.get_header_value("Content-Type");
    result.location = response.get_header_value("Location");
    encoding = response.get_header_value("Content-Encoding");
    return !stop.is_stopped() && is_unpacked(encoding);
  };
  request.content_receiver = [&](const char* bytes, std::size_t count, std::uint64_t, std::uint64_t) {
    const std::size_t room = options.max_bytes - result.body.size();
    result.body.append(bytes, std::min(count, room));
    result.is_cut = count > room;
    return !result.is_cut && !stop.is_stopped();
  };
  httplib::Response response;
  auto error = httplib::Error::Success;
  const bool is_complete = client->send(request, response, error);
  if (stop.is_stopped()) throw ToolFailure("stopped");
  if (is_complete) result.status = response.status;  // the handler above sets it only if there is a body
  if (is_complete || result.is_cut) return result;
  if (result.status != 0 && !is_unpacked(encoding)) {
    throw ToolFailure(url.host + " answers in an encoding that was not asked for");
  }
  if (result.status == 0 && client::is_not_connected(error)) throw NoConnection("no connection could be made");
  throw ToolFailure(url.host + ": " + words_of(error));
}

}  // namespace rkllm_mcp
