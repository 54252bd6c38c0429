// chat_load [CLIENTS [TURNS]]: clients with conversations and access tokens of their own on two models over the chat
// endpoints. Nothing is mixed; a model's turns run in the order in which they came; one access token has at most
// queue.max_per_token places; 503, with Retry-After, only where a queue is full. Status 1 if anything is otherwise.
#include "chat_client.hpp"

#include "support/live_server.hpp"
#include "support/process.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

const std::array<std::string, 2> kModels{"qwen2-left", "qwen2-right"};
constexpr std::size_t kPlacesOfToken = 3;

// "client-007": no name is the beginning of another.
std::string client_name(std::size_t number) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "client-%03zu", number);
  return text.data();
}

std::string token_of(const std::string& name) { return "token-of-length-20-" + name; }

class ChatLoad {
 public:
  ChatLoad(std::size_t clients, std::size_t turns) : clients_(clients), turns_(turns) {
    std::string tokens;
    for (std::size_t number = 0; number < clients_; ++number) add_token(tokens, client_name(number));
    for (const char* const name : {"holder", "greedy", "late", "looking"}) add_token(tokens, name);
    const std::string path = directory_ / "tokens";
    write_file(path, tokens);
    if (chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0) throw std::runtime_error("the file of tokens");
    LiveServer::Options options;
    options.set = {chat_models({kModels.begin(), kModels.end()}, model_file()), "auth.tokens=" + path,
                   "queue.max_per_handle=" + std::to_string(clients_),
                   "queue.max_per_token=" + std::to_string(kPlacesOfToken)};
    server_ = std::make_unique<LiveServer>(options);
    http_ = std::make_unique<HttpClient>(server_->endpoint(Transport::kHttp));
    http_->carry_header("Authorization", "Bearer " + token_of("looking"));
  }

  bool passes() {
    converse();
    for (const std::string& model : kModels) fill(model);
    for (const std::string& failure : failures_) std::printf("failed: %s\n", failure.c_str());
    std::printf("%zu clients, %zu turns each; %zu complaints\n", clients_, turns_, failures_.size());
    return failures_.empty();
  }

 private:
  // Fast, but not so fast that what holds it ends before others have come: the context takes 20 s.
  std::string model_file() const {
    const Json file{{"rkllm_simulated_model", 1}, {"name", "SIMULATED two hundred"}, {"decode_tokens_per_s", 200}};
    write_file(directory_ / "model.json", file.dump());
    return directory_ / "model.json";
  }

  static void add_token(std::string& tokens, const std::string& name) {
    tokens += name + "  " + token_of(name) + "  call\n";
  }

  ChatClient client(const std::string& name, const std::string& model, unsigned seed = 1) const {
    return ChatClient(*server_, {.name = name, .model = model, .token = token_of(name), .seed = seed});
  }

  void complain(const std::string& complaint) {
    const std::lock_guard lock(mutex_);
    failures_.push_back(complaint);
  }

  std::thread started(std::function<void()> work) {
    return std::thread([this, work = std::move(work)] {
      try {
        work();
      } catch (const std::exception& error) {
        complain(error.what());
      }
    });
  }

  // All at once, each with its own conversation. No queue has fewer places than there are clients: none is refused.
  void converse() {
    std::vector<std::thread> threads;
    for (std::size_t number = 0; number < clients_; ++number) {
      threads.push_back(started([this, number] {
        auto talker = client(client_name(number), kModels.at(number % kModels.size()), static_cast<unsigned>(number));
        for (std::size_t turn = 0; turn < turns_; ++turn) talker.talk();
      }));
    }
    for (std::thread& thread : threads) thread.join();
    for (const RecordedRun& run : server_->recorded_runs()) {
      std::size_t named = 0;
      for (std::size_t number = 0; number < clients_; ++number) {
        if (run.prompt.find(client_name(number)) != std::string::npos) ++named;
      }
      if (named != 1) complain("a prompt has words of " + std::to_string(named) + " clients: " + run.prompt);
    }
  }

