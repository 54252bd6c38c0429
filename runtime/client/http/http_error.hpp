// Asks what kind of error it is, in a way that compiles with every version of cpp-httplib: newer versions have several
// enumerators where older ones have one.
#pragma once

#include <httplib.h>

namespace rkllm_mcp::client {

// The server's certificate is for another name, where this version tells that from other faults.
template <typename Error>
bool is_name_refused([[maybe_unused]] Error error) {
  if constexpr (requires { Error::SSLServerHostnameVerification; }) {
    return error == Error::SSLServerHostnameVerification;
  } else {
    return false;
  }
}

// The server's certificate is signed by nobody who is trusted, has expired, or is for another name.
template <typename Error>
bool is_certificate_refused(Error error) {
  return error == Error::SSLServerVerification || is_name_refused(error);
}

// Nobody accepted the connection, or not in time.
template <typename Error>
bool is_not_connected(Error error) {
  if constexpr (requires { Error::ConnectionTimeout; }) {
    if (error == Error::ConnectionTimeout) return true;
  }
  return error == Error::Connection;
}

}  // namespace rkllm_mcp::client
