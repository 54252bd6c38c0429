// One call of the tool `chat`: a turn of the chat host, whose text goes to the client as progress while it is made and
// as the result at its end.
//
//   model found → conversation read → turn → conversation kept → result
//
// A profile reads and keeps its conversations itself, by its own rules.
//
// Event loop only. Whoever began it holds it until `gone`, which is called once and may be called from inside.
#pragma once

#include "chat/host/chat_host.hpp"
#include "chat/mcp/conversations.hpp"
#include "chat/mcp/model_choice.hpp"
#include "mcp/tools/invocation.hpp"
#include "mcp/tools/progress.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

class ChatCall final : public TurnListener, public std::enable_shared_from_this<ChatCall> {
 public:
  // What all calls share; outlives them.
  struct Surroundings {
    asio::io_context& loop;
    ChatHost& host;
    Conversations& conversations;
    const std::function<bool()>& is_simulated;
  };

  // `arguments` have been checked against the tool's schema.
  ChatCall(Surroundings surroundings, mcp::Invocation& invocation, const Json& arguments, std::function<void()> gone);
  ChatCall(const ChatCall&) = delete;
  ChatCall& operator=(const ChatCall&) = delete;

  void begin();
  // Ends it with the text that has come.
  void stop();
  void fail(const RpcError& error);
  // Ends the call with `error`, while its conversation still gets what has come of the answer.
  void give_up(const RpcError& error);

  bool is_over() const { return invocation_->ended(); }
  const std::string& conversation() const { return conversation_; }  // empty: none
  const std::string& asker() const { return invocation_->request().session->principal->name; }
  // Whether that request comes from the client that has asked for this.
  bool is_of_client(const mcp::InvocationRequest& other) const;
  // {"model","conversation","state","calls_before","bytes"}: null what is not known (yet); bytes of text so far.
  Json status() const;

  // TurnListener
  void queued(std::size_t places_before) override;
  void loading(const LoadProgress& progress) override;
  void begun(const TurnBeginning& beginning) override;
  void event(const AnswerEvent& event, std::size_t answer) override;
  void ended(const AnswerEnd& end, std::size_t answer) override;
  void finished(const Usage& sum) override;
  void failed(const TurnError& error) override;

 private:
  enum class State { kBegins, kWaits, kLoads, kAnswers, kEnds };

  void find_model();
  void recall();
  void start_turn();
  void end(std::string_view finish_reason);  // keeps the conversation, if there is one, and then answers
  void answer(std::string_view finish_reason, const std::string& not_kept);
  Json structured(std::string_view finish_reason) const;
  void cancelled();
  void over();

  const Surroundings surroundings_;
  const std::shared_ptr<mcp::Invocation> invocation_;
  const std::function<void()> gone_;
  bool is_answered_ = false;
  bool keeps_ = false;              // the conversation: there is one, and no profile that does it
  bool is_kept_meanwhile_ = false;  // the answer, or what had come of a cancelled one
  Turn turn_;
  std::string question_;
  std::string conversation_;
  std::shared_ptr<mcp::Progress> progress_;  // null: the client wants none
  std::unique_ptr<Running> running_;
  State state_ = State::kBegins;
  Answer answer_;
  std::uint64_t pieces_ = 0;
  std::optional<std::size_t> calls_before_;
  std::size_t left_out_ = 0;  // messages that the model was not told
  std::vector<std::string> ignored_;
  bool search_failed_ = false;  // of a profile
};

}  // namespace rkllm_mcp::chat
