// The web page for people at / of the HTTP port: its files, which are compiled into the program (web/bundle).
//
// They are the same for everybody and hold no secret, so they are given without an access token; whatever the page then
// asks of the server takes one, as it does from any other client. Who may ask at all (Host, Origin) is checked before.
//
// Threads: any; nothing changes after the constructor.
#pragma once

#include "transport/http/http_exchange.hpp"
#include "transport/http/http_message.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

class WebPage {
 public:
  WebPage();

  // Answers GET and HEAD of the page's files. "/" only for a client that asks for text/html, since
  // other clients get something else there. False: the request is not for the page, and is not answered.
  bool handle(const http::Request& request, http::Exchange& exchange) const;

 private:
  struct File {
    std::string_view path;
    std::string_view content_type;
    std::string_view bytes;
    std::string_view gzip;  // `bytes`, compressed
    std::string etag;       // without quotes
  };

  std::vector<File> files_;
};

}  // namespace rkllm_mcp
