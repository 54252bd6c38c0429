// Sockets that the service manager has opened for this program (systemd's socket activation) and that take the place
// of the transports' own: so a port below 1024 needs no privilege, and clients can connect while the server starts.
//
// No libsystemd: the protocol (sd_listen_fds(3)) is three variables. $LISTEN_FDS sockets begin at descriptor 3, if
// $LISTEN_PID is this process, and $LISTEN_FDNAMES names them, with colons between.
#pragma once

#include "settings/settings.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace rkllm_mcp {

struct HandedSocket {
  int descriptor;
  std::string address;     // IP address; of a Unix socket its path, or @NAME
  std::uint16_t port = 0;  // 0 for a Unix socket
};

struct HandedSockets {
  std::optional<HandedSocket> tcp;
  std::optional<HandedSocket> udp;
  std::optional<HandedSocket> http;
  std::optional<HandedSocket> ws;
  std::optional<HandedSocket> unix_socket;
};

// What has been handed over, by name (tcp, udp, http, ws, unix) or, without one, by kind if only one transport can be
// meant. Takes the variables out of the environment: to be called once, before there are threads or children. Throws
// std::runtime_error for a socket that is of the wrong kind, meant for nobody or for a transport that is switched off,
// or that must not be served without authentication.
HandedSockets take_handed_sockets(const Settings& settings);

}  // namespace rkllm_mcp
