// What clients of the handshake revisions may ask for; in this the revisions do not differ.
#pragma once

#include <array>
#include <string_view>

namespace rkllm_mcp {

inline constexpr std::array<std::string_view, 13> kHandshakeMethods{"initialize",
                                                                    "ping",
                                                                    "tools/list",
                                                                    "tools/call",
                                                                    "resources/list",
                                                                    "resources/templates/list",
                                                                    "resources/read",
                                                                    "resources/subscribe",
                                                                    "resources/unsubscribe",
                                                                    "prompts/list",
                                                                    "prompts/get",
                                                                    "completion/complete",
                                                                    "logging/setLevel"};

}  // namespace rkllm_mcp
