// What transport/bytes/byte_stream.hpp promises (ByteStream), held against every kind of stream, over real sockets and
// pipes.
#include "byte_stream_contract.hpp"

#include "../loop_thread.hpp"
#include "support/catch.hpp"
#include "support/certificate.hpp"
#include "support/process.hpp"
#include "support/raw_socket.hpp"
#include "support/tls_socket.hpp"
#include "support/usual_limits.hpp"
#include "transport/bytes/descriptor_stream.hpp"
#include "transport/bytes/tls_stream.hpp"

#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/post.hpp>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

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
struct OverSocket : OfOneStream<LoopThread> {
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

struct OverPipes : OfOneStream<LoopThread> {
  OverPipes() {
    loop.call([this] { begin(std::make_unique<DescriptorStream>(loop.io(), far->input, far->output)); });
    ::close(far->input);
    ::close(far->output);
  }
  void finish() { far->finish_sending(); }
  void vanish() { far->close(); }

  std::unique_ptr<PipeEnds> far = std::make_unique<PipeEnds>();
};

}  // namespace

#define EVERY_STREAM OverTcpStream, OverUnixStream, OverTlsStream, OverPipes, OverStdioSocket

TEMPLATE_TEST_CASE("a stream of bytes carries them whole and in order, both ways at the same time", "", EVERY_STREAM) {
  TestType one;
  byte_stream_contract::carries_bytes_both_ways(one);
}

TEMPLATE_TEST_CASE(
    "when the other end of a stream sends no more, reading ends after all that it sent, and writing goes on", "",
    EVERY_STREAM) {
  TestType one;
  byte_stream_contract::ends_reading_after_the_last_byte(one);
}

TEMPLATE_TEST_CASE(
    "the other end of a stream that is shut down, or else closed, gets all that was written and then the end", "",
    EVERY_STREAM) {
  TestType one;
  byte_stream_contract::brings_all_before_the_end(one);
  if constexpr (std::is_same_v<TestType, OverTlsStream>) CHECK(one.far->end() == TlsSocket::End::kNotified);
}

TEMPLATE_TEST_CASE("what is under way on a stream that is closed ends with an error, once, as does what comes later",
                   "", EVERY_STREAM) {
  TestType one;
  byte_stream_contract::ends_what_is_under_way_as_it_closes(one);
}

TEMPLATE_TEST_CASE("a stream whose other end has gone hangs up, and what is written to it fails", "", EVERY_STREAM) {
  TestType one;
  byte_stream_contract::hangs_up_as_the_other_end_goes(one);
}
