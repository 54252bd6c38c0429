// An HTTP exchange whose answer is kept to be looked at.
#pragma once

#include "transport/http/http_exchange.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace rkllm_mcp::test {

class KeptAnswer final : public http::Exchange {
 public:
  bool ready() const override { return true; }
  bool closed() const override { return is_closed_; }
  bool has_room_for(std::size_t bytes) const override { return bytes <= room; }
  void respond(http::Response response) override { answer = std::move(response); }
  void start_stream(int /*status*/, const http::Headers& /*headers*/) override {}
  void write(std::string_view /*bytes*/) override {}
  void finish() override {}

  // Its client goes.
  void close() {
    is_closed_ = true;
    became_closed();
  }

  std::size_t room = static_cast<std::size_t>(-1);  // bytes
  std::optional<http::Response> answer;

 private:
  bool is_closed_ = false;
};

}  // namespace rkllm_mcp::test
