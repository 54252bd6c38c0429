// What transport/bytes/byte_stream.hpp promises, held against every kind of stream, over real sockets and pipes.
#include "../loop_thread.hpp"
#include "support/catch.hpp"
#include "support/certificate.hpp"
#include "support/process.hpp"
#include "support/raw_socket.hpp"
#include "support/tls_socket.hpp"
#include "support/usual_limits.hpp"
#include "transport/bytes/descriptor_stream.hpp"
#include "transport/bytes/tls_stream.hpp"

#include <asio/error.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/post.hpp>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// One stream, which is read from its first moment on, in pieces of all sizes.
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
  LoopThread loop;  // last: handlers use all of the above
};

// The other end of two pipes; blocks.
class PipeEnds {
 public:
  PipeEnds() {
    std::array<int, 2> to{};
    std::array<int, 2> from{};
    if (::pipe2(to.data(), O_CLOEXEC) != 0 || ::pipe2(from.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    input = to[0], out_ = to[1];
    in_ = from[0], output = from[1];
  }
  PipeEnds(const PipeEnds&) = delete;
  PipeEnds& operator=(const PipeEnds&) = delete;
  ~PipeEnds() { close(); }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto size = ::write(out_, bytes.data(), bytes.size());
      if (size <= 0) throw std::runtime_error("the pipe takes nothing");
      bytes.remove_prefix(static_cast<std::size_t>(size));
    }
  }
  std::string receive_rest() {
    while (read_some()) {
    }
    return std::exchange(received_, {});
  }
  std::string receive_until(std::string_view mark) {
    while (!received_.ends_with(mark)) {
      if (!read_some()) throw std::runtime_error("the pipe ended");
    }
    return std::exchange(received_, {});
  }
  void finish_sending() { ::close(std::exchange(out_, -1)); }
  void close() {
    for (int* descriptor : {&in_, &out_}) ::close(std::exchange(*descriptor, -1));
  }

  int input, output;  // the ends that the stream takes

 private:
  bool read_some() {
    pollfd state{in_, POLLIN, 0};
    const std::chrono::milliseconds patience = rkllm_mcp::test::kPatience;
    if (::poll(&state, 1, static_cast<int>(patience.count())) != 1) throw std::runtime_error("nothing comes");
    std::array<char, 65536> buffer;
    const auto size = ::read(in_, buffer.data(), buffer.size());
    if (size > 0) received_.append(buffer.data(), static_cast<std::size_t>(size));
    return size > 0;
  }

  int in_, out_;
  std::string received_;
};

// Each kind of stream, with its other end: `far`.

template <class Protocol, class Far>
struct OverSocket : OfOneStream {
  using Socket = typename Protocol::socket;

  explicit OverSocket(const typename Protocol::endpoint& at) : acceptor(io, at) {}

  // Connects while the loop accepts: a handshake takes both.
  template <class Open, class... Where>
  void meet(Open open, const Where&... where) {
    asio::post(loop.io(), [this, open] { begin(open(acceptor.accept(loop.io()))); });
    far.emplace(where...);
    loop.call([] {});
  }

  asio::io_context io;
  asio::basic_socket_acceptor<Protocol> acceptor;
  std::optional<Far> far;
};

struct OverTcpStream : OverSocket<asio::ip::tcp, RawSocket> {
  OverTcpStream() : OverSocket({asio::ip::address_v4::loopback(), 0}) {
    const auto open = [](Socket socket) {
      return std::make_unique<SocketStream>(std::move(socket), usual_limits<ConnectionLimits>());
    };
    meet(open, acceptor.local_endpoint().port());
  }
  void finish() { far->finish_sending(); }
  void vanish() { far->reset(); }
};

template <class Open>
struct OverFile : OverSocket<asio::local::stream_protocol, RawSocket> {
  explicit OverFile(const TemporaryDirectory& directory = {}) : OverSocket(directory / "socket") {
    meet([this](Socket socket) { return Open::open(loop.io(), std::move(socket)); }, directory / "socket");
  }
  void finish() { far->finish_sending(); }
  void vanish() { far->close(); }
};
struct AsSocket {
  static std::unique_ptr<ByteStream> open(asio::io_context&, asio::local::stream_protocol::socket socket) {
    return std::make_unique<SocketStream>(std::move(socket), usual_limits<ConnectionLimits>());
  }
};
// As a host's standard input and output may be.
struct AsDescriptors {
  static std::unique_ptr<ByteStream> open(asio::io_context& io, asio::local::stream_protocol::socket socket) {
    return std::make_unique<DescriptorStream>(io, socket.native_handle(), socket.native_handle());
  }
};
using OverUnixStream = OverFile<AsSocket>;
using OverStdioSocket = OverFile<AsDescriptors>;

struct OverTlsStream : OverSocket<asio::ip::tcp, TlsSocket> {
  OverTlsStream() : OverSocket({asio::ip::address_v4::loopback(), 0}) {
    const auto open = [this](Socket socket) {
      return std::make_unique<TlsStream>(loop.io(), std::move(socket), usual_limits<ConnectionLimits>(), identity);
    };
    meet(open, acceptor.local_endpoint().port(), TlsSocket::Options{.trusted = files.certificate});
  }
  void finish() { far->send_close_notify(); }
  void vanish() { far->close(); }

  TemporaryDirectory directory;
  CertificateFiles files = make_certificate(directory.path());
  TlsIdentity identity{{files.certificate, files.key}};
};

struct OverPipes : OfOneStream {
  OverPipes() {
    loop.call([this] { begin(std::make_unique<DescriptorStream>(loop.io(), far->input, far->output)); });
    ::close(far->input);
    ::close(far->output);
  }
  void finish() { far->finish_sending(); }
  void vanish() { far->close(); }

  std::unique_ptr<PipeEnds> far = std::make_unique<PipeEnds>();
};

// More than any kernel keeps for a reader who does not read.
std::string many_bytes(std::string_view whose) {
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

}  // namespace

#define EVERY_STREAM OverTcpStream, OverUnixStream, OverTlsStream, OverPipes, OverStdioSocket

TEMPLATE_TEST_CASE("a stream of bytes carries them whole and in order, both ways at the same time", "", EVERY_STREAM) {
  TestType one;
  const std::string ours = many_bytes("to you ");
  const std::string theirs = many_bytes("to me ");
  one.loop.call([&] { one.write(ours); });
  one.far->send(theirs);
  CHECK(one.loop.eventually([&] { return one.heard.bytes.size() == theirs.size(); }));
  CHECK(one.loop.call([&] { return one.heard.bytes == theirs && one.heard.written < ours.size(); }));
  CHECK(one.far->receive_until("\n") == ours);
  CHECK(one.loop.call([&] { return !one.heard.read_error && !one.heard.write_error && !one.was_called_elsewhere(); }));
}

TEMPLATE_TEST_CASE(
    "when the other end of a stream sends no more, reading ends after all that it sent, and writing goes on", "",
    EVERY_STREAM) {
  TestType one;
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

TEMPLATE_TEST_CASE(
    "the other end of a stream that is shut down, or else closed, gets all that was written and then the end", "",
    EVERY_STREAM) {
  TestType one;
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
  if constexpr (std::is_same_v<TestType, OverTlsStream>) CHECK(one.far->end() == TlsSocket::End::kNotified);
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

TEMPLATE_TEST_CASE("what is under way on a stream that is closed ends with an error, once, as does what comes later",
                   "", EVERY_STREAM) {
  TestType one;
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

TEMPLATE_TEST_CASE("a stream whose other end has gone hangs up, and what is written to it fails", "", EVERY_STREAM) {
  TestType one;
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
