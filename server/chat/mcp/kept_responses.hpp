// Answers that are kept in the memory server, in spaces of their own, one for each access token: no conversation of a
// person is among them, and no list of conversations shows them.
//
// Event loop only; what is kept is written and read on a thread beside it.
#pragma once

#include "chat/mcp/memory_client.hpp"
#include "chat/turn/response_store.hpp"
#include "mcp/service.hpp"
#include "side_thread.hpp"

#include <asio/io_context.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

class KeptResponses final : public ResponseStore {
 public:
  // The names of its spaces begin so, as no access token's can.
  static constexpr std::string_view kSpaces = "\x01response:";
  // The most bytes of a conversation with its answer: more than any model here can read.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20U;

  // `memory`: the memory server, which outlives this.
  KeptResponses(asio::io_context& loop, const mcp::Service* memory);
  KeptResponses(const KeptResponses&) = delete;
  KeptResponses& operator=(const KeptResponses&) = delete;

  void recall(const std::string& id, const std::string& asker, RecalledFunction done) override;
  void keep(const std::string& id, const std::string& asker, Json items, KeptFunction done) override;

 private:
  void keep_text(const std::string& id, const std::string& asker, std::string text, const KeptFunction& done);

  MemoryClient memory_;  // ends after what reads and writes for it
  SideThread reading_;
};

}  // namespace rkllm_mcp::chat
