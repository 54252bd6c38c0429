// Knows which tools, or resources, or templates, or prompts the server of one connection offers: lists them, and again
// whenever it says, or may not have said, that they have changed. Never waits for an answer.
//
// Threads: one, the link's; answers come back to it by `post`. The client outlives the watch.
#pragma once

#include "client/mcp/mcp_client.hpp"
#include "client/mcp/message_facts.hpp"
#include "clock.hpp"
#include "upstreams/offered.hpp"

#include <rkllm_mcp/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp {

// How long to wait before the next try of what has ended, so that a server which is gone is not asked all the time:
// twice as long each time, and from the beginning again after what was well for longer than the longest pause.
class Backoff {
 public:
  std::chrono::milliseconds after(Clock::duration lasted) {
    pause_ = lasted > kLongest ? kFirst : std::clamp(2 * pause_, kFirst, kLongest);
    return pause_;
  }

 private:
  static constexpr std::chrono::milliseconds kFirst{250};
  static constexpr std::chrono::milliseconds kLongest{30'000};

  std::chrono::milliseconds pause_{0};
};

// One list of what another MCP server offers, while it comes, page by page.
class OfferedPages {
 public:
  explicit OfferedPages(const OfferedList& list) : list_(list) {}

  // The parameters to ask for the next page with.
  Json params() const { return cursor_.empty() ? Json::object() : Json{{"cursor", cursor_}}; }
  // Takes that page; returns whether there is another. Throws ConnectionError if it is no page.
  bool take(const client::Outcome& page);
  // Why only the beginning of the server's list was taken; empty if all of it was.
  const std::string& cut_short() const { return cut_short_; }
  std::vector<Json>& entries() { return entries_; }

 private:
  const OfferedList& list_;
  std::vector<Json> entries_;
  std::size_t bytes_ = 0;
  std::size_t values_left_ = kMostUpstreamValues;
  std::string cursor_;
  std::set<std::string> cursors_;
  std::string cut_short_;
};

class OfferedWatch : public std::enable_shared_from_this<OfferedWatch> {
 public:
  struct Events {
    std::function<void(std::vector<Json> entries)> on_list;
    std::function<void(const std::string& warning)> on_warning;
    // May be called on any thread: makes the link's thread call the function.
    std::function<void(std::function<void()>)> post;
  };

  OfferedWatch(client::McpClient& client, Events events, Offered kind)
      : client_(client), events_(std::move(events)), list_(list_of(kind)) {}

  const char* notification() const { return list_.notification; }  // after which note_change() is called

  // To be called when the server says that the list has changed.
  void note_change();
  // Does what is due. Throws ConnectionError, also if the first list of tools fails.
  void work();
  // When work() has to be called next, at the latest.
  Clock::time_point due() const;

 private:
  bool is_listing() const { return listing_.has_value(); }
  void ask_for_page();
  void take_page(const client::Outcome& page);
  void end_list();
  void fail_list(const std::string& reason);
  void listen();
  void take_listening_end(const client::Outcome& outcome);
  client::McpClient::Callbacks back_to(void (OfferedWatch::*taker)(const client::Outcome&), std::uint64_t serial);

  client::McpClient& client_;
  const Events events_;
  const OfferedList& list_;
  std::optional<OfferedPages> listing_;
  client::McpClient::Id page_ = 0;
  std::uint64_t serial_ = 0;  // of the latest request for a page: answers to earlier ones are ignored
  Clock::time_point page_until_;
  Clock::time_point list_at_ = Clock::time_point::min();
  Clock::time_point listed_at_ = Clock::time_point::min();
  bool listed_once_ = false;
  bool changed_meanwhile_ = false;
  // Modern servers only.
  bool asks_often_ = false;  // the server tells nothing
  Clock::time_point listen_at_ = Clock::time_point::min();
  Clock::time_point listening_since_;
  Backoff listen_backoff_;
};

}  // namespace rkllm_mcp
