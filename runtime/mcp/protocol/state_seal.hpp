// State that a client keeps for the server between two rounds of one request: readable by anybody, but changed by
// nobody, of use for that request and that client only, and not for long.
//
// The text is base64(state).base64(HMAC-SHA256). The key is drawn anew by each process.
#pragma once

#include "clock.hpp"
#include "mcp/tools/invocation.hpp"

#include <rkllm_mcp/json.hpp>

#include <array>
#include <chrono>
#include <string>
#include <string_view>

namespace rkllm_mcp::mcp {

class StateSeal {
 public:
  explicit StateSeal(std::chrono::seconds good_for = std::chrono::minutes(30));

  std::string seal(const Json& state, std::string_view subject) const;
  // Throws InvalidParams("params.requestState") for what this seal has not made for that subject, or too long ago.
  Json open(std::string_view sealed, std::string_view subject) const;

 private:
  std::string signature_of(std::string_view text, std::string_view subject) const;

  const std::chrono::seconds good_for_;
  std::array<unsigned char, 32> key_;
};

// What makes one request the same as another: who asks, for what, with which arguments.
std::string subject_of(const InvocationRequest& request);

}  // namespace rkllm_mcp::mcp
