// HTTP by somebody else's code (cpp-httplib), to check ours with. Throws client::ConnectionError if there is no answer.
#pragma once

#include "client/endpoint.hpp"

#include <rkllm_mcp/json.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace httplib {
class Client;
}

namespace rkllm_mcp::test {

struct HttpAnswer {
  int status;
  std::map<std::string, std::string> headers;
  std::string body;

  Json json() const { return Json::parse(body); }
};

class HttpClient {
 public:
  explicit HttpClient(const client::Endpoint& endpoint);
  ~HttpClient();

  // From now on every request carries this header, and no other but the usual ones.
  void carry_header(const std::string& name, const std::string& value);
  HttpAnswer get(const std::string& path);
  HttpAnswer post(const std::string& path, const std::string& body);
  HttpAnswer remove(const std::string& path, const std::string& body);  // DELETE
  // Posts; `on_more` sees what has come of the body each time that it has become more, and says whether to go on. After
  // it said no the connection is closed. Throws if the body does not end as HTTP has it.
  HttpAnswer post_in_parts(const std::string& path, const std::string& body,
                           const std::function<bool(std::string_view so_far)>& on_more);
  // Posts and gets Server-Sent Events; `on_event` sees the data of each and says whether to go on. Returns when the
  // events end, or after `on_event` said no, with the connection closed.
  void post_for_events(const std::string& path, const std::string& body,
                       const std::function<bool(std::string_view)>& on_event);

 private:
  std::unique_ptr<httplib::Client> client_;
};

}  // namespace rkllm_mcp::test
