// A client of cpp-httplib for one request to a web address, on a thread beside the event loop. What all who ask other
// servers have in common: certificates are verified, redirects are for the caller to judge, no connection is kept.
#pragma once

#include "text/url.hpp"

#include <httplib.h>

#include <memory>
#include <string>

namespace rkllm_mcp {

// `ca_file`: PEM; empty: the system's certificates.
std::unique_ptr<httplib::ClientImpl> new_verified_client(const Url& url, const std::string& ca_file);

}  // namespace rkllm_mcp
