// What a turn of an assistant asks of others: a method of one of its servers, or a text of its model. One thing of each
// kind at a time; each is a line of the log. Destroying it gives up what is under way: then nobody is called any more.
//
// Threads: event loop only.
#pragma once

#include "auth/access_tokens.hpp"
#include "chat/assistant/profile/profile.hpp"
#include "chat/assistant/providers/provider.hpp"
#include "chat/assistant/servers/mcp_host.hpp"
#include "chat/host/turn_listener.hpp"
#include "chat/turn/model_lender.hpp"
#include "chat/turn/turn.hpp"
#include "clock.hpp"
#include "immutable.hpp"

#include <rkllm_mcp/json.hpp>

#include <settings_defaults.h>
#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

// One call that an assistant has made, for the log: of a server's method, or of a model (then `server` is "model").
struct AssistantNote {
  std::string profile;
  std::string asker;
  std::string peer;
  std::string server;
  std::string call;  // "memory/get_context", "tools/call duckduckgo_search", "answer"
  std::chrono::microseconds time{0};
  std::string error;  // empty: it was answered
};

struct AssistantOptions {
  std::int64_t context_messages = 20;  // that memory/get_context is asked for
  std::int64_t summarize_threshold = defaults::kMemorySummarizeThreshold;
  std::size_t most_summary_bytes = defaults::kMemorySummaryMaxBytes;  // a longer one is summarised itself
  std::string guardrail_model{};                                      // chat.guardrail_model
  std::function<void(const AssistantNote&)> report{};
};

class AssistantCalls {
 public:
  // What it works with; all of it outlives it.
  struct Surroundings {
    asio::io_context& loop;
    McpHost& servers;
    Provider& provider;
    const AssistantOptions& options;
    Immutable<Profile> profile;
  };
  // Called with the text, or with why there is none.
  using TakeText = std::function<void(const std::string& text, const TurnError* error)>;
  using TakeResult = std::function<void(const Json& result, const std::exception_ptr& error)>;

  // `keep_alive`: the client's wish for the models that are asked. `failed` is told when whoever takes an answer
  // throws: nobody else would end the turn.
  AssistantCalls(Surroundings surroundings, const Asker& asker, std::string peer, std::optional<KeepAlive> keep_alive,
                 std::function<void(const TurnError& error)> failed);
  AssistantCalls(const AssistantCalls&) = delete;
  AssistantCalls& operator=(const AssistantCalls&) = delete;
  ~AssistantCalls();

  const Surroundings& with() const { return surroundings_; }
  const Profile& profile() const { return *surroundings_.profile; }
  // Whether the host has a server of that name.
  bool has_server(std::string_view name) const { return surroundings_.servers.client(name) != nullptr; }

  void call(std::string_view server, const std::string& method, const Json& params, TakeResult take);
  // `listener`, if it is not null, hears what comes of the text but its end, and outlives it.
  void make_text(Purpose purpose, Turn turn, TurnListener* listener, TakeText take);
  // Makes a text of one of the profile's prompts, bounded by its purpose, at temperature 0.
  void make_short_text(Purpose purpose, Language language, const Filling& filling, TurnListener* listener,
                       TakeText take);

  bool is_making_text() const { return running_ != nullptr; }
  void hold();
  void go_on();
  void drop_text();
  void give_up();
  // The server ends: whoever asks for a text from now on gets an error.
  void begin_ending() { is_ending_ = true; }
  // Calls `step`. If that throws, tells `failed`, and lets the exception go on.
  void or_fail(const std::function<void()>& step);

 private:
  class TextCollector;
  void note(const std::string& server, const std::string& what, Clock::time_point begun,
            const std::string& error) const;

  const Surroundings surroundings_;
  const Asker asker_;
  const Principal principal_;
  const std::string peer_;
  const std::optional<KeepAlive> keep_alive_;
  const std::function<void(const TurnError& error)> failed_;
  std::unique_ptr<HostCall> call_;
  std::unique_ptr<TurnListener> collector_;
  std::unique_ptr<Running> running_;  // tells `collector_`, and so ends before it
  bool is_ending_ = false;
};

// "bad_field" of the client's field where the memory server complains of a conversation's name.
TurnError failure_of(std::string_view server, const std::exception_ptr& error);

}  // namespace rkllm_mcp::chat
