// What the chat host costs: answers of a model that takes no time, over POST /v1/chat/completions, beside the same over
// the direct dialect, a bare loop of Server-Sent Events, and a Flask server shaped like the vendor's demo. Usage:
// benchmark_chat RKLLM_MCP LIBRARY FAST_MODEL FLASK_SHAPE. Printed are medians of rounds that take turns.
#include "measured_server.hpp"

#include <time.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <sstream>
#include <tuple>

namespace {

using namespace benchmarks;

constexpr int kFirstRounds = 200;  // of a few tokens each, for the time to the first
constexpr int kFewTokens = 16;
constexpr int kRounds = 9;
constexpr int kTokens = 10'000;
constexpr std::string_view kFirstWord = "This";  // with which every answer here begins
const std::string kModelName = "qwen2-fast";

std::string prompt_of(int tokens) { return "@n=" + std::to_string(tokens) + " Hello"; }

// --- what is asked --------------------------------------------------------------------------------------------------

struct Taken {
  double first_ms;
  double all_s;
};

// Sends a request, and reads until the other side is done: at the end of the connection, or behind `end`.
Taken take(std::uint16_t port, const std::string& request, std::string_view end = {}) {
  static std::array<char, 1 << 18> bytes;
  const int socket = connected(port);
  const auto begun = Clock::now();
  require(::send(socket, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size()),
          "cannot send");
  Taken taken{-1, 0};
  std::string received;
  for (ssize_t size = 0; (size = ::recv(socket, bytes.data(), bytes.size(), 0)) > 0;) {
    constexpr std::size_t kKept = 4096;
    if (taken.first_ms >= 0 && received.size() > kKept) received.erase(0, received.size() - kKept);
    received.append(bytes.data(), static_cast<std::size_t>(size));
    if (taken.first_ms < 0 && received.find(kFirstWord) != std::string::npos)
      taken.first_ms = 1e3 * seconds_since(begun);
    if (!end.empty() && received.back() == '\n' && received.find(end) != std::string::npos) break;
  }
  taken.all_s = seconds_since(begun);
  ::close(socket);
  if (taken.first_ms < 0) throw std::runtime_error("no answer, but: " + received);
  return taken;
}

std::string post(const std::string& path, const Json& body) {
  const std::string text = body.dump();
  return "POST " + path +
         " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(text.size()) + "\r\n\r\n" + text;
}

Json chat_body(int tokens) {
  return {{"model", kModelName},
          {"stream", true},
          {"max_tokens", tokens},
          {"messages", {{{"role", "user"}, {"content", prompt_of(tokens)}}}}};
}

Taken take_direct(const Server& server, const std::string& handle, int tokens) {
  const Json params{{"handle", handle}, {"rkllm_input", {{"prompt_input", prompt_of(tokens)}}}};
  const Json request{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "rkllm_run_async"}, {"params", params}};
  return take(server.port(), request.dump() + "\n", R"("end":true)");
}

// --- the floor ------------------------------------------------------------------------------------------------------

// One thread that answers every request with so many events, each sent by itself.
class SseLoop {
 public:
  SseLoop() {
    std::tie(listener_, port_) = listening();
    thread_ = std::thread([this] { serve(); });
  }
  ~SseLoop() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  SseLoop(const SseLoop&) = delete;
  SseLoop& operator=(const SseLoop&) = delete;

  Taken take_tokens(int tokens) {
    tokens_ = tokens;
    return take(port_, post("/", chat_body(tokens)));
  }
  double cpu() const { return cpu_; }

