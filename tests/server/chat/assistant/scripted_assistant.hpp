// What an assistant works with, as a test writes it: a server that it asks, and who makes its texts. Nothing comes from
// inside of a call, but from the loop.
#pragma once

#include "chat/assistant/providers/provider.hpp"
#include "chat/assistant/servers/hosted_server.hpp"
#include "chat/turn/answer.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::chat::testing {

class ScriptedServer final : public HostedServer {
 public:
  ScriptedServer(asio::io_context& loop, std::string name) : loop_(loop), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  std::unique_ptr<HostCall> call(const std::string& method, const Json& params, const Principal& /*who*/,
                                 mcp::DoneFunction done) override {
    asked.emplace_back(method, params);
    auto begun = std::make_unique<HostCall>(std::move(done));
    asio::post(loop_, [this, end = begun->end(), method, params] {
      try {
        end(answer(method, params), nullptr);
      } catch (const RpcError&) {
        end(nullptr, std::current_exception());
      }
    });
    return begun;
  }

  // What was asked, with its parameters.
  std::vector<std::pair<std::string, Json>> asked;
  // What it says; an RpcError that it throws is its answer, too.
  std::function<Json(const std::string& method, const Json& params)> answer = [](const std::string&, const Json&) {
    return Json::object();
  };

 private:
  asio::io_context& loop_;
  const std::string name_;
};

class ScriptedProvider final : public Provider {
 public:
  explicit ScriptedProvider(asio::io_context& loop) : loop_(loop) {}

  std::unique_ptr<Running> make(const Profile& /*profile*/, TextWish wish, const Asker& /*asker*/,
                                const std::string& /*peer*/, TurnListener& listener) override {
    auto text = std::make_unique<Text>(*this, listener);
    wishes.push_back(std::move(wish));
    asio::post(loop_, [this, alive = std::weak_ptr(text->state), number = wishes.size() - 1] {
      if (const auto state = alive.lock()) tell(*state, number);
    });
    return text;
  }

  std::vector<TextWish> wishes;
  std::size_t given_up = 0;  // before their end
  std::size_t held = 0;
  // The events of a text; a TurnError that it throws is how the text fails.
  std::function<std::vector<AnswerEvent>(const TextWish& wish)> write = [](const TextWish&) {
    return std::vector<AnswerEvent>{TextDelta{"text"}};
  };
  bool has_no_end = false;  // of the texts: nothing comes behind their events

 private:
  struct State {
    TurnListener* listener;  // null: the text was given up
    bool has_ended = false;
  };
  struct Text final : Running {
    Text(ScriptedProvider& provider, TurnListener& listener)
        : state(std::make_shared<State>(State{&listener})), provider_(provider) {}
    Text(const Text&) = delete;
    Text& operator=(const Text&) = delete;
    ~Text() override {
      state->listener = nullptr;
      if (!state->has_ended) ++provider_.given_up;
    }
    void hold() override { ++provider_.held; }

    const std::shared_ptr<State> state;

   private:
    ScriptedProvider& provider_;
  };

  // Whoever hears it may let go of the text.
  void tell(State& state, std::size_t number) {
    const TextWish wish = wishes[number];
    std::vector<AnswerEvent> events;
    try {
      events = write(wish);
    } catch (const TurnError& error) {
      state.has_ended = true;
      return state.listener->failed(error);
    }
    state.listener->begun({});
    for (const AnswerEvent& event : events) {
      if (state.listener == nullptr) return;
      state.listener->event(event, 0);
    }
    if (has_no_end || state.listener == nullptr) return;
    state.has_ended = true;
    state.listener->ended({}, 0);
    if (state.listener != nullptr) state.listener->finished({});
  }

  asio::io_context& loop_;
};

}  // namespace rkllm_mcp::chat::testing
