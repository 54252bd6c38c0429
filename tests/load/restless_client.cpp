#include "restless_client.hpp"

#include <signal.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>

namespace rkllm_mcp::test {
namespace {

constexpr int kIdsPerConnection = 1'000'000;  // plain HTTP's clients share a session, so their ids may not meet
constexpr std::chrono::milliseconds kSlowness{2};

}  // namespace

RestlessClient::RestlessClient(LiveServer& server, Transport transport, Isolation isolation, unsigned seed,
                               Ledger& ledger, SoakCounts& counts)
    : server_(server),
      transport_(transport),
      isolation_(isolation),
      first_id_(static_cast<int>(seed % 1000) * kIdsPerConnection),
      random_(seed),
      ledger_(ledger),
      counts_(counts),
      name_(std::string(test::name_of(transport)) + "-" + std::to_string(seed)) {}

void RestlessClient::connect() {
  constexpr int kIdsOfOne = 1000;
  rpc_ = std::make_unique<RpcClient>(server_.connect(transport_), first_id_ + 1 + kIdsOfOne * connections_++);
}

void RestlessClient::load() {
  ++counts_.requests;
  handle_ = rpc_->init(shipped_model("fast"));
  killed_ = false;
}

void RestlessClient::work(const std::function<bool()>& enough) {
  using Deed = void (RestlessClient::*)();
  // What is listed more than once is done more often.
  static constexpr std::array<Deed, 13> kDeeds{&RestlessClient::run_to_the_end,
                                               &RestlessClient::run_to_the_end,
                                               &RestlessClient::run_to_the_end,
                                               &RestlessClient::run_to_the_end,
                                               &RestlessClient::read_slowly,
                                               &RestlessClient::cancel,
                                               &RestlessClient::cancel,
                                               &RestlessClient::leave,
                                               &RestlessClient::leave,
                                               &RestlessClient::kill_worker,
                                               &RestlessClient::ask_around,
                                               &RestlessClient::load_anew,
                                               &RestlessClient::send_long_messages};
  connect();
  load();
  while (!enough()) (this->*kDeeds[random_() % kDeeds.size()])();
  rpc_->result("rkllm_destroy", {{"handle", handle_}});
}

std::string RestlessClient::new_prompt(int tokens) {
  return "@n=" + std::to_string(tokens) + " @seed=" + std::to_string(random_() % 100'000) + " " + name_ + " run " +
         std::to_string(++runs_);
}

int RestlessClient::start(int tokens) {
  ++counts_.requests;
  prompt_ = new_prompt(tokens);
  return rpc_->run_async(handle_, prompt_);
}

void RestlessClient::finish(const StreamCheck& stream) {
  Ending ending = stream.ending().contains("aborted") ? Ending::kAborted : Ending::kWhole;
  if (!stream.ended()) {
    ending = Ending::kCut;
  } else if (stream.ending().contains("error")) {
    const int code = stream.ending()["error"]["code"].get<int>();
    const bool had_died = code == 4002 && killed_;  // its worker, before the request came
    if (code == 4009 || had_died) {
      ending = Ending::kRefused;
    } else if (code == 4005) {
      ending = Ending::kKilled;
    } else {
      throw std::runtime_error(name_ + ": " + prompt_ + " ended with " + stream.ending().dump());
    }
  }
  ledger_.note({prompt_, stream.text(), ending});
}

void RestlessClient::run_to_the_end() { finish(rpc_->stream(start(static_cast<int>(1 + random_() % 2000)))); }

void RestlessClient::read_slowly() {
  ++counts_.slow_reads;
  const int id = start(300);
  StreamCheck stream = rpc_->watch(id);
  rpc_->read_stream(stream, [&] {
    std::this_thread::sleep_for(kSlowness);
    return stream.ended();
  });
  finish(stream);
}

void RestlessClient::cancel() {
  ++counts_.cancels;
  const int id = start(200'000);
  StreamCheck stream = rpc_->watch(id);
  const std::size_t wanted = random_() % 50;
  rpc_->read_stream(stream, [&] { return stream.chunks() >= wanted || stream.ended(); });
  rpc_->send_text(
      Json{{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", id}}}}.dump());
  rpc_->read_stream(stream, [&] { return stream.ended(); });
  finish(stream);
}

void RestlessClient::leave() {
  ++counts_.disconnects;
  const int id = start(20'000);
  StreamCheck stream = rpc_->watch(id);
  const std::size_t wanted = random_() % 50;
  rpc_->read_stream(stream, [&] { return stream.chunks() >= wanted || stream.ended(); });
  finish(stream);
  connect();
}

void RestlessClient::kill_worker() {
  if (isolation_ == Isolation::kThread) return;  // that would be the server
  const Json read = rpc_->result("resources/read", {{"uri", "rkllm://handles/" + handle_}});
  const Json status = Json::parse(read.at("contents").at(0).at("text").get<std::string>());
  ++counts_.kills;
  const int id = start(50'000);
  StreamCheck stream = rpc_->watch(id);
  const std::size_t wanted = random_() % 50;
  rpc_->read_stream(stream, [&] { return stream.chunks() >= wanted || stream.ended(); });
  killed_ = true;
  ::kill(status.at("process").get<pid_t>(), SIGKILL);
  rpc_->read_stream(stream, [&] { return stream.ended(); });
  finish(stream);
  load();
}

void RestlessClient::ask_around() {
  counts_.requests += 3;
  rpc_->result("rkllm_is_running", {{"handle", handle_}});
  rpc_->result("CPU4");
  const Json refused = rpc_->call("rkllm_is_running", {{"handle", "nobody"}});
  if (!refused.contains("error") || refused["error"]["code"] != 4002) {
    throw std::runtime_error(name_ + ": an unknown handle was answered with " + refused.dump());
  }
}

// So long that threads of their own parse or write them: a run (in blanks, as a longer prompt would not fit), a handle,
// and an answer that comes as a whole.
void RestlessClient::send_long_messages() {
  if (transport_ == Transport::kUdp) return;  // a datagram has no room for them
  constexpr std::size_t kLongBytes = 200'000;
  constexpr int kTokensOfLongAnswer = 40'000;
  counts_.requests += 3;
  counts_.long_messages += 3;
  prompt_ = new_prompt(20);
  const Json id = prompt_;
  const Json request{
      {"jsonrpc", "2.0"}, {"id", id}, {"method", "rkllm_run_async"}, {"params", run_params(handle_, prompt_)}};
  rpc_->send_text("{" + std::string(kLongBytes, ' ') + request.dump().substr(1));
  finish(rpc_->stream(id));

  const Json refused = rpc_->call("rkllm_is_running", {{"handle", std::string(kLongBytes, 'y')}});
  if (!refused.contains("error") || refused["error"]["code"] != 4002) {
    throw std::runtime_error(name_ + ": a long handle was answered with " + refused.dump().substr(0, 1000));
  }

  prompt_ = new_prompt(kTokensOfLongAnswer);
  const Json answer = rpc_->result("rkllm_run", run_params(handle_, prompt_));
  const auto text = answer.at("text").get<std::string>();
  if (text.size() < kLongBytes / 2) throw std::runtime_error(name_ + ": an answer of " + std::to_string(text.size()));
  ledger_.note({prompt_, text, Ending::kWhole});
}

void RestlessClient::load_anew() {
  ++counts_.requests;
  rpc_->result("rkllm_destroy", {{"handle", handle_}});
  load();
}

}  // namespace rkllm_mcp::test
