#include "transport/bytes/listener.hpp"

#include <rkllm_mcp/lower_case.hpp>

#include <sys/socket.h>
#include <asio/error.hpp>
#include <asio/ip/address.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

std::string describe(std::string_view transport, const ListenAddress& where, std::error_code reason) {
  const bool is_v6 = where.address.find(':') != std::string::npos;
  auto text = std::string(transport) + ": cannot listen on ";
  if (is_v6) text += '[';
  text += where.address;
  if (is_v6) text += ']';
  text += ":" + std::to_string(where.port) + ": ";
  if (reason == std::errc::invalid_argument) return text + "not an IPv4 or IPv6 address";
  auto message = reason.message();
  if (!message.empty()) message[0] = in_lower_case(message[0]);
  text += message;
  if (reason != asio::error::address_in_use) return text;
  const std::string holder = port_holder(transport == "udp" ? "udp" : "tcp", where.port);
  return holder.empty() ? text : text + " by " + holder;
}

namespace fs = std::filesystem;

// The port of "0100007F:1F91".
bool is_at(std::string_view address, std::uint16_t port) {
  const auto colon = address.rfind(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view digits = address.substr(colon + 1);
  std::uint16_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number == port;
}

// What /proc/PID/fd calls the sockets that wait there: "socket:[12345]".
std::set<std::string> sockets_at(const std::string& protocol, std::uint16_t port) {
  constexpr std::size_t kLocalAddress = 1;
  constexpr std::size_t kState = 3;
  constexpr std::size_t kInode = 9;
  constexpr std::string_view kListening = "0A";
  std::set<std::string> names;
  for (const char* version : {"", "6"}) {
    std::ifstream table("/proc/net/" + protocol + version);
    for (std::string line; std::getline(table, line);) {
      std::istringstream words(line);
      std::vector<std::string> row;
      for (std::string word; words >> word;) row.push_back(word);
      if (row.size() <= kInode || !is_at(row[kLocalAddress], port)) continue;
      if (protocol == "tcp" && row[kState] != kListening) continue;
      names.insert("socket:[" + row[kInode] + "]");
    }
  }
  return names;
}

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool has_one_of(const fs::path& process, const std::set<std::string>& sockets) {
  std::error_code error;
  for (fs::directory_iterator file(process / "fd", error); !error && file != fs::directory_iterator();
       file.increment(error)) {
    std::error_code gone;
    if (sockets.contains(fs::read_symlink(file->path(), gone).string())) return true;
  }
  return false;
}

}  // namespace

ListenError::ListenError(std::string_view transport, const ListenAddress& where, std::error_code reason)
    : std::runtime_error(describe(transport, where, reason)), transport_(transport), where_(where), reason_(reason) {}

int family_of(int socket) {
  int family = AF_UNSPEC;
  socklen_t size = sizeof family;
  ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family;
}

asio::ip::address parse_address(std::string_view transport, const ListenAddress& where) {
  std::error_code error;
  auto address = asio::ip::make_address(where.address, error);
  if (error) throw ListenError(transport, where, std::make_error_code(std::errc::invalid_argument));
  return address;
}

Listener::Listener(asio::io_context& io, std::string_view transport, const ListenAddress& where,
                   SocketFunction accepted)
    : clients_(std::make_shared<AcceptLoop<asio::ip::tcp>>(io, std::move(accepted))) {
  const asio::ip::tcp::endpoint endpoint(parse_address(transport, where), where.port);
  auto& acceptor = clients_->acceptor();
  std::error_code error;
  if (where.handed >= 0) {
    acceptor.assign(family_of(where.handed) == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), where.handed,
                    error);
    if (error) throw ListenError(transport, where, error);
    clients_->accept_next();
    return;
  }
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) throw ListenError(transport, where, error);
  clients_->accept_next();
}

std::uint16_t Listener::port() const {
  std::error_code error;
  return clients_->acceptor().local_endpoint(error).port();
}

bool Listener::is_loopback() const {
  std::error_code error;
  return clients_->acceptor().local_endpoint(error).address().is_loopback();
}

std::string port_holder(std::string_view protocol, std::uint16_t port) {
  const auto sockets = sockets_at(std::string(protocol), port);
  if (sockets.empty()) return {};
  std::error_code error;
  for (fs::directory_iterator process("/proc", error); !error && process != fs::directory_iterator();
       process.increment(error)) {
    const std::string id = process->path().filename().string();
    if (!is_number(id) || !has_one_of(process->path(), sockets)) continue;
    std::string name;
    std::getline(std::ifstream(process->path() / "comm"), name);
    return "process " + id + " (" + name + ")";
  }
  return {};
}

}  // namespace rkllm_mcp