  // The one whose turn it is does not count.
  std::size_t waiting(const std::string& model) {
    const auto all = http_->get("/v1/models/" + model).json().at("rkllm").at("waiting").get<std::size_t>();
    return all == 0 ? 0 : all - 1;
  }

  void await_waiting(const std::string& model, std::size_t wanted) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (waiting(model) != wanted) {
      if (std::chrono::steady_clock::now() > deadline) {
        throw std::runtime_error(std::to_string(waiting(model)) + " wait for " + model + ", not " +
                                 std::to_string(wanted));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  void expect_refusal(const HttpAnswer& answer, const std::string& whose) {
    if (answer.status == 503 && answer.headers.count("Retry-After") == 1 &&
        answer.json()["error"]["code"] == "queue_full") {
      return;
    }
    complain(whose + " should have been refused: " + std::to_string(answer.status) + " " + answer.body);
  }

  // While one holds the model, others come one after the other until its queue is full; then it is let go.
  void fill(const std::string& model) {
    const std::size_t runs_before = server_->recorded_runs().size();
    std::vector<std::thread> waiting_clients;
    std::vector<std::string> order;  // in which they came
    const auto come = [&](const std::string& name) {
      const std::string text = name + " is number " + std::to_string(order.size());
      waiting_clients.push_back(started([this, name, model, text, place = order.size()] {
        const HttpAnswer answer = client(name, model).ask(text);
        const auto position = answer.headers.find("x-rkllm-queue-position");
        if (answer.status != 200 || answer.json()["choices"][0]["message"]["content"] != text) {
          complain(name + " was answered with " + std::to_string(answer.status) + " " + answer.body);
        } else if (position == answer.headers.end() || position->second != std::to_string(place + 1)) {
          complain(name + " was told another position than " + std::to_string(place + 1));
        }
      }));
      order.push_back(text);
      await_waiting(model, order.size());
    };
    const auto fill_queue = [&] {
      for (std::size_t place = 0; place < kPlacesOfToken; ++place) come("greedy");
      expect_refusal(client("greedy", model).ask("one too many"), "one token's next");
      for (std::size_t number = 0; order.size() < clients_; ++number) come(client_name(number));
      expect_refusal(client("late", model).ask("too late"), "the one for whom there is no place");
    };
    client("holder", model).hold([&] {
      started(fill_queue).join();
      return true;  // and the model is free
    });
    for (std::thread& thread : waiting_clients) thread.join();
    expect_order(runs_before, order);
    const HttpAnswer after = client("late", model).ask("in time");
    if (after.status != 200) complain("an empty queue refuses: " + after.body);
  }

  void expect_order(std::size_t runs_before, const std::vector<std::string>& order) {
    std::vector<std::string> ran;
    const std::vector<RecordedRun> runs = server_->recorded_runs();
    for (std::size_t i = runs_before; i < runs.size(); ++i) {
      if (std::ranges::find(order, runs[i].text) != order.end()) ran.push_back(runs[i].text);
    }
    if (ran != order) complain("turns did not run in the order in which they came");
  }

  const std::size_t clients_;
  const std::size_t turns_;
  const TemporaryDirectory directory_;
  std::unique_ptr<LiveServer> server_;
  std::unique_ptr<HttpClient> http_;
  std::mutex mutex_;
  std::vector<std::string> failures_;
};

}  // namespace
}  // namespace rkllm_mcp::test

int main(int argc, char** argv) {
  const long clients = argc > 1 ? std::atol(argv[1]) : 10;
  const long turns = argc > 2 ? std::atol(argv[2]) : 8;
  if (clients < 4 || clients > 999 || turns < 1) {
    std::fprintf(stderr, "usage: chat_load [CLIENTS [TURNS]], 4 to 999 clients\n");
    return 2;
  }
  const bool passes =
      rkllm_mcp::test::ChatLoad(static_cast<std::size_t>(clients), static_cast<std::size_t>(turns)).passes();
  return passes ? EXIT_SUCCESS : EXIT_FAILURE;
}
