// What transport/bytes/byte_stream.hpp promises, held against a kind of stream: `One` is an OfOneStream with the other
// end of its stream, `far`, which sends and receives, and with finish(), after which that sends no more, and vanish(),
// after which it reads no more either.
#pragma once

#include "support/catch.hpp"
#include "transport/bytes/byte_stream.hpp"

#include <asio/buffer.hpp>
#include <asio/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

namespace rkllm_mcp::test {

// One stream, which is read from its first moment on, in pieces of all sizes.
template <class Loop>
class OfOneStream {
 public:
  // What has come of it.
  struct Heard {
    std::string bytes;
    std::size_t read_ends = 0;  // how often a read ended with an error
    std::error_code read_error;
    std::size_t write_ends = 0;
    std::error_code write_error;
    std::size_t written = 0;  // bytes of the last write()
    std::size_t hangups = 0;
  };

  OfOneStream() {
    loop.before_end([this] { stream->close(); });
    loop.before_end([this] { stream.reset(); });  // when its handlers have been called
  }

  void begin(std::unique_ptr<ByteStream> opened) {
    stream = std::move(opened);
    guarded([&] { stream->async_wait_hangup([this] { check_place(), ++heard.hangups; }); });
    read();
  }
  void write(std::string bytes) {
    output_ = std::move(bytes);
    heard.written = offered_ = 0;
    write_rest();
  }
  // All of the last write(), before which the next must not begin: the other end may have it earlier.
  bool has_written() const { return heard.written == output_.size(); }
  // Runs an operation of the stream, from inside of which no handler may be called.
  template <class Operation>
  std::invoke_result_t<Operation&> guarded(Operation operation) {
    is_inside_ = true;
    struct Leave {
      bool& is_inside;
      ~Leave() { is_inside = false; }
    } const leave{is_inside_};
    return operation();
  }
  bool was_called_elsewhere() const { return was_called_elsewhere_; }

  std::unique_ptr<ByteStream> stream;  // on the loop, as is the next
  Heard heard;

 private:
  void check_place() {
    if (is_inside_ || !loop.io().get_executor().running_in_this_thread()) was_called_elsewhere_ = true;
  }
  std::size_t next_size() { return size_ = (size_ * 31 + 1) % input_.size() + 1; }
  void read() {
    guarded([this] {
      stream->async_read_some(asio::buffer(input_, next_size()),
                              [this](const std::error_code& error, std::size_t size) {
                                check_place();
                                heard.bytes.append(input_.data(), size);
                                if (!error) return read();
                                heard.read_error = error;
                                ++heard.read_ends;
                              });
    });
  }
  void write_rest() {
    if (has_written()) return;
    if (heard.written == offered_) offered_ = std::min(output_.size(), offered_ + std::max(next_size(), kAtOnce));
    const auto rest = std::string_view(output_).substr(heard.written, offered_ - heard.written);
    guarded([&] {
      stream->async_write_some(asio::buffer(rest), [this](const std::error_code& error, std::size_t size) {
        check_place();
        heard.written += size;
        if (!error) return write_rest();
        heard.write_error = error;
        ++heard.write_ends;
      });
    });
  }

  static constexpr std::size_t kAtOnce = 100;  // a short text is written in one piece

  std::array<char, 40'000> input_{};
  std::string output_;
  std::size_t offered_ = 0;  // of output_, to be written or written
  std::size_t size_ = 0;
  bool is_inside_ = false;
  bool was_called_elsewhere_ = false;

