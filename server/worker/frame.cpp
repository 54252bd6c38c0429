#include "worker/frame.hpp"

#include <cstring>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::uint16_t kNoText = 0xFFFF;

struct TokenHead {
  std::uint16_t batch;
  std::uint16_t bytes;
  std::int32_t id;
};
static_assert(sizeof(TokenHead) == 8);

template <class Value>
Value take_value(std::string_view& content) {
  Value value{};
  if (content.size() < sizeof value) throw BadFrame("a frame is shorter than what it holds");
  std::memcpy(&value, content.data(), sizeof value);
  content.remove_prefix(sizeof value);
  return value;
}

std::string_view take_bytes(std::string_view& content, std::size_t bytes) {
  if (content.size() < bytes) throw BadFrame("a frame is shorter than what it holds");
  const std::string_view taken = content.substr(0, bytes);
  content.remove_prefix(bytes);
  return taken;
}

template <class Value>
void append_value(std::string& content, const Value& value) {
  content.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::span<char> FrameReader::room() {
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
  return std::span(buffer_.get(), kCapacity).subspan(end_);
}

std::optional<Frame> FrameReader::next() {
  std::string_view bytes(buffer_.get() + begin_, end_ - begin_);
  if (bytes.size() < sizeof(FrameHead)) return std::nullopt;
  const auto head = take_value<FrameHead>(bytes);
  if (head.bytes > kMaxFrameBytes) throw BadFrame("a frame is longer than any may be");
  if (head.type < FrameType::kCall || head.type > FrameType::kEnd) throw BadFrame("a frame is of no known type");
  if (bytes.size() < head.bytes) return std::nullopt;
  begin_ += sizeof head + head.bytes;
  return Frame{head, bytes.substr(0, head.bytes)};
}

bool FramedText::add(const Frame& frame) {
  if (frame.content.size() > most_ - text_.size()) throw BadFrame("a text is longer than any may be");
  text_ += frame.content;
  return (frame.head.flags & kMoreFollows) == 0;
}

void append_token(std::string& content, const TokenRecord& token) {
  append_value(content, TokenHead{static_cast<std::uint16_t>(token.batch),
                                  token.text ? static_cast<std::uint16_t>(token.text->size()) : kNoText, token.id});
  if (token.text) content += *token.text;
}

TokenRecord take_token(std::string_view& content) {
  const auto head = take_value<TokenHead>(content);
  TokenRecord token{head.batch, std::nullopt, head.id};
  if (head.bytes != kNoText) token.text = take_bytes(content, head.bytes);
  return token;
}

void append_rows_head(std::string& content, const FloatRows& rows) {
  append_value(content, static_cast<std::uint32_t>(rows.rows));
  append_value(content, static_cast<std::uint32_t>(rows.columns));
  for (const std::string_view name : {rows.field, rows.values_name, rows.rows_name, rows.columns_name}) {
    append_value(content, static_cast<std::uint8_t>(name.size()));
    content += name;
  }
}

void RowsReader::read_head(std::string_view& content) {
  if (rows_left_ != 0) throw BadFrame("rows begin before others have ended");
  rows_left_ = take_value<std::uint32_t>(content);
  columns_ = take_value<std::uint32_t>(content);
  if (columns_ > most_columns_) throw BadFrame("a row is longer than any may be");
  if (columns_ == 0) rows_left_ = 0;  // nothing follows
  for (std::string& name : names_) name = take_bytes(content, take_value<std::uint8_t>(content));
}

void RowsReader::read_floats(std::string_view content) {
  if (content.size() % sizeof(float) != 0) throw BadFrame("a frame ends within a number");
  const std::size_t count = content.size() / sizeof(float);
  const auto missing = std::uint64_t{rows_left_} * columns_ - floats_.size();
  if (count > missing) throw BadFrame("there are more numbers than were announced");
  const std::size_t before = floats_.size();
  floats_.resize(before + count);
  if (count > 0) std::memcpy(floats_.data() + before, content.data(), content.size());
}

void RowsReader::drop(std::size_t rows) {
  floats_.erase(floats_.begin(), floats_.begin() + static_cast<std::ptrdiff_t>(rows * columns_));
  rows_left_ -= rows;
}

}  // namespace rkllm_mcp
