#include "sim_connection.hpp"

#include "faults.hpp"

#include <asio/error.hpp>
#include <asio/post.hpp>

#include <algorithm>
#include <cstring>

namespace rkllm_mcp::simulation {
namespace {

constexpr std::chrono::seconds kLinger{1};
constexpr std::size_t kWindowBytes = 256;  // what the system holds for a client that does not read

}  // namespace

class SimConnection::Stream final : public ByteStream {
 public:
  explicit Stream(std::shared_ptr<SimConnection> connection) : connection_(std::move(connection)) {}
  ~Stream() override { close(); }

  void async_read_some(asio::mutable_buffer buffer, TransferHandler handler) override {
    SimConnection& connection = *connection_;
    if (connection.is_reset_ || connection.server_closed_) {
      return connection.later([handler = std::move(handler)] { handler(asio::error::connection_reset, 0); });
    }
    connection.read_ = Read{buffer, std::move(handler)};
    connection.offer_read();
  }
  void async_write_some(asio::const_buffer buffer, TransferHandler handler) override {
    SimConnection& connection = *connection_;
    if (has_fault("the server closes a connection instead of answering on it")) close();  // so it seems to the client
    if (connection.is_reset_ || connection.server_has_closed()) {
      return connection.later([handler = std::move(handler)] { handler(asio::error::broken_pipe, 0); });
    }
    connection.write_ = Write{buffer, std::move(handler), Clock::now()};
    connection.offer_write();
  }
  void async_wait_hangup(HangupHandler handler) override {
    if (connection_->server_closed_) return;
    if (connection_->is_reset_) return connection_->later(std::move(handler));
    connection_->hangup_ = std::move(handler);
  }
  bool shutdown_write() override {
    connection_->take_rest();
    connection_->server_finished_ = true;
    connection_->finished_at_ = Clock::now();
    connection_->offer_to_client();
    return !connection_->seen_end_;
  }
  void close() override {
    if (std::exchange(connection_->server_closed_, true)) return;
    connection_->end_operations(asio::error::operation_aborted);
    connection_->hangup_ = nullptr;
    connection_->offer_to_client();
    connection_->destroy_what_is_on_its_way();
  }

