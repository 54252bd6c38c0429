// slow_readers [MINUTES]: on each transport a client takes one message a second of a stream that never ends, and the
// server's memory stays where it is. Then the runs are aborted, and every byte is compared with what the simulator
// recorded. Status 1 if memory has grown, or if a byte is missing or wrong.
#include "support/holdings.hpp"
#include "support/live_server.hpp"
#include "support/rpc_client.hpp"
#include "support/transport.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array kTransports{Transport::kTcp, Transport::kUnix, Transport::kUdp, Transport::kHttp,
                                 Transport::kWebSocket};
constexpr std::chrono::seconds kBetweenMessages{1};
// Buffers fill in the first quarter of the time; from then on nothing is to grow but what an allocator may fancy.
constexpr std::size_t kSlackKb = 2048;

struct Reading {
  std::string prompt;
  std::string text;
  std::size_t messages = 0;
  std::string trouble;  // empty if all went well
};

// As fast as it can be, where what a client does not take is held back or joins. What nobody can hold back has to be
// said slowly: a polled buffer that is full ends its run, and UDP only retains so much to be asked for again.
std::string model_for(const LiveServer& server, Transport transport) {
  const auto paced = [&](double tokens_per_s) {
    return server.write_model(name_of(transport), {{"npu_cores", 1}, {"decode_tokens_per_s", tokens_per_s}});
  };
  if (transport == Transport::kHttp) return paced(200);
  if (transport == Transport::kUdp) return paced(1);
  return shipped_model("fast");
}

void read_slowly(LiveServer& server, Transport transport, Clock::time_point end, Reading& reading) {
  const int first_id = 1 + 1000 * static_cast<int>(transport);
  RpcClient client(server.connect(transport), first_id);
  const std::string handle = client.init(model_for(server, transport));
  reading.prompt = "@n=100000000 @seed=" + std::to_string(first_id) + " for " + std::string(name_of(transport));
  StreamCheck stream = client.watch(client.run_async(handle, reading.prompt));
  const auto take_one = [&] {
    const std::size_t before = stream.chunks();
    client.read_stream(stream, [&] { return stream.chunks() > before || stream.ended(); });
    ++reading.messages;
  };
  while (Clock::now() < end && !stream.ended()) {
    take_one();
    std::this_thread::sleep_for(kBetweenMessages);
  }
  if (stream.ended()) {
    reading.trouble = "ended by itself with " + stream.ending().dump();
    return;
  }
  RpcClient(server.connect(Transport::kTcp)).result("rkllm_abort", {{"handle", handle}});
  while (!stream.ended()) take_one();
  if (!stream.ending().contains("aborted")) reading.trouble = "ended with " + stream.ending().dump();
  reading.text = stream.text();
}

int run(double minutes) {
  // Small messages at that pace move nothing in the kernel's buffers for minutes: the server is to bear that.
  LiveServer server({.set = {"stream.poll_timeout_s=60", "limits.stall_s=3600"}});
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(minutes * 60));
  std::map<Transport, Reading> readings;
  std::vector<std::thread> readers;
  for (const Transport transport : kTransports) {
    readers.emplace_back([&server, transport, end, &reading = readings[transport]] {
      try {
        read_slowly(server, transport, end, reading);
      } catch (const std::exception& error) {
        reading.trouble = error.what();
      }
    });
  }
  std::size_t early = 0;
  std::size_t late = 0;
  while (Clock::now() < end) {
    const std::size_t resident = holdings_of(server.process().pid()).resident_kb;
    std::size_t& most = Clock::now() - begin < (end - begin) / 2 ? early : late;
    most = std::max(most, resident);
    std::this_thread::sleep_for(kBetweenMessages);
  }
  for (auto& reader : readers) reader.join();

  std::map<std::string, std::string> delivered;
  for (const auto& recorded : server.recorded_runs()) delivered[recorded.prompt] = recorded.text;
  bool well = late <= early + kSlackKb;
  for (auto& [transport, reading] : readings) {
    if (reading.trouble.empty() && reading.text != delivered[reading.prompt]) {
      reading.trouble =
          "what arrived is not what was delivered, " + std::to_string(delivered[reading.prompt].size()) + " bytes";
    }
    well = well && reading.trouble.empty();
    std::printf("%-5s %5zu messages, %9zu bytes%s%s\n", std::string(name_of(transport)).c_str(), reading.messages,
                reading.text.size(), reading.trouble.empty() ? ", all as delivered" : ": ", reading.trouble.c_str());
  }
  std::printf("resident, server and workers: at most %zu kB in the first half, %zu kB in the second\n", early, late);
  return well ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace rkllm_mcp::test

int main(int argc, char** argv) {
  const double minutes = argc > 1 ? std::atof(argv[1]) : 5;
  if (!(minutes > 0)) {
    std::fprintf(stderr, "usage: slow_readers [MINUTES]\n");
    return 2;
  }
  return rkllm_mcp::test::run(minutes);
}
