// What the server and its worker processes say to each other: frames, each a head of 12 bytes and what it is about.
//
//   to the worker   CALL    the encoding of arrays, the method's name, its parameters as JSON; in several frames if
//                           long
//                   STOP    the run of that number, if it is still going on or is yet to come
//   to the server   TOKENS  records {u16 entry of the batch, u16 bytes of text (0xFFFF: none), i32 token id, the text}
//                   ROWS    the first: u32 rows, u32 columns, four names; then floats, as many frames as it takes
//                   END     how the call ended, and what is new of the model, as JSON; in several frames if long
//
// A call's frames carry its number, which grows. Both ends are the same program on the same machine, so numbers are
// written as the machine has them. Nothing that comes from the other side is believed: what is not understood throws
// BadFrame, and ends the worker.
//
// Threads: each object one at a time.
#pragma once

#include <rkllm_mcp/result_sink.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {

class BadFrame : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class FrameType : std::uint16_t { kCall = 1, kStop, kTokens, kRows, kEnd };

struct FrameHead {
  std::uint32_t bytes = 0;  // that follow the head
  FrameType type{};
  std::uint16_t flags = 0;
  std::uint32_t call = 0;
};
static_assert(sizeof(FrameHead) == 12);

// Flags.
inline constexpr std::uint16_t kMoreFollows = 1;  // of CALL and END: the next frame goes on with it
inline constexpr std::uint16_t kBegins = 2;       // of ROWS: these are new rows
inline constexpr std::uint16_t kHasUnread = 4;    // of CALL: parts of the parameters have not been checked whole

inline constexpr std::size_t kMaxFrameBytes = 64 * 1024;  // without the head

struct Frame {
  FrameHead head;
  std::string_view content;  // valid until the reader gets its next bytes
};

// Bytes -> frames.
class FrameReader {
 public:
  // room(): where to put the next bytes; filled(): how many have been put there.
  std::span<char> room();
  void filled(std::size_t bytes) { end_ += bytes; }
  // The next frame that is complete; nothing if there is none yet. Throws BadFrame.
  std::optional<Frame> next();

 private:
  static constexpr std::size_t kCapacity = 2 * (sizeof(FrameHead) + kMaxFrameBytes);

  std::unique_ptr<char[]> buffer_{new char[kCapacity]};  // not set to zero: most connections use little of it
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// Joins content that comes in several frames.
class FramedText {
 public:
  explicit FramedText(std::size_t most) : most_(most) {}
  // True when it is whole. Throws BadFrame if it becomes longer than `most`.
  bool add(const Frame& frame);
  std::string take() { return std::exchange(text_, {}); }

 private:
  const std::size_t most_;
  std::string text_;
};

// --- tokens ---------------------------------------------------------------------------------------------------------

// In records that have only the beginning of a token's text, which one record cannot hold: the id comes with the last.
inline constexpr std::int32_t kNoTokenId = -1;
inline constexpr std::size_t kMostTextInRecord = 32 * 1024;

struct TokenRecord {
  std::size_t batch = 0;
  std::optional<std::string_view> text;
  std::int32_t id = kNoTokenId;
};

// Adds a record. Its text is no longer than one can hold.
void append_token(std::string& content, const TokenRecord& token);
// Takes the first record off. Throws BadFrame.
TokenRecord take_token(std::string_view& content);

// --- rows of floats -------------------------------------------------------------------------------------------------

// What the first frame says of the rows.
void append_rows_head(std::string& content, const FloatRows& rows);

// ROWS -> rows, given on as soon as they are whole: never more is kept than one row and one frame.
class RowsReader {
 public:
  explicit RowsReader(std::size_t most_columns) : most_columns_(most_columns) {}

  // Calls give(const FloatRows&) with the rows that are whole now. Throws BadFrame.
  template <class Give>
  void add(const Frame& frame, const Give& give) {
    std::string_view content = frame.content;
    const bool is_new = (frame.head.flags & kBegins) != 0;
    if (is_new) read_head(content);
    read_floats(content);
    const std::size_t whole = columns_ == 0 ? 0 : floats_.size() / columns_;
    const bool are_none = is_new && rows_left_ == 0;
    if (are_none && ++empty_ > kMostEmpty) throw BadFrame("rows without a row, again and again");
    if (whole == 0 && !are_none) return;
    give(FloatRows{names_[0], names_[1], names_[2], names_[3], floats_.data(), whole, columns_});
    drop(whole);
  }

  bool are_whole() const { return rows_left_ == 0; }

 private:
  static constexpr int kMostEmpty = 64;  // of a run

  void read_head(std::string_view& content);
  void read_floats(std::string_view content);
  void drop(std::size_t rows);

  const std::size_t most_columns_;
  std::array<std::string, 4> names_;  // field, values, rows, columns
  std::size_t rows_left_ = 0;
  std::size_t columns_ = 0;
  int empty_ = 0;
  std::vector<float> floats_;
};

}  // namespace rkllm_mcp