 public:
  Loop loop;  // last: handlers use all of the above
};

// More than any kernel keeps for a reader who does not read.
inline std::string many_bytes(std::string_view whose) {
  std::string bytes;
  for (int number = 0; bytes.size() < 2'000'000; ++number) bytes.append(whose).append(std::to_string(number));
  return bytes + "\n";
}

// Writes until nothing more is taken, so that a write is under way.
template <class One>
void fill(One& one) {
  one.loop.call([&] { one.write(many_bytes("unread ")); });
  std::size_t before = 0;
  REQUIRE(one.loop.eventually(
      [&] { return one.heard.written > 0 && one.heard.written == std::exchange(before, one.heard.written); }));
}

namespace byte_stream_contract {

template <class One>
void carries_bytes_both_ways(One& one) {
  const std::string ours = many_bytes("to you ");
  const std::string theirs = many_bytes("to me ");
  one.loop.call([&] { one.write(ours); });
  one.far->send(theirs);
  CHECK(one.loop.eventually([&] { return one.heard.bytes.size() == theirs.size(); }));
  CHECK(one.loop.call([&] { return one.heard.bytes == theirs && one.heard.written < ours.size(); }));
  CHECK(one.far->receive_until("\n") == ours);
  CHECK(one.loop.call([&] { return !one.heard.read_error && !one.heard.write_error && !one.was_called_elsewhere(); }));
}

template <class One>
void ends_reading_after_the_last_byte(One& one) {
  one.far->send("the last\n");
  one.finish();
  CHECK(one.loop.eventually([&] { return one.heard.read_ends > 0; }));
  one.loop.call([&] {
    CHECK(one.heard.bytes == "the last\n");
    CHECK(one.heard.read_error == asio::error::eof);
    one.write("the answer\n");
  });
  CHECK(one.far->receive_until("\n") == "the answer\n");
  one.loop.call([&] {
    CHECK(one.heard.hangups == 0);
    CHECK(one.heard.read_ends == 1);
  });
}

template <class One>
void brings_all_before_the_end(One& one) {
  const std::string ours = many_bytes("to you ");
  one.loop.call([&] { one.write(ours); });
  CHECK(one.far->receive_until("\n") == ours);
  CHECK(one.loop.eventually([&] { return one.has_written(); }));
  const bool may_still_send = one.loop.call([&] {
    one.write("the last\n");
    const bool may_send = one.guarded([&] { return one.stream->shutdown_write(); });
    if (!may_send) one.guarded([&] { one.stream->close(); });
    return may_send;
  });
  CHECK(one.far->receive_rest() == "the last\n");
  if (may_still_send) {
    one.far->send("the answer");
    CHECK(one.loop.eventually([&] { return one.heard.bytes == "the answer"; }));
  }
  CHECK(one.loop.eventually([&] { return one.has_written(); }));
  one.loop.call([&] {
    CHECK(one.heard.write_ends == 0);
    one.write("too late");
  });
  CHECK(one.loop.eventually([&] { return one.heard.write_ends == 1; }));
  CHECK_FALSE(one.was_called_elsewhere());
}

template <class One>
void ends_what_is_under_way_as_it_closes(One& one) {
  fill(one);
  one.loop.call([&] {
    one.guarded([&] { one.stream->close(); });
    one.guarded([&] { one.stream->close(); });
    CHECK(one.heard.read_ends + one.heard.write_ends == 0);
  });
  CHECK(one.loop.eventually([&] { return one.heard.read_ends > 0 && one.heard.write_ends > 0; }));
  one.loop.call([&] {
    one.write("too late");
    one.begin(std::move(one.stream));
  });
  CHECK(one.loop.eventually([&] { return one.heard.read_ends > 1 && one.heard.write_ends > 1; }));
  one.vanish();
  one.loop.call([&] {
    CHECK(one.heard.read_ends == 2);
    CHECK(one.heard.write_ends == 2);
    CHECK(one.heard.written == 0);
    CHECK(one.heard.hangups == 0);
    CHECK_FALSE(one.was_called_elsewhere());
  });
}

template <class One>
void hangs_up_as_the_other_end_goes(One& one) {
  one.loop.call([&] { one.write("unread"); });  // so that TCP resets the connection
  CHECK(one.loop.eventually([&] { return one.has_written(); }));
  one.vanish();
  CHECK(one.loop.eventually([&] { return one.heard.hangups > 0 && one.heard.read_ends > 0; }));
  one.loop.call([&] { one.write(many_bytes("to nobody ")); });
  CHECK(one.loop.eventually([&] { return one.heard.write_ends > 0; }));
  one.loop.call([&] {
    CHECK(one.heard.hangups == 1);
    CHECK(one.heard.read_ends == 1);
    CHECK(one.heard.write_ends == 1);
    CHECK_FALSE(one.was_called_elsewhere());
  });
}

}  // namespace byte_stream_contract
}  // namespace rkllm_mcp::test
