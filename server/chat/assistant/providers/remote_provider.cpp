#include "chat/assistant/providers/remote_provider.hpp"

#include "auth/owner.hpp"
#include "chat/assistant/providers/remote_protocol.hpp"
#include "client/http/http_error.hpp"
#include "lifetime.hpp"
#include "text/ascii.hpp"
#include "text/regular_file.hpp"
#include "threads/stop_signal.hpp"
#include "verified_client.hpp"

#include <rkllm_mcp/errors.hpp>

#include <httplib.h>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace rkllm_mcp::chat {
namespace {

constexpr std::size_t kMostAnswerBytes = std::size_t{16} << 20U;  // of an answer
constexpr std::size_t kMostComplaintBytes = 200;                  // that are passed on of what the other server says
constexpr int kOk = 200;

// Throws without the path, which is not the client's to know.
std::string access_key(const std::string& file) try {
  return first_line(read_private_file(file));
} catch (const std::exception&) {
  throw std::runtime_error(
      "the file of its access key cannot be read, or others may read it (key_file of the profile)");
}

std::unique_ptr<httplib::ClientImpl> client_for(const Url& url, const RemoteProvider::Options& options,
                                                StopSignal& stop) {
  auto client = new_verified_client(url, options.ca_file);
  client->set_connection_timeout(options.to_connect);
  client->set_read_timeout(options.patience);
  client->set_write_timeout(options.to_connect);
  client->set_tcp_nodelay(true);
  client->set_socket_options([&stop](auto socket) { stop.watch(static_cast<int>(socket)); });
  return client;
}

}  // namespace

// One text, from its request to its end. The thread that asks for it holds what it needs itself.
class RemoteProvider::Text final : public Running {
 public:
  Text(RemoteProvider& provider, TurnListener& listener, ProviderKind kind, RemoteRequest request, std::string key_file)
      : provider_(provider), listener_(&listener), shared_(std::make_shared<Shared>()) {
    shared_->kind = kind;
    shared_->request = std::move(request);
    shared_->key_file = std::move(key_file);
  }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
  ~Text() override {
    shared_->stop.stop();
    shared_->gateway.set_open(true);
    if (ticket_) provider_.threads_.withdraw(*ticket_);
  }
  void hold() override { shared_->gateway.set_open(false); }
  void go_on() override { shared_->gateway.set_open(true); }

  // False: too many wait, of all or of this owner.
  bool begin(const std::string& owner) {
    ticket_ = provider_.threads_.submit(
        owner, [shared = shared_, loop = provider_.way_to_loop_, options = provider_.options_,
                listening = Listening{this, alive_.watch()}] { fetch(*shared, loop, options, listening); });
    return ticket_.has_value();
  }

 private:
  // Tells the thread that reads the answer whether the listener takes more now. Guarded by a mutex.
  class Gateway {
   public:
    void set_open(bool is_open) {
      {
        const std::lock_guard lock(mutex_);
        is_open_ = is_open;
      }
      news_.notify_all();
    }
    void await_open() {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [this] { return is_open_; });
    }