 private:
  const std::shared_ptr<SimConnection> connection_;
};

std::unique_ptr<ByteStream> SimConnection::stream() { return std::make_unique<Stream>(shared_from_this()); }

void SimConnection::send(std::string_view bytes) {
  if (client_finished_ || is_reset_) return;
  to_server_ += bytes;
  offer_read();
}

void SimConnection::finish() {
  client_finished_ = true;
  offer_read();
}

void SimConnection::close() {
  client_closed_ = true;
  finish();
  offer_write();
  // The system answers for a client that has not read all: with a reset.
  if (!std::exchange(to_client_, {}).empty()) {
    world_.may_happen(name_ + " closes without having read all", [self = shared_from_this()] { self->break_off(); });
  }
}

void SimConnection::reset() {
  client_closed_ = true;
  break_off();
}

void SimConnection::set_reading(bool reading) {
  if (reading == client_reading_) return;
  if (!reading) {
    world_.saw("a client did not read");
    stopped_reading_ = Clock::now();
  } else {
    longest_pause_ = std::max(longest_pause_, Clock::now() - stopped_reading_);
  }
  client_reading_ = reading;
  offer_to_client();
}

bool SimConnection::was_left_unread(Clock::duration time) const {
  return longest_pause_ >= time || (!client_reading_ && Clock::now() - stopped_reading_ >= time);
}

void SimConnection::break_off() {
  if (std::exchange(is_reset_, true)) return;
  world_.saw("a connection was reset");
  end_operations(asio::error::connection_reset);
  if (hangup_) later(std::exchange(hangup_, nullptr));
  offer_to_client();
}

void SimConnection::write(std::string_view bytes) {
  const std::size_t before = to_client_.size();
  to_client_ += bytes;
  changed_.change(to_client_, before);
}

// What has been written is on its way before the end is.
void SimConnection::take_rest() {
  if (!write_) return;
  const Write write = std::move(*write_);
  write_.reset();
  this->write({static_cast<const char*>(write.buffer.data()), write.buffer.size()});
  later([write] { write.handler({}, write.buffer.size()); });
}

// If the server's end goes while bytes of the client are unread, the system answers with a reset, and the client loses
// what it has not read yet. Not so if the server has first gone on reading for kLinger after its last bytes.
void SimConnection::destroy_what_is_on_its_way() {
  const bool has_lingered = server_finished_ && Clock::now() - finished_at_ >= kLinger;
  if (to_server_.empty() || client_closed_ || is_reset_ || has_lingered) return;
  world_.may_happen(name_ + " is reset, as not all that it has sent was read", [self = shared_from_this()] {
    self->to_client_.clear();
    self->break_off();
  });
}

void SimConnection::end_operations(std::error_code error) {
  if (read_) {
    later([handler = std::move(read_->handler), error] { handler(error, 0); });
    read_.reset();
  }
  if (write_) {
    longest_pause_ = std::max(longest_pause_, Clock::now() - write_->begun);
    later([handler = std::move(write_->handler), error] { handler(error, 0); });
    write_.reset();
  }
}

void SimConnection::later(std::function<void()> handler) { asio::post(world_.loop(), std::move(handler)); }

std::size_t SimConnection::some_of(std::size_t most) {
  switch (world_.choices().choose(4)) {
    case 1: return 1;
    case 2: return std::min<std::size_t>(most, 1 + world_.choices().choose(64));
    default: return most;
  }
}

void SimConnection::offer_read() {
  if (!read_ || read_offered_ || (to_server_.empty() && !client_finished_)) return;
  read_offered_ = true;
  world_.may_happen("the server reads from " + name_, [self = shared_from_this()] {
    self->read_offered_ = false;
    self->read_now();
  });
}

void SimConnection::read_now() {
  if (!read_) return;
  Read read = std::move(*read_);
  read_.reset();
  if (to_server_.empty()) {
    seen_end_ = true;
    return later([read] { read.handler(asio::error::eof, 0); });
  }
  const std::size_t bytes = some_of(std::min(read.buffer.size(), to_server_.size()));
  std::memcpy(read.buffer.data(), to_server_.data(), bytes);
  to_server_.erase(0, bytes);
  later([read, bytes] { read.handler({}, bytes); });
}

void SimConnection::offer_write() {
  if (!write_ || write_offered_) return;
  if (!client_closed_ && to_client_.size() >= kWindowBytes) {
    world_.saw("the server could not write");
    return;
  }
  write_offered_ = true;
  world_.may_happen("the server writes to " + name_, [self = shared_from_this()] {
    self->write_offered_ = false;
    self->write_now();
  });
}

void SimConnection::write_now() {
  if (!write_) return;
  Write write = std::move(*write_);
  write_.reset();
  longest_pause_ = std::max(longest_pause_, Clock::now() - write.begun);
  // The first packet to a client that has gone leaves like any other; what comes back is a reset.
  const std::size_t room =
      client_closed_ ? write.buffer.size() : kWindowBytes - std::min(kWindowBytes, to_client_.size());
  const std::size_t bytes = some_of(std::min(write.buffer.size(), std::max<std::size_t>(room, 1)));
  if (!client_closed_) this->write({static_cast<const char*>(write.buffer.data()), bytes});
  later([write, bytes] { write.handler({}, bytes); });
  if (client_closed_)
    return world_.may_happen(name_ + " answers with a reset", [self = shared_from_this()] { self->break_off(); });
  offer_to_client();
}

void SimConnection::offer_to_client() {
  if (client_offered_ || client_closed_ || told_end_ || !client_reading_) return;
  if (to_client_.empty() && !server_has_closed() && !is_reset_) return;
  client_offered_ = true;
  world_.may_happen(name_ + " reads", [self = shared_from_this()] {
    self->client_offered_ = false;
    self->client_reads_now();
  });
}

void SimConnection::client_reads_now() {
  if (client_closed_ || told_end_ || !client_reading_) return;
  if (!to_client_.empty()) {
    const std::size_t bytes = some_of(to_client_.size());
    const std::string read = to_client_.substr(0, bytes);
    to_client_.erase(0, bytes);
    world_.note(read);
    if (client_.received) client_.received(read);
    offer_write();
    return offer_to_client();
  }
  told_end_ = true;
  if (client_.ended) client_.ended();
}

}  // namespace rkllm_mcp::simulation
