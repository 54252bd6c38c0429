// A worker that answers as its command line says: {"METHOD": [STEP, ...], ...}, a step for each call of the method, of
// which the last is taken again and again. Calls of no method have the name "". A step may have, and is made in this
// order:
//
//   "print": "LINE"                    on standard error
//   "tokens": [[ENTRY, TEXT, ID], ...] in one frame
//   "end": {...}                       the frame END; without it the call goes on for ever
#include "process/descriptor.hpp"
#include "server/worker/receive_some.hpp"
#include "worker/child_process.hpp"
#include "worker/control_socket.hpp"
#include "worker/frame_socket.hpp"

#include <rkllm_mcp/json.hpp>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;

namespace {

struct Line {
  explicit Line(Descriptor end) : socket(std::move(end)) {}

  FrameSocket socket;
  Descriptor news = socket.duplicate();
};

class Script {
 public:
  explicit Script(const char* text) : script_(Json::parse(text)) {}

  void answer(FrameSocket& socket, const Frame& call) {
    const auto name_bytes = static_cast<unsigned char>(call.content.at(1));
    const std::string name(call.content.substr(2, name_bytes));
    const auto steps = script_.find(name);
    if (steps == script_.end()) return;
    const Json& step = steps->at(std::min(made_[name]++, steps->size() - 1));
    if (const auto line = step.find("print"); line != step.end()) {
      const std::string text = line->get<std::string>() + "\n";
      [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    }
    if (const auto tokens = step.find("tokens"); tokens != step.end()) {
      std::string content;
      for (const Json& each : *tokens) {
        const auto text = each.at(1).get<std::string>();
        append_token(content, {each.at(0).get<std::size_t>(), text, each.at(2).get<std::int32_t>()});
      }
      socket.send({.type = FrameType::kTokens, .call = call.head.call}, content);
    }
    if (const auto end = step.find("end"); end != step.end()) {
      socket.send({.type = FrameType::kEnd, .call = call.head.call}, {}, end->dump());
    }
  }

 private:
  const Json script_;
  std::map<std::string, std::size_t> made_;
};

// False when the server has closed it.
bool serve(Line& line, Script& script) try {
  test::receive_some(line.socket);
  while (const auto frame = line.socket.received()) {
    if (frame->head.type == FrameType::kCall) script.answer(line.socket, *frame);
  }
  return true;
} catch (const PeerGone&) {
  return false;
}

}  // namespace

int main(int, char** arguments) {
  Script script(arguments[1]);
  const Descriptor control(ChildProcess::kControlSocket);
  std::list<Line> lines;
  while (true) {
    std::vector<pollfd> waited{{control.number(), POLLIN, 0}};
    for (const Line& line : lines) waited.push_back({line.news.number(), POLLIN, 0});
    ::poll(waited.data(), static_cast<nfds_t>(waited.size()), -1);
    auto news = waited.begin() + 1;
    for (auto line = lines.begin(); line != lines.end(); ++news) {
      const bool is_open = news->revents == 0 || serve(*line, script);
      line = is_open ? std::next(line) : lines.erase(line);
    }
    if (waited.front().revents == 0) continue;
    auto sockets = take_sockets(control);
    if (!sockets) return 0;
    lines.emplace_back(std::move(sockets->ends.first));
    lines.emplace_back(std::move(sockets->ends.second));
  }
}