   private:
    std::mutex mutex_;
    std::condition_variable news_;
    bool is_open_ = true;
  };

  struct Shared {
    ProviderKind kind{};
    RemoteRequest request;
    std::string key_file;
    StopSignal stop;
    Gateway gateway;
  };
  struct Listening {
    Text* text;
    std::weak_ptr<const void> alive;
  };

  // Null: nobody listens any more. Loop only; what is told to the text may destroy it.
  static Text* found(const Listening& listening) { return listening.alive.expired() ? nullptr : listening.text; }

  static void tell(const WayToLoop& loop, const Listening& listening, std::vector<AnswerEvent> events) {
    if (events.empty()) return;
    loop.post([listening, events = std::move(events)] {
      for (const AnswerEvent& event : events) {
        if (Text* const text = found(listening)) text->take(event);
      }
    });
  }

  // On the thread: asks, and tells what comes.
  static void fetch(Shared& shared, const WayToLoop& loop, const Options& options, const Listening& listening) {
    if (shared.stop.is_stopped()) return;  // whoever asked has gone while it waited
    RemoteAnswer answer(shared.kind, shared.request.is_stream);
    std::string complaint;
    try {
      complaint = ask(shared, loop, options, listening, answer);
      if (complaint.empty()) {
        tell(loop, listening, answer.finish());
        complaint = answer.complaint();
      }
    } catch (const std::exception& error) {
      complaint = error.what();
    }
    loop.post([listening, complaint, end = answer.end()] {
      if (Text* const text = found(listening)) text->over(complaint, end);
    });
  }

  // Why there is no answer; empty: there is one.
  static std::string ask(Shared& shared, const WayToLoop& loop, const Options& options, const Listening& listening,
                         RemoteAnswer& answer) {
    const Url& url = shared.request.url;
    const auto client = client_for(url, options, shared.stop);
    httplib::Request request;
    request.method = "POST";
    request.path = url.target;
    request.body = shared.request.body;
    request.headers = {
        {"Host", url.authority()}, {"Content-Type", "application/json"}, {"User-Agent", options.user_agent}};
    if (!shared.key_file.empty()) {
      request.headers.emplace("Authorization", "Bearer " + access_key(shared.key_file));
    }
    int status = 0;
    std::size_t received = 0;
    std::string refusal;
    request.response_handler = [&](const httplib::Response& response) {
      status = response.status;
      return !shared.stop.is_stopped();
    };
    request.content_receiver = [&](const char* bytes, std::size_t count, std::uint64_t, std::uint64_t) {
      received += count;
      if (shared.stop.is_stopped() || received > kMostAnswerBytes) return false;
      if (status != kOk) {
        refusal.append(bytes, count);
        return true;
      }
      tell(loop, listening, answer.feed({bytes, count}));
      shared.gateway.await_open();
      return answer.complaint().empty();
    };
    httplib::Response response;
    auto error = httplib::Error::Success;
    const bool is_complete = client->send(request, response, error);
    if (!answer.complaint().empty()) return shortened(answer.complaint(), kMostComplaintBytes);
    if (received > kMostAnswerBytes) return "its answer is longer than 16 MiB";
    if (!is_complete) {
      if (client::is_certificate_refused(error)) return "its certificate cannot be verified";
      if (client::is_not_connected(error)) return "no connection could be made";
      return "it does not answer, or has broken off";
    }
    if (response.status == kOk) return {};
    // Such a text may hold the whole question.
    const std::string why = shortened(complaint_in(refusal), kMostComplaintBytes);
    return "status " + std::to_string(response.status) + (why.empty() ? "" : ": " + why);
  }

  void take(const AnswerEvent& event) {
    if (begin_telling()) listener_->event(event, 0);
  }

  void over(const std::string& complaint, const AnswerEnd& end) {
    if (!complaint.empty()) {
      const Url& url = shared_->request.url;
      const std::string who = shared_->kind == ProviderKind::kOllama ? "ollama" : "openai";
      return listener_->failed(
          {ErrorKind::kUpstream, "the provider " + who + " at " + url.authority() + ": " + complaint});
    }
    if (!begin_telling()) return;
    const auto alive = alive_.watch();
    TurnListener& listener = *listener_;
    const AnswerEnd kept = end;
    listener.ended(kept, 0);
    if (!alive.expired()) listener.finished(kept.usage);
  }

  // False: whoever was told has let go of the text, and this is gone.
  bool begin_telling() {
    if (std::exchange(has_begun_, true)) return true;
    const auto alive = alive_.watch();
    listener_->begun({});
    return !alive.expired();
  }

  RemoteProvider& provider_;
  TurnListener* const listener_;
  std::optional<FairThreads::Ticket> ticket_{};  // of the request, while it may still wait for a thread
  const std::shared_ptr<Shared> shared_;         // with the thread
  bool has_begun_ = false;
  const Lifetime alive_;  // gone: nobody listens any more
};

RemoteProvider::RemoteProvider(asio::io_context& loop, Options options)
    : options_(std::move(options)),
      way_to_loop_(loop),
      threads_(FairThreads::shared_by_owners(options_.threads, options_.most_waiting)) {}

RemoteProvider::~RemoteProvider() { way_to_loop_.close(); }

std::unique_ptr<Running> RemoteProvider::make(const Profile& profile, TextWish wish, const Asker& asker,
                                              const std::string& peer, TurnListener& listener) {
  RemoteRequest request;
  try {
    request = remote_request(profile, wish);
  } catch (const std::invalid_argument& error) {
    throw TurnError(ErrorKind::kUpstream, "profile \"" + profile.name + "\": url: " + error.what());
  }
  auto text = std::make_unique<Text>(*this, listener, profile.provider, std::move(request), profile.key_file);
  if (!text->begin(owner_of(asker.name, peer))) {
    throw TurnError::try_later(ErrorKind::kQueueFull, "too many texts of other servers are waited for", 1);
  }
  return text;
}

}  // namespace rkllm_mcp::chat