 private:
  void serve() {
    for (int client = 0; (client = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(client)) {
      const int on = 1;
      ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      std::array<char, 4096> request;
      if (::recv(client, request.data(), request.size(), 0) <= 0) continue;
      const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
      // As long as one of the chat host's.
      const std::string event =
          R"(data: {"id":"chatcmpl-dcf2221a06c880252b87ab01","object":"chat.completion.chunk","created":1795537068,)"
          R"("model":"qwen2-fast","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":"This"},)"
          R"("logprobs":null,"finish_reason":null}]})"
          "\n\n";
      ::send(client, head.data(), head.size(), MSG_NOSIGNAL);
      for (int token = 0; token < tokens_; ++token) ::send(client, event.data(), event.size(), MSG_NOSIGNAL);
      timespec time{};
      ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      cpu_ = static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
    }
  }

  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> tokens_ = 0;
  std::atomic<double> cpu_ = 0;
  std::thread thread_;
};

// What a process has used of the processors, in seconds, its threads that have ended included; to a hundredth.
double cpu_with_ended_threads(pid_t process) {
  constexpr int kUserTime = 11;  // the 14th word, of which two are before the last ')'
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line.substr(line.rfind(')') + 1));
  std::string skipped;
  for (int each = 0; each < kUserTime; ++each) words >> skipped;
  double user = 0;
  double system = 0;
  words >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// --- the vendor's shape ---------------------------------------------------------------------------------------------

class FlaskShape {
 public:
  explicit FlaskShape(const std::string& script) {
    const std::string ports = std::filesystem::temp_directory_path() / ("rkllm-flask-" + std::to_string(::getpid()));
    std::vector<std::string> words{"python3", script, ports};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    require(::posix_spawnp(&process_, "python3", nullptr, nullptr, argv.data(), environ) == 0, "cannot start python3");
    while (!std::filesystem::exists(ports)) {
      require(::waitpid(process_, nullptr, WNOHANG) == 0, "the Python server has ended");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const Json told = Json::parse(std::ifstream(ports));
    port_ = told.at("port").get<std::uint16_t>();
    kind_ = told.at("kind").get<std::string>();
    std::filesystem::remove(ports);
  }
  ~FlaskShape() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  FlaskShape(const FlaskShape&) = delete;
  FlaskShape& operator=(const FlaskShape&) = delete;

  Taken take_tokens(int tokens) const { return take(port_, post("/rkllm_chat", chat_body(tokens))); }
  double cpu() const { return cpu_with_ended_threads(process_); }
  const std::string& kind() const { return kind_; }

 private:
  pid_t process_ = -1;
  std::uint16_t port_ = 0;
  std::string kind_;
};

// --- what is measured -----------------------------------------------------------------------------------------------

struct Side {
  const char* name;
  std::function<Taken(int tokens)> ask;
  std::function<double()> cpu;
  std::vector<double> first{}, speed{}, used{};
};

void measure(std::vector<Side>& sides) {
  for (Side& side : sides) side.ask(kTokens);  // what is made once
  for (int round = 0; round < kFirstRounds; ++round) {
    for (Side& side : sides) {
      side.first.push_back(side.ask(kFewTokens).first_ms);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // what is done behind an answer is done
    }
  }
  for (int round = 0; round < kRounds; ++round) {
    for (Side& side : sides) {
      const double before = side.cpu();
      side.speed.push_back(kTokens / side.ask(kTokens).all_s);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      side.used.push_back((side.cpu() - before) / kTokens * 10'000);
    }
  }
}

void print(const char* what, const std::vector<Side>& sides, std::vector<double> Side::*figures, int digits) {
  std::printf("%-32s", what);
  for (const Side& side : sides) std::printf(" %14.*f", digits, median(side.*figures));
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  try {
    const std::string model = std::filesystem::absolute(argv[3]);
    const Json param{{"model_path", model}, {"max_context_len", 16384}};
    const Json models{{kModelName, {{"param", param}, {"template", "qwen2"}}}};
    const Server server(argv[1], argv[2], {"models=" + models.dump()});
    Line line(server.port());
    const Json loaded = line.call("rkllm_init", {{"param", param}});
    const auto handle = loaded.at("result").at("handle").get<std::string>();
    SseLoop loop;
    const FlaskShape flask(argv[4]);
    std::vector<Side> sides;
    sides.push_back(
        {"SSE loop", [&loop](int tokens) { return loop.take_tokens(tokens); }, [&loop] { return loop.cpu(); }});
    sides.push_back(
        {"direct", [&](int tokens) { return take_direct(server, handle, tokens); }, [&] { return server.cpu(); }});
    sides.push_back(
        {"chat", [&](int tokens) { return take(server.port("http"), post("/v1/chat/completions", chat_body(tokens))); },
         [&] { return server.cpu(); }});
    sides.push_back(
        {"Flask shape", [&flask](int tokens) { return flask.take_tokens(tokens); }, [&flask] { return flask.cpu(); }});
    measure(sides);
    std::printf("%-32s", "the chat host, 0 ms model time");
    for (const Side& side : sides) std::printf(" %14s", side.name);
    std::printf("\n");
    print("ms to the first token", sides, &Side::first, 3);
    print("CPU s per 10,000 tokens", sides, &Side::used, 4);
    print("tokens/s", sides, &Side::speed, 0);
    std::printf("added by chat to direct: %.3f ms to the first token, %.4f CPU s per 10,000 tokens; Flask shape: %s\n",
                median(sides[2].first) - median(sides[1].first), median(sides[2].used) - median(sides[1].used),
                flask.kind().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "benchmark_chat: %s\n", error.what());
    return 1;
  }
}
