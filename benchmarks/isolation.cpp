// What worker processes cost: the same runs and calls with runtime.isolation=thread and =process, beside floors.
// Usage: benchmark_isolation RKLLM_MCP LIBRARY FAST_MODEL. Printed are medians of rounds that take turns.
#include "measured_server.hpp"

#include <time.h>

#include <cstdio>
#include <functional>
#include <future>

namespace {

using namespace benchmarks;

constexpr int kRounds = 5;
constexpr int kTokens = 2'000'000;
constexpr int kSingleTokens = 500'000;
constexpr int kCalls = 20'000;
constexpr int kHttpClients = 16;
constexpr int kHttpCalls = 2'000;  // of each
constexpr int kPacedPerSecond = 50;
constexpr int kPacedTokens = 400;
constexpr int kPacedRounds = 3;

// --- what is measured -----------------------------------------------------------------------------------------------

struct Figures {
  std::vector<double> joined, joined_cpu, single, call, http, paced;
};

struct PacedFloors {
  std::vector<double> local, tcp;
};

Json run_params(const std::string& handle, int tokens) {
  return {{"handle", handle}, {"rkllm_input", {{"prompt_input", "@n=" + std::to_string(tokens)}}}};
}

std::string load(Line& line, const std::string& model) {
  return line.call("rkllm_init", {{"param", {{"model_path", model}}}}).at("result").at("handle").get<std::string>();
}

// Sends a request over a connection that stays open, and reads the answer, which has to be a result.
void exchange(int socket, const std::string& request) {
  constexpr std::string_view kEndOfHead = "\r\n\r\n";
  constexpr std::string_view kLength = "Content-Length: ";
  require(::send(socket, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size()),
          "cannot send");
  std::string answer;
  std::size_t whole = std::string::npos;
  while (answer.size() < whole) {
    std::array<char, 4096> bytes;
    const ssize_t size = ::recv(socket, bytes.data(), bytes.size(), 0);
    require(size > 0, "the server closed the connection");
    answer.append(bytes.data(), static_cast<std::size_t>(size));
    const std::size_t head = answer.find(kEndOfHead);
    if (head == std::string::npos) continue;
    const std::size_t length = answer.find(kLength);
    require(length < head, "the answer has no length");
    whole = head + kEndOfHead.size() + std::stoul(answer.substr(length + kLength.size()));
  }
  require(answer.find(R"("result")") != std::string::npos, "a call has failed");
}

// Calls a second of clients that make them over HTTP at the same time, each over a connection of its own.
double http_calls(const Server& server, const std::string& handle) {
  const std::string body =
      Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "rkllm_get_kv_cache_size"}, {"params", {{"handle", handle}}}}
          .dump();
  const std::string request =
      "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  const auto begun = Clock::now();
  std::vector<std::future<void>> clients;
  for (int each = 0; each < kHttpClients; ++each) {
    clients.push_back(std::async(std::launch::async, [&] {
      const int socket = connected(server.port("http"));
      for (int call = 0; call < kHttpCalls; ++call) exchange(socket, request);
      ::close(socket);
    }));
  }
  for (auto& client : clients) client.get();
  return kHttpClients * kHttpCalls / seconds_since(begun);
}

// Seconds that a streamed run takes.
double stream(Line& line, const Json& params) {
  const auto begun = Clock::now();
  line.send(Json{{"jsonrpc", "2.0"}, {"id", 2}, {"method", "rkllm_run_async"}, {"params", params}}.dump());
  line.read_to_end();
  return seconds_since(begun);
}

void measure_speed(const Server& server, const std::string& handle, Figures& figures) {
  Line line(server.port());
  const double cpu = server.cpu();
  figures.joined.push_back(kTokens / stream(line, run_params(handle, kTokens)));
  figures.joined_cpu.push_back((server.cpu() - cpu) / kTokens * 10'000);
  Json apart = run_params(handle, kSingleTokens);
  apart["include"] = {"token_id"};
  figures.single.push_back(kSingleTokens / stream(line, apart));
  std::vector<double> times;
  for (int each = 0; each < kCalls; ++each) {
    const auto begun = Clock::now();
    line.call("rkllm_get_kv_cache_size", {{"handle", handle}});
    times.push_back(1e6 * seconds_since(begun));
  }
  figures.call.push_back(median(times));
  figures.http.push_back(http_calls(server, handle));
}

void measure_paced(const Server& server, const std::string& handle, Figures& figures) {
  Line line(server.port());
  const double cpu = server.cpu();
  stream(line, run_params(handle, kPacedTokens));
  figures.paced.push_back(1e6 * (server.cpu() - cpu) / kPacedTokens);
}

// Two ends, the first for who writes.
std::array<int, 2> local_ends() {
  std::array<int, 2> ends{};
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, "cannot make sockets");
  return ends;
}

