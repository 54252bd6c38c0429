// Decides whose messages are executed.
//
// Without tokens everybody may call everything. With tokens a client proves who it is: over HTTP, and in a WebSocket's
// handshake, by `Authorization: Bearer TOKEN`; over TCP and WebSocket also by its first message,
// {"method":"auth","params":{"token":"..."}}; over UDP by params._meta.token in each message, since addresses can be
// forged. Who started this program and talks to its standard input is trusted.
//
// Wrong tokens are refused ever more slowly (auth/guess_throttle.hpp).
//
// Threads: belongs to the event loop.
#pragma once

#include "auth/guess_throttle.hpp"
#include "auth/token_set.hpp"
#include "call/session.hpp"
#include "jsonrpc/message.hpp"
#include "transport/peer.hpp"

#include <asio/io_context.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp {

class Gate {
 public:
  Gate(asio::io_context& loop, TokenSet tokens) : loop_(loop), tokens_(std::move(tokens)) {}
  Gate(const Gate&) = delete;  // sessions point to its principals
  Gate& operator=(const Gate&) = delete;

  // Whose token this is; null if nobody's. Without tokens: everybody.
  const Principal* identify(std::string_view token) const;
  // Who has just connected, as far as that is known already.
  const Principal* identify(const Peer& peer) const;

  // Somebody at `address` has presented a wrong token: runs `refuse` now, or later if there have been many.
  void refuse_guess(const std::string& address, std::function<void()> refuse);

  // Who has not proved itself has said something that strangers may not, or nothing in time: it is told `reason` and sent
  // away, later if it has presented wrong tokens.
  void refuse_stranger(const std::string& reason, Session& session, const std::shared_ptr<Peer>& peer);

  // What becomes of `message`: it is to be executed, or it has been answered. Who is refused has perhaps been sent away.
  // From here on the session knows its principal.
  enum class Verdict { kExecute, kProved, kRefused };
  Verdict admit(const Message& message, Session& session, const std::shared_ptr<Peer>& peer);

 private:
  Verdict authenticate(const Request& request, Session& session, const std::shared_ptr<Peer>& peer);
  // Answers with the error and sends the client away, later if it presents wrong tokens.
  void refuse(const Message& message, std::string_view token, const std::string& reason, Session& session,
              const std::shared_ptr<Peer>& peer);

  asio::io_context& loop_;
  const TokenSet tokens_;
  const Principal everybody_;
  GuessThrottle throttle_;
};

}  // namespace rkllm_mcp
