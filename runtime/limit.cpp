#include "limit.hpp"

#include <atomic>

namespace rkllm_mcp {
namespace {

constexpr LimitNames kOwnNames{"message bytes",
                               "depth",
                               "id bytes",
                               "connections",
                               "connections of a client",
                               "requests of a connection",
                               "stall time",
                               "idle time",
                               "header bytes",
                               "header time",
                               "stream buffer",
                               "stream values",
                               "stream memory",
                               "poll time",
                               "queue length",
                               "queue time",
                               "handles",
                               "access tokens",
                               "memory",
                               "message time",
                               "reply bytes"};
static_assert(!kOwnNames.back().empty(), "each limit has a name");

std::atomic<const LimitNames*> names{&kOwnNames};

}  // namespace

void name_limits(const LimitNames& given) { names = &given; }

std::string_view name_of(Limit limit) { return names.load()->at(static_cast<std::size_t>(limit)); }

}  // namespace rkllm_mcp
