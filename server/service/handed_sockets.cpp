#include "service/handed_sockets.hpp"

#include "service/supervisor.hpp"
#include "text/ip_address.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

constexpr int kFirstDescriptor = 3;

enum class Kind { kListeningTcp, kUdp, kListeningUnix, kOther };

std::string_view text_of(Kind kind) {
  switch (kind) {
    case Kind::kListeningTcp: return "a listening TCP socket";
    case Kind::kUdp: return "a UDP socket";
    case Kind::kListeningUnix: return "a listening Unix stream socket";
    case Kind::kOther: break;
  }
  return "something else";
}

int option_of(int descriptor, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

Kind kind_of(int descriptor) {
  const int domain = option_of(descriptor, SO_DOMAIN);
  const int type = option_of(descriptor, SO_TYPE);
  const bool is_internet = domain == AF_INET || domain == AF_INET6;
  if (is_internet && type == SOCK_DGRAM) return Kind::kUdp;
  const bool listens = type == SOCK_STREAM && option_of(descriptor, SO_ACCEPTCONN) == 1;
  if (listens && is_internet) return Kind::kListeningTcp;
  return listens && domain == AF_UNIX ? Kind::kListeningUnix : Kind::kOther;
}

// With the place where it is bound.
HandedSocket socket_at(int descriptor) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&storage), &size);
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (storage.ss_family == AF_INET) {
    const auto* name = reinterpret_cast<const sockaddr_in*>(&storage);
    return {descriptor, ::inet_ntop(AF_INET, &name->sin_addr, text.data(), text.size()), ntohs(name->sin_port)};
  }
  if (storage.ss_family == AF_INET6) {
    const auto* name = reinterpret_cast<const sockaddr_in6*>(&storage);
    return {descriptor, ::inet_ntop(AF_INET6, &name->sin6_addr, text.data(), text.size()), ntohs(name->sin6_port)};
  }
  const auto* name = reinterpret_cast<const sockaddr_un*>(&storage);
  const std::size_t begin = offsetof(sockaddr_un, sun_path);
  std::string path(name->sun_path, size > begin ? size - begin : 0);
  if (!path.empty() && path[0] == '\0') {
    path[0] = '@';  // abstract
  } else {
    path.erase(std::min(path.find('\0'), path.size()));  // the zero at its end
  }
  return {descriptor, std::move(path)};
}

// The sockets to fill, and what may fill them.
class SocketsOfTransports {
 public:
  explicit SocketsOfTransports(const Settings& settings)
      : settings_(settings),
        transports_{{{"tcp", Kind::kListeningTcp, settings.tcp.enabled, &sockets_.tcp},
                     {"udp", Kind::kUdp, settings.udp.enabled, &sockets_.udp},
                     {"http", Kind::kListeningTcp, settings.http.enabled, &sockets_.http},
                     {"ws", Kind::kListeningTcp, settings.ws.enabled, &sockets_.ws},
                     {"unix", Kind::kListeningUnix, true, &sockets_.unix_socket}}} {}
  SocketsOfTransports(const SocketsOfTransports&) = delete;
  SocketsOfTransports& operator=(const SocketsOfTransports&) = delete;

  // False if no transport has this name.
  bool fill_by_name(int descriptor, std::string_view name) {
    for (OfTransport& transport : transports_) {
      if (transport.name != name) continue;
      fill(transport, descriptor);
      return true;
    }
    return false;
  }

  void fill_by_kind(int descriptor, const std::string& name) {
    OfTransport* found = nullptr;
    for (OfTransport& transport : transports_) {
      if (transport.kind != kind_of(descriptor) || !transport.enabled || transport.socket->has_value()) continue;
      if (found != nullptr) {
        refuse(descriptor, "\"" + name + "\" may be for " + std::string(found->name) + " or " +
                               std::string(transport.name) + "; say which with FileDescriptorName=");
      }
      found = &transport;
    }
    if (found == nullptr) {
      refuse(descriptor, "\"" + name + "\", which is " + std::string(text_of(kind_of(descriptor))) +
                             ", is for no transport that is switched on and has none; the names are tcp, udp, http, "
                             "ws and unix");
    }
    fill(*found, descriptor);
  }

  HandedSockets take() { return std::move(sockets_); }

 private:
  struct OfTransport {
    std::string_view name;
    Kind kind;
    bool enabled;
    std::optional<HandedSocket>* socket;
  };

  [[noreturn]] static void refuse(int descriptor, const std::string& complaint) {
    throw std::runtime_error("socket activation: descriptor " + std::to_string(descriptor) + ": " + complaint);
  }

  void fill(OfTransport& transport, int descriptor) const {
    const std::string name(transport.name);
    if (transport.socket->has_value()) refuse(descriptor, name + " has a socket already");
    if (!transport.enabled) refuse(descriptor, name + " is switched off (" + name + ".enabled=false)");
    if (kind_of(descriptor) != transport.kind) {
      refuse(descriptor, name + " takes " + std::string(text_of(transport.kind)) + ", and this is " +
                             std::string(text_of(kind_of(descriptor))));
    }
    HandedSocket socket = socket_at(descriptor);
    const bool is_guarded = settings_.auth.insecure || !settings_.auth.tokens.empty();
    if (transport.kind != Kind::kListeningUnix && !is_guarded && !is_loopback(socket.address)) {
      refuse(descriptor, name + " on " + socket.address +
                             " can be reached from other machines, and no access token is asked for; name a file in "
                             "auth.tokens, or accept it with auth.insecure=true");
    }
    *transport.socket = std::move(socket);
  }

  const Settings& settings_;
  HandedSockets sockets_;
  std::array<OfTransport, 5> transports_;
};

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const auto colon = std::min(text.find(':', at), text.size());
    names.push_back(text.substr(at, colon - at));
    at = colon + 1;
  }
  return names;
}

}  // namespace

HandedSockets take_handed_sockets(const Settings& settings) {
  const auto process = to_number(take_variable("LISTEN_PID"));
  const auto count = to_number(take_variable("LISTEN_FDS"));
  auto names = split_names(take_variable("LISTEN_FDNAMES"));
  if (!count || process != static_cast<std::uint64_t>(::getpid())) return {};
  if (*count > static_cast<std::uint64_t>(std::numeric_limits<int>::max() - kFirstDescriptor)) {
    throw std::runtime_error("socket activation: LISTEN_FDS is " + std::to_string(*count) + ": no process has so many");
  }
  const auto first_beyond = kFirstDescriptor + static_cast<int>(*count);
  for (int descriptor = kFirstDescriptor; descriptor < first_beyond; ++descriptor) {
    if (::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) {
      throw std::runtime_error("socket activation: LISTEN_FDS names descriptor " + std::to_string(descriptor) +
                               ", which is not open");
    }
  }
  names.resize(*count);
  SocketsOfTransports sockets(settings);
  // First the sockets that have a transport's name. The name of a socket is its unit's if the unit gives it none.
  std::vector<int> others;
  for (int descriptor = kFirstDescriptor; descriptor < first_beyond; ++descriptor) {
    const std::string& name = names[static_cast<std::size_t>(descriptor - kFirstDescriptor)];
    if (!sockets.fill_by_name(descriptor, name)) others.push_back(descriptor);
  }
  for (const int descriptor : others) {
    sockets.fill_by_kind(descriptor, names[static_cast<std::size_t>(descriptor - kFirstDescriptor)]);
  }
  return sockets.take();
}

}  // namespace rkllm_mcp
