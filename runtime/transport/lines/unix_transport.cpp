#include "transport/lines/unix_transport.hpp"

#include "transport/bytes/socket_stream.hpp"
#include "transport/lines/line_connection.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <asio/error.hpp>

#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp {
namespace {

using Protocol = asio::local::stream_protocol;

constexpr mode_t kNobody = 0777;

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw std::runtime_error("unix: cannot listen on " + path + ": " + reason);
}

std::optional<struct stat> file_at(const std::string& path) {
  struct stat file {};
  if (::lstat(path.c_str(), &file) != 0) return std::nullopt;
  return file;
}

// The process and the user at the other end, as the kernel knows them.
struct Credentials {
  std::string user = "unknown";  // "uid=1000"
  std::string all = "unknown";   // "pid=4711,uid=1000"
};
Credentials credentials_of(Protocol::socket& socket) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return {};
  const std::string user = "uid=" + std::to_string(who.uid);
  return {user, "pid=" + std::to_string(who.pid) + "," + user};
}

// Removes the socket of a server that has gone.
void make_way(asio::io_context& io, const std::string& path) {
  const auto file = file_at(path);
  if (!file) return;
  if (!S_ISSOCK(file->st_mode)) refuse(path, "a file of another kind is there");
  Protocol::socket probe(io);
  std::error_code error;
  probe.connect(Protocol::endpoint(path), error);
  if (!error) refuse(path, "address already in use by " + credentials_of(probe).all);
  if (error != asio::error::connection_refused) refuse(path, error.message());
  ::unlink(path.c_str());
}

}  // namespace

UnixTransport::UnixTransport(asio::io_context& io, UnixOptions options, AcceptFunction accept)
    : io_(io),
      options_(std::move(options)),
      accept_(std::move(accept)),
      clients_(std::make_shared<AcceptLoop<Protocol>>(
          io, [this](Protocol::socket socket) { accepted(std::move(socket)); })) {
  listen();
  clients_->accept_next();
}

void UnixTransport::listen() {
  const std::string& path = options_.path;
  if (options_.handed >= 0) {
    std::error_code failure;
    clients_->acceptor().assign(Protocol(), options_.handed, failure);
    if (failure) refuse(path, failure.message());
    return;
  }
  if (path.size() >= sizeof(sockaddr_un::sun_path)) {
    refuse(path, "the path is longer than " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " bytes");
  }
  make_way(io_, path);
  auto& acceptor = clients_->acceptor();
  std::error_code error;
  acceptor.open(Protocol(), error);
  const mode_t usual = ::umask(kNobody);  // nobody connects before the mode is as it shall be
  if (!error) acceptor.bind(Protocol::endpoint(path), error);
  ::umask(usual);
  if (error) refuse(path, error.message());
  if (const auto file = file_at(path)) file_ = file->st_ino;
  if (::chmod(path.c_str(), options_.mode) != 0) error = {errno, std::system_category()};
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    stop();
    refuse(path, error.message());
  }
}

void UnixTransport::stop() {
  clients_->stop();
  if (file_ == 0) return;
  const auto file = file_at(options_.path);
  if (file && file->st_ino == file_) ::unlink(options_.path.c_str());
  file_ = 0;
}

void UnixTransport::accepted(Protocol::socket socket) {
  const Credentials who = credentials_of(socket);
  const auto objection = channels_.objection(who.user, options_.limits);
  if (objection) count(options_.limits.counts, *objection);
  if (objection && (!options_.refusal || !refused_connections_.has_room())) return;  // which closes the socket
  auto stream = std::make_unique<SocketStream>(std::move(socket), options_.limits);
  const auto channel = std::make_shared<Channel>(io_, std::move(stream), options_.limits);
  if (objection) return refused_connections_.add(*channel, options_.refusal(*objection));
  channels_.add(*channel, who.user);
  channel->contain([&] {
    LineConnection::start(*channel, {.transport = TransportKind::kUnix, .address = who.all}, options_.limits, accept_);
  });
}

}  // namespace rkllm_mcp