std::array<int, 2> tcp_ends() {
  const auto [listener, port] = listening();
  const int reader = connected(port);
  const int writer = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  require(writer >= 0, "cannot accept");
  const int on = 1;
  ::setsockopt(writer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::close(listener);
  return {writer, reader};
}

// A thread that writes 120 bytes so many times a second to the first of `ends`, which are closed then: microseconds of
// processor time each.
double paced_floor(const std::array<int, 2>& ends) {
  std::thread reader([&] {
    std::array<char, 4096> bytes;
    while (::recv(ends[1], bytes.data(), bytes.size(), 0) > 0) {
    }
  });
  double used = 0;
  std::thread writer([&] {
    const std::string text(120, 'x');
    const auto begun = Clock::now();
    for (int each = 0; each < kPacedTokens; ++each) {
      std::this_thread::sleep_until(begun + each * std::chrono::milliseconds(1000 / kPacedPerSecond));
      require(::send(ends[0], text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()), "cannot send");
    }
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    used = 1e6 * (static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9) / kPacedTokens;
  });
  writer.join();
  ::shutdown(ends[0], SHUT_RDWR);
  reader.join();
  for (const int end : ends) ::close(end);
  return used;
}

// Microseconds for a line of a call's size to a thread of this process and back.
double echo_floor() {
  const auto [listener, port] = listening();
  std::thread echo([listener = listener] {
    const int client = ::accept(listener, nullptr, nullptr);
    const int on = 1;
    ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    std::array<char, 4096> bytes;
    for (ssize_t got = 0; (got = ::recv(client, bytes.data(), bytes.size(), 0)) > 0;) {
      if (::send(client, bytes.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) != got) break;
    }
    ::close(client);
  });
  std::vector<double> times;
  {
    Line line(port);
    for (int each = 0; each < kCalls; ++each) {
      const auto begun = Clock::now();
      line.call("rkllm_get_kv_cache_size", {{"handle", "llm-1"}});
      times.push_back(1e6 * seconds_since(begun));
    }
  }
  echo.join();
  ::close(listener);
  return median(times);
}

// A line of the table.
struct Row {
  const char* name;
  const std::vector<double>& thread;
  const std::vector<double>& process;
  int digits;
  double floor = 0;  // 0: there is none
};

void print(const Row& row, const std::string& asked, bool is_met) {
  const double one = median(row.thread);
  const double other = median(row.process);
  std::array<char, 32> floor{};
  if (row.floor > 0) std::snprintf(floor.data(), floor.size(), "%.*f", row.digits, row.floor);
  std::printf("%-42s %12s %12.*f %12.*f %8.2f  %s%s\n", row.name, floor.data(), row.digits, one, row.digits, other,
              other / one, asked.c_str(),
              asked.empty() ? ""
              : is_met      ? ": met"
                            : ": NOT MET");
}

std::string write_paced_model(const std::string& fast) {
  Json model = Json::parse(std::ifstream(fast));
  model["decode_tokens_per_s"] = kPacedPerSecond;
  std::string path = std::filesystem::temp_directory_path() / ("rkllm-paced-" + std::to_string(::getpid()) + ".json");
  std::ofstream(path) << model;
  return path;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    const std::string paced_model = write_paced_model(argv[3]);
    const Server in_thread(argv[1], argv[2], {"runtime.isolation=thread"});
    const Server in_process(argv[1], argv[2], {"runtime.isolation=process"});
    struct Place {
      const Server& server;
      Figures figures{};
      std::string fast{}, paced{};
    };
    std::array places{Place{in_thread}, Place{in_process}};
    for (Place& place : places) {
      Line line(place.server.port());
      place.fast = load(line, argv[3]);
      place.paced = load(line, paced_model);
      stream(line, run_params(place.fast, 10'000));
    }
    for (int round = 0; round < kRounds; ++round) {
      for (Place& place : places) measure_speed(place.server, place.fast, place.figures);
    }
    PacedFloors floors;
    for (int round = 0; round < kPacedRounds; ++round) {
      floors.local.push_back(paced_floor(local_ends()));
      floors.tcp.push_back(paced_floor(tcp_ends()));
      for (Place& place : places) measure_paced(place.server, place.paced, place.figures);
    }
    std::filesystem::remove(paced_model);
    const auto& [thread, process] = places;
    const Figures& one = thread.figures;
    const Figures& other = process.figures;
    const auto ratio = [](const std::vector<double>& to, const std::vector<double>& of) {
      return median(to) / median(of);
    };
    std::printf("%-42s %12s %12s %12s %8s  %s\n", "isolation", "floor", "thread", "process", "ratio",
                "asked of process");
    print({"tokens/s, joined", one.joined, other.joined, 0}, "ratio of 0.7 and more",
          ratio(other.joined, one.joined) >= 0.7);
    print({"tokens/s, a message each", one.single, other.single, 0}, "", true);
    print({"CPU s per 10,000 tokens, joined", one.joined_cpu, other.joined_cpu, 4}, "ratio of at most 1.5",
          ratio(other.joined_cpu, one.joined_cpu) <= 1.5);
    print({"a call, us (floor: TCP echo)", one.call, other.call, 1, echo_floor()}, "at most 60 us more",
          median(other.call) - median(one.call) <= 60);
    print({"calls/s, 16 clients over HTTP", one.http, other.http, 0}, "", true);
    // The server writes to TCP, and its worker to a local socket: asked is at most three times either.
    const auto print_paced = [&](const char* name, const std::vector<double>& floor) {
      print({name, one.paced, other.paced, 1, median(floor)}, "at most 3 floors",
            median(other.paced) <= 3 * median(floor));
    };
    print_paced("CPU us per token at 50/s (a thread, TCP)", floors.tcp);
    print_paced("the same (a thread, local socket)", floors.local);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "benchmark_isolation: %s\n", error.what());
    return 1;
  }
}
