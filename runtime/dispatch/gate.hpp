// Decides whose messages are executed.
//
// Without tokens everybody may call everything. With tokens a client proves who it is: over HTTP, and in a WebSocket's
// handshake, by `Authorization: Bearer TOKEN`; over TCP and WebSocket also by its first message,
// {"method":"auth","params":{"token":"..."}}; over UDP by params._meta.token in each message, since addresses can be
// forged. Who started this program and talks to its standard input is trusted.
//
// Wrong tokens are refused ever more slowly, those of one address one after the other (auth/guess_throttle.hpp). Where
// too many of an address wait, only those tokens are let in that have come from it before: clients that share an
// address (a proxy's, say) are not locked out by one of them that guesses.
//
// Threads: belongs to the event loop.
#pragma once

#include "auth/access_tokens.hpp"
#include "auth/guess_throttle.hpp"
#include "call/session.hpp"
#include "clock.hpp"
#include "jsonrpc/message.hpp"
#include "transport/answer_sink.hpp"
#include "transport/http/http_message.hpp"
#include "transport/peer.hpp"

#include <asio/io_context.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

class Gate {
 public:
  Gate(asio::io_context& loop, AccessTokens tokens) : loop_(loop), tokens_(std::move(tokens)) {}
  Gate(const Gate&) = delete;  // sessions point to its principals
  Gate& operator=(const Gate&) = delete;

  // Whose token this is; null if nobody's. Without tokens: everybody.
  const Principal* identify(std::string_view token) const;
  // Whose token a client at this address presents; null if nobody's, or if too many guesses of that address wait.
  const Principal* principal_of(std::string_view token, std::string_view address);
  // principal_of() with the token and the address of a request, of which this is the head; for http::Options::identify.
  const Principal* principal_of(const http::Request& head) { return principal_of(head.bearer_token(), head.remote); }
  // Who a peer is that has just connected: everybody on stdio, or where no tokens are asked for; else the holder of the
  // token that came with the connection, null if none did.
  const Principal* principal_of(const Peer& peer);

  // Why a token that was presented at `address` was not let in.
  std::string complaint(std::string_view address);
  // Somebody at `address` has presented a wrong token: runs `refuse` now, or later if there have been many.
  void refuse_guess(const std::string& address, std::function<void()> refuse);

  // A client without a valid token has sent what only others may send, or no token in time. It is told `reason`, and
  // its connection is closed, after a pause if many wrong tokens have come from its address.
  void refuse_stranger(const std::string& reason, Session& session, AnswerSink& answer);

  // What is to be done with `message`, which `answer` answers: execute it (kExecute), or nothing, since it has been
  // answered: it was the request `auth` (kProved), or it was refused, and the connection perhaps closed (kRefused).
  // Sets the session's principal, if the message is let in. Over UDP messages of one address may have several tokens:
  // as long as requests with one are in progress, those with another are refused.
  enum class Admission { kExecute, kProved, kRefused };
  Admission admit(const Message& message, Session& session, AnswerSink& answer);

 private:
  Admission authenticate(const Request& request, Session& session, AnswerSink& answer);
  // Answers with the error and closes the connection, after a pause if many wrong tokens have come from its address.
  void refuse(const Message& message, std::string_view token, const std::string& reason, Session& session,
              AnswerSink& answer);

  asio::io_context& loop_;
  const AccessTokens tokens_;
  const Principal everybody_;
  GuessThrottle throttle_;
  // Whose tokens have come from which source, and when last; beyond so many the one that has not come for longest is
  // forgotten.
  using Proved = std::pair<std::string, const Principal*>;
  static constexpr std::size_t kMostProved = 1024;
  std::map<Proved, Clock::time_point> proved_;
};

}  // namespace rkllm_mcp
