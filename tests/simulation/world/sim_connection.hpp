// A connection between a simulated client and the server: what the client does with it, and a ByteStream for the
// server's end. Bytes move in pieces of any size, whenever the schedule says so. As in TCP, an end of input says
// nothing about whether the client still listens; that shows when it is written to.
#pragma once

#include "simulation/server/changed_bytes.hpp"
#include "world.hpp"

#include "transport/bytes/byte_stream.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp::simulation {

class SimConnection : public std::enable_shared_from_this<SimConnection> {
 public:
  // What the client hears. Called from steps of the world.
  struct Client {
    std::function<void(std::string_view bytes)> received;
    std::function<void()> ended;  // the server has closed, or reset
  };

  SimConnection(World& world, std::string name) : world_(world), name_(std::move(name)) {}

  // The server's end. Once.
  std::unique_ptr<ByteStream> stream();

  void listen(Client client) { client_ = std::move(client); }
  void send(std::string_view bytes);
  void finish();                   // nothing more will be sent; the client still reads
  void close();                    // both ways: what the server writes from now on is answered with a reset
  void reset();                    // at once
  void set_reading(bool reading);  // a client that does not read lets the connection fill up
  // Whether the client has not read, or the network has taken nothing from the server, for so long at a time.
  bool was_left_unread(Clock::duration time) const;

  bool client_has_closed() const { return client_closed_; }
  bool server_has_closed() const { return server_closed_ || server_finished_; }
  // Whether it has read all that was sent, and that nothing more comes; or that the connection is broken.
  bool server_has_seen_end() const { return seen_end_ || is_reset_ || server_closed_; }

 private:
  class Stream;

  void offer_read();
  void offer_write();
  void offer_to_client();
  void read_now();
  void write_now();
  void client_reads_now();
  void break_off();
  void write(std::string_view bytes);
  void take_rest();
  void destroy_what_is_on_its_way();
  void end_operations(std::error_code error);
  std::size_t some_of(std::size_t most);  // how much of it moves at a time
  // Calls a handler of the server's from the loop, as operations of sockets do.
  void later(std::function<void()> handler);

  World& world_;
  const std::string name_;
  Client client_;

  std::string to_server_;
  std::string to_client_;
  ChangedBytes changed_;
  bool client_finished_ = false;
  bool client_closed_ = false;
  bool client_reading_ = true;
  Clock::time_point stopped_reading_;
  Clock::duration longest_pause_{0};  // the longest that a pause in reading, or a write, has lasted
  bool server_finished_ = false;
  Clock::time_point finished_at_;  // if it has
  bool server_closed_ = false;
  bool is_reset_ = false;
  bool told_end_ = false;
  bool seen_end_ = false;

  struct Read {
    asio::mutable_buffer buffer;
    ByteStream::TransferHandler handler;
  };
  struct Write {
    asio::const_buffer buffer;
    ByteStream::TransferHandler handler;
    Clock::time_point begun = Clock::now();
  };
  std::optional<Read> read_;
  std::optional<Write> write_;
  ByteStream::HangupHandler hangup_;
  bool read_offered_ = false;
  bool write_offered_ = false;
  bool client_offered_ = false;
};

}  // namespace rkllm_mcp::simulation
