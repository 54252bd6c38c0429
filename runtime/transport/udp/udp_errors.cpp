// What the network says about datagrams that were sent earlier (udp_transport.hpp).
#include "transport/udp/udp_transport.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace rkllm_mcp {

namespace {

bool says_nobody_listens(msghdr& message) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    const bool is_v4 = part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_RECVERR;
    const bool is_v6 = part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_RECVERR;
    if (!is_v4 && !is_v6) continue;
    sock_extended_err error{};
    std::memcpy(&error, CMSG_DATA(part), sizeof error);
    const bool is_icmp = error.ee_origin == SO_EE_ORIGIN_ICMP || error.ee_origin == SO_EE_ORIGIN_ICMP6;
    if (is_icmp && error.ee_errno == ECONNREFUSED) return true;
  }
  return false;
}

}  // namespace

void report_udp_errors(asio::ip::udp::socket& socket) {
  const int on = 1;
  // Each fails for the other family, harmlessly.
  ::setsockopt(socket.native_handle(), IPPROTO_IP, IP_RECVERR, &on, sizeof on);
  ::setsockopt(socket.native_handle(), IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on);
}

std::vector<asio::ip::udp::endpoint> take_udp_errors(asio::ip::udp::socket& socket) {
  std::vector<asio::ip::udp::endpoint> unreachable;
  while (true) {
    asio::ip::udp::endpoint remote;  // where the failed datagram went
    std::array<char, 512> control{};
    msghdr message{};
    message.msg_name = remote.data();
    message.msg_namelen = static_cast<socklen_t>(remote.capacity());
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (::recvmsg(socket.native_handle(), &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return unreachable;
    if (message.msg_namelen == 0 || message.msg_namelen > remote.capacity()) continue;
    remote.resize(message.msg_namelen);
    if (says_nobody_listens(message)) unreachable.push_back(remote);
  }
}

}  // namespace rkllm_mcp
