#include "server/memory/written.hpp"

#include <deque>
#include <exception>
#include <utility>

namespace rkllm_mcp::test {

void write_on(LiveServer& server, Written& written, const std::string& prefix, std::atomic<std::size_t>& count,
              const std::atomic<bool>& stop) {
  constexpr std::size_t kAhead = 8;
  std::deque<std::pair<int, std::string>> under_way;
  try {
    RpcClient client(server.connect(Transport::kTcp));
    for (std::size_t number = 0; !stop || !under_way.empty();) {
      while (!stop && under_way.size() < kAhead) {
        const std::string content = prefix + std::to_string(number++);
        written.asked.push_back(content);
        under_way.emplace_back(client.send(kPrefix + "add_message",
                                           of_chat(written.conversation, {{"role", "user"}, {"content", content}})),
                               content);
      }
      if (under_way.empty()) return;
      const auto [id, content] = under_way.front();
      under_way.pop_front();
      if (!client.answer(id).contains("result")) continue;
      written.acknowledged.insert(content);
      ++count;
    }
  } catch (const std::exception&) {
    return;  // it has gone
  }
}

std::string fault_of(const std::vector<std::string>& found, const Written& written) {
  std::size_t acknowledged = 0;
  auto next = written.asked.begin();
  for (const std::string& content : found) {
    while (next != written.asked.end() && *next != content) ++next;
    if (next == written.asked.end()) return content + " is there twice, or in the wrong place";
    ++next;
    acknowledged += written.acknowledged.count(content);
  }
  if (acknowledged == written.acknowledged.size()) return {};
  return std::to_string(written.acknowledged.size() - acknowledged) + " acknowledged messages are not there";
}

}  // namespace rkllm_mcp::test
