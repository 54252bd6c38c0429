#include "transport/bytes/tls_stream.hpp"

#include "deadline.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <asio/error.hpp>
#include <asio/post.hpp>

#include <optional>
#include <utility>

namespace rkllm_mcp {
namespace {

using Socket = SocketStream::Socket;
using TransferHandler = ByteStream::TransferHandler;

// So much is encrypted in one go; then the loop serves others.
constexpr std::size_t kWriteAtOnce = 256 * 1024;

}  // namespace

class TlsStream::Link : public std::enable_shared_from_this<Link> {
 public:
  Link(asio::io_context& io, Socket socket, const ConnectionLimits& limits, const TlsIdentity& identity)
      : socket_(std::move(socket)), session_(identity.new_session()), handshake_(io, [this] { close(); }) {
    std::error_code ignored;  // if the client has gone already, the first read tells
    socket_.native_non_blocking(true, ignored);
    ::SSL_set_fd(session_.get(), socket_.native_handle());
    handshake_.set_after(limits.tls_handshake);
  }

  Socket& socket() { return socket_; }

  // `transfer` calls OpenSSL: int(SSL*, size_t* bytes), 1 if it has moved bytes. It is called each time that the socket
  // is ready, until it has moved bytes or has failed. `handler` is always called from a callback of the loop;
  // `is_in_callback`: go_on() itself is called from one.
  template <class Transfer>
  void go_on(Transfer transfer, TransferHandler handler, bool is_in_callback = false) {
    Outcome outcome{.error = asio::error::operation_aborted};
    std::size_t bytes = 0;
    if (socket_.is_open()) {  // the descriptor of a closed one may be somebody else's by now
      ::ERR_clear_error();
      outcome = outcome_of(transfer(session_.get(), &bytes));
      if (::SSL_is_init_finished(session_.get()) != 0) handshake_.clear();
    }
    if (outcome.wait_for) {
      return socket_.async_wait(*outcome.wait_for,
                                [self = shared_from_this(), transfer = std::move(transfer),
                                 handler = std::move(handler)](const std::error_code& error) mutable {
                                  if (error) return handler(error, 0);
                                  self->go_on(std::move(transfer), std::move(handler), true);
                                });
    }
    if (is_in_callback) return handler(outcome.error, bytes);
    asio::post(socket_.get_executor(),
               [handler = std::move(handler), error = outcome.error, bytes] { handler(error, bytes); });
  }

  bool send_close_notify() {
    if (!socket_.is_open() || ::SSL_is_init_finished(session_.get()) == 0) return false;
    ::ERR_clear_error();
    const int result = ::SSL_shutdown(session_.get());
    if (result < 0 && ::SSL_get_error(session_.get(), result) == SSL_ERROR_WANT_WRITE) {
      socket_.async_wait(Socket::wait_write, [self = shared_from_this()](const std::error_code& error) {
        if (!error) self->send_close_notify();
      });
      return true;
    }
    std::error_code error;
    socket_.shutdown(asio::socket_base::shutdown_send, error);
    return !error;
  }

  void close() {
    std::error_code ignored;
    socket_.close(ignored);
    handshake_.clear();
  }

 private:
  struct Outcome {
    std::optional<Socket::wait_type> wait_for{};
    std::error_code error{};
  };

  Outcome outcome_of(int result) const {
    switch (::SSL_get_error(session_.get(), result)) {
      case SSL_ERROR_NONE: return {};
      case SSL_ERROR_WANT_READ: return {.wait_for = Socket::wait_read};
      case SSL_ERROR_WANT_WRITE: return {.wait_for = Socket::wait_write};
      case SSL_ERROR_ZERO_RETURN: return {.error = asio::error::eof};
      default: return {.error = asio::error::connection_aborted};
    }
  }

  Socket socket_;
  OwnedSsl session_;
  Deadline handshake_;
};

TlsStream::TlsStream(asio::io_context& io, Socket socket, const ConnectionLimits& limits, const TlsIdentity& identity) {
  set_socket_options(socket, limits);
  link_ = std::make_shared<Link>(io, std::move(socket), limits, identity);
}

TlsStream::~TlsStream() { link_->close(); }

void TlsStream::async_read_some(asio::mutable_buffer buffer, TransferHandler handler) {
  const auto read = [buffer](SSL* session, std::size_t* bytes) {
    return ::SSL_read_ex(session, buffer.data(), buffer.size(), bytes);
  };
  link_->go_on(read, std::move(handler));
}

void TlsStream::async_write_some(asio::const_buffer buffer, TransferHandler handler) {
  const auto write = [buffer](SSL* session, std::size_t* bytes) {
    int result = 1;
    for (asio::const_buffer rest = buffer; result == 1 && rest.size() > 0 && *bytes < kWriteAtOnce;) {
      std::size_t written = 0;  // one record
      result = ::SSL_write_ex(session, rest.data(), rest.size(), &written);
      if (result == 1) *bytes += written;
      rest += written;
    }
    return *bytes > 0 ? 1 : result;  // what stopped it will stop the next one
  };
  link_->go_on(write, std::move(handler));
}

void TlsStream::async_wait_hangup(HangupHandler handler) { wait_hangup(link_->socket(), std::move(handler)); }

bool TlsStream::shutdown_write() { return link_->send_close_notify(); }

void TlsStream::close() { link_->close(); }

std::unique_ptr<ByteStream> open_stream(asio::io_context& io, Socket socket, const ConnectionLimits& limits,
                                        const TlsIdentity* identity) {
  if (identity == nullptr) return std::make_unique<SocketStream>(std::move(socket), limits);
  return std::make_unique<TlsStream>(io, std::move(socket), limits, *identity);
}

}  // namespace rkllm_mcp
