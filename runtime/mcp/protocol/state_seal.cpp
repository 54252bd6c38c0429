#include "mcp/protocol/state_seal.hpp"

#include "jsonrpc/envelope.hpp"
#include "random_bytes.hpp"

#include <rkllm_mcp/base64.hpp>
#include <rkllm_mcp/errors.hpp>

#include <openssl/crypto.h>
#include <openssl/hmac.h>

#include <cstdint>
#include <span>
#include <stdexcept>

namespace rkllm_mcp::mcp {
namespace {

InvalidParams refused() { return {"params.requestState", "not a state that this server gave out for this request"}; }

}  // namespace

StateSeal::StateSeal(std::chrono::seconds good_for) : good_for_(good_for), key_(random_bytes<32>()) {}

std::string StateSeal::signature_of(std::string_view text, std::string_view subject) const {
  const std::string all = std::string(text) + "." + std::string(subject);
  std::array<unsigned char, 32> digest{};
  unsigned size = 0;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(all.data());
  if (HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()), bytes, all.size(), digest.data(), &size) ==
          nullptr ||
      size != digest.size()) {
    throw std::runtime_error("OpenSSL computes no HMAC");  // a seal of zeros could be forged
  }
  return encode_base64(std::as_bytes(std::span(digest)));
}

std::string StateSeal::seal(const Json& state, std::string_view subject) const {
  const auto until = std::chrono::duration_cast<std::chrono::seconds>((Clock::now() + good_for_).time_since_epoch());
  const std::string text = encode_base64(to_text(Json{{"state", state}, {"until", until.count()}}));
  return text + "." + signature_of(text, subject);
}

Json StateSeal::open(std::string_view sealed, std::string_view subject) const {
  const auto dot = sealed.find('.');
  if (dot == std::string_view::npos) throw refused();
  const std::string_view text = sealed.substr(0, dot);
  const std::string_view given = sealed.substr(dot + 1);
  const std::string right = signature_of(text, subject);
  if (given.size() != right.size() || CRYPTO_memcmp(given.data(), right.data(), right.size()) != 0) throw refused();
  const auto bytes = decode_base64(text);
  if (!bytes) throw refused();
  const Json content = Json::parse(reinterpret_cast<const char*>(bytes->data()),
                                   reinterpret_cast<const char*>(bytes->data()) + bytes->size());
  if (Clock::now().time_since_epoch() > std::chrono::seconds(content["until"].get<std::int64_t>())) throw refused();
  return content["state"];
}

std::string subject_of(const InvocationRequest& request) {
  const Principal* const principal = request.session->principal;
  const auto who = reinterpret_cast<std::uintptr_t>(principal);  // names may occur twice
  return to_text(Json::array({who, request.method, request.name, request.arguments}));
}

}  // namespace rkllm_mcp::mcp
