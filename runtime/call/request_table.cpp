#include "call/request_table.hpp"

namespace rkllm_mcp {

RequestTable::Key RequestTable::add(SessionNumber session, ActiveCall call) {
  const Key key = ++last_key_;
  calls_.emplace(std::pair(session, key), std::move(call));
  return key;
}

ActiveCall* RequestTable::find(SessionNumber session, Key key) {
  const auto found = calls_.find({session, key});
  return found == calls_.end() ? nullptr : &found->second;
}

void RequestTable::remove(SessionNumber session, Key key) {
  // Destroyed only after it has left the table: destroying what it holds may remove other requests.
  const auto gone = calls_.extract({session, key});
}

void RequestTable::remove_all_of(SessionNumber session) {
  for (auto mine = of(session); mine.begin() != mine.end(); mine = of(session)) calls_.extract(mine.first);
}

}  // namespace rkllm_mcp
