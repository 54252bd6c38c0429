#include "transport/websocket/websocket_parser.hpp"

#include "faults.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace rkllm_mcp::websocket {
namespace {

constexpr std::size_t kKeptMessageBytes = 64 * 1024;  // a longer message's buffer is given back

std::uint64_t read_big_endian(const std::uint8_t* bytes, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8 | bytes[i];
  return value;
}

// Appends `bytes` to `out`, unmasked; `offset` is their position in the frame.
void append_unmasked(std::string& out, std::string_view bytes, const std::array<char, 4>& mask, std::uint64_t offset) {
  std::array<char, 8> key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = mask[(offset + i) % 4];
  std::uint64_t wide_key = 0;
  std::memcpy(&wide_key, key.data(), sizeof wide_key);

  const auto start = out.size();
  out.append(bytes);
  char* at = out.data() + start;
  std::size_t left = bytes.size();
  for (; left >= sizeof wide_key; left -= sizeof wide_key, at += sizeof wide_key) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    word ^= wide_key;
    std::memcpy(at, &word, sizeof word);
  }
  for (std::size_t i = 0; i < left; ++i) at[i] = static_cast<char>(at[i] ^ key[i]);
}

bool is_known(std::uint8_t opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

// Codes that may stand in a close frame: the registered ones, and those of libraries (3000) and applications (4000).
bool is_valid_close_code(std::uint64_t code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

}  // namespace

std::optional<Parser::Event> Parser::next(std::string_view& bytes) {
  release();
  if (state_ == State::kDone) {
    bytes = {};
    return std::nullopt;
  }
  if (state_ == State::kHeader) {
    if (!read_header(bytes)) return std::nullopt;
    if (auto event = begin_frame()) return event;
  }
  if (bytes.empty() && payload_bytes_ > payload_read_) return std::nullopt;
  return read_payload(bytes);
}

void Parser::release() {
  if (!std::exchange(is_given_, false)) return;
  message_.clear();
  if (skipping_ || message_.capacity() > kKeptMessageBytes) message_.shrink_to_fit();
  share_.set(0);
}

bool Parser::read_header(std::string_view& bytes) {
  const auto needed = [this]() -> std::size_t {
    if (header_bytes_ < 2) return 2;
    const std::uint8_t length = header_[1] & kLengthBits;
    const std::size_t extended = length == kLengthIn16Bits ? 2 : length == kLengthIn64Bits ? 8 : 0;
    // Without mask there is nothing more to wait for: the frame is refused as it is.
    return 2 + extended + ((header_[1] & kMaskBit) != 0 ? 4 : 0);
  };
  while (header_bytes_ < needed()) {
    if (bytes.empty()) return false;
    header_[header_bytes_++] = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
  }
  return true;
}

std::optional<Parser::Event> Parser::begin_frame() {
  const auto flags = header_[0];
  const std::size_t extended = header_bytes_ - 2 - ((header_[1] & kMaskBit) != 0 ? 4 : 0);
  const std::uint8_t opcode = flags & kOpcodeBits;
  header_bytes_ = 0;
  if ((header_[1] & kMaskBit) == 0) return violation(Close::kProtocolError, "frames must be masked");
  if ((flags & kReservedBits) != 0) return violation(Close::kProtocolError, "reserved bits");
  if (!is_known(opcode)) return violation(Close::kProtocolError, "unknown opcode");
  opcode_ = static_cast<Opcode>(opcode);
  final_ = (flags & kFinalBit) != 0;
  payload_bytes_ = extended == 0 ? header_[1] & kLengthBits : read_big_endian(&header_[2], extended);
  payload_read_ = 0;
  std::memcpy(mask_.data(), &header_[2 + extended], mask_.size());
  state_ = State::kPayload;

  if (payload_bytes_ >> 63 != 0) return violation(Close::kProtocolError, "bad frame length");
  if (is_control()) {
    control_.clear();
    if (final_ && payload_bytes_ <= kLargestControlPayload) return std::nullopt;
    return violation(Close::kProtocolError, "control frames are short and whole");
  }
  if (opcode_ == Opcode::kBinary) return violation(Close::kUnsupported, "text frames only");
  if (in_message_ != (opcode_ == Opcode::kContinuation)) {
    return violation(Close::kProtocolError, "fragments out of order");
  }
  if (!std::exchange(in_message_, true)) ++messages_;
  const auto total = message_.size() + payload_bytes_;
  if (skipping_ || total <= limit_) return std::nullopt;
  skipping_ = is_given_ = true;
  return Oversized{static_cast<std::size_t>(total), limit_};
}

std::optional<Parser::Event> Parser::read_payload(std::string_view& bytes) {
  const auto part =
      bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(payload_bytes_ - payload_read_, bytes.size())));
  bytes.remove_prefix(part.size());
  const auto offset = has_fault("each piece of a frame is unmasked from the mask's beginning") ? 0 : payload_read_;
  payload_read_ += part.size();
  const bool complete = payload_read_ == payload_bytes_;
  if (complete) state_ = State::kHeader;

  if (is_control()) {
    append_unmasked(control_, part, mask_, offset);
    return complete ? control_frame() : std::nullopt;
  }
  std::optional<Event> event;
  if (!skipping_) {
    const auto start = message_.size();
    if (!append(part, offset)) {
      skipping_ = is_given_ = true;
      event = NoRoom{message_};
    } else if (!utf8_.feed(std::string_view(message_).substr(start)) || (complete && final_ && !utf8_.complete())) {
      return violation(Close::kInvalidText, "not UTF-8");
    }
  }
  if (!complete || !final_) return event;
  in_message_ = false;
  utf8_.reset();
  if (!std::exchange(skipping_, false)) {
    share_.set(0);  // whoever receives it takes a share of its own
    is_given_ = true;
    event = std::string_view(message_);
  }
  return event;
}

bool Parser::append(std::string_view bytes, std::uint64_t offset) {
  try {
    if (!share_.has_room_for(bytes.size())) return false;
    append_unmasked(message_, bytes, mask_, offset);
    share_.set(message_.capacity());
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::optional<Parser::Event> Parser::control_frame() {
  if (opcode_ == Opcode::kPing) return Ping{control_};
  if (opcode_ == Opcode::kClose) return close_frame();
  return std::nullopt;  // a pong only shows that the client lives, which its bytes have shown already
}

Parser::Event Parser::close_frame() {
  if (control_.size() == 1) return violation(Close::kProtocolError, "half a close code");
  if (control_.size() >= 2) {
    const auto code = static_cast<std::uint64_t>(static_cast<std::uint8_t>(control_[0])) << 8 |
                      static_cast<std::uint8_t>(control_[1]);
    if (!is_valid_close_code(code)) return violation(Close::kProtocolError, "not a close code");
    if (!is_valid_utf8(std::string_view(control_).substr(2))) {
      return violation(Close::kInvalidText, "the close reason is not UTF-8");
    }
  }
  state_ = State::kDone;
  return Closing{control_};
}

Parser::Event Parser::violation(Close code, std::string_view explanation) {
  state_ = State::kDone;
  return Violation{code, explanation};
}

}  // namespace rkllm_mcp::websocket
