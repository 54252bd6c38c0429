#include "upstreams/offered_watch.hpp"

#include "client/connection.hpp"

#include <algorithm>
#include <variant>

namespace rkllm_mcp {
namespace {

using namespace std::chrono_literals;

constexpr auto kPagePatience = 10s;
constexpr auto kBetweenLists = 500ms;       // at least, however often the server says that they have changed
constexpr auto kBetweenRoutineLists = 60s;  // where the server does not say so, or a list has failed
constexpr auto kNever = Clock::time_point::max();

constexpr std::size_t kMostTools = 1000;
constexpr std::size_t kMostPages = 1000;
constexpr std::size_t kMostListBytes = std::size_t{2} << 20U;

}  // namespace

void OfferedWatch::note_change() {
  if (is_listing()) {
    changed_meanwhile_ = true;
  } else if (listed_once_) {
    list_at_ = std::min(list_at_, listed_at_ + kBetweenLists);
  }
}

Clock::time_point OfferedWatch::due() const { return std::min({is_listing() ? page_until_ : list_at_, listen_at_}); }

void OfferedWatch::work() {
  if (!client_.server().capabilities.contains(list_.capability)) {
    if (!std::exchange(listed_once_, true)) events_.on_list({});
    list_at_ = listen_at_ = kNever;
    return;
  }
  const auto now = Clock::now();
  if (is_listing() && now >= page_until_) {
    client_.cancel(page_, "no answer in time");
    fail_list(std::string(list_.method) + ": there is no answer in time");
  }
  // Listening comes first: what changes between the two is not missed.
  if (now >= listen_at_) listen();
  if (!is_listing() && now >= list_at_) {
    listing_.emplace(list_);
    ask_for_page();
  }
}

client::McpClient::Callbacks OfferedWatch::back_to(void (OfferedWatch::*taker)(const client::Outcome&),
                                                   std::uint64_t serial) {
  return {.on_end = [weak = weak_from_this(), post = events_.post, taker, serial](client::Outcome outcome) {
    post([weak, taker, serial, outcome = std::move(outcome)] {
      const auto self = weak.lock();
      if (self && (serial == 0 || serial == self->serial_)) (self.get()->*taker)(outcome);
    });
  }};
}

void OfferedWatch::ask_for_page() {
  page_until_ = Clock::now() + kPagePatience;
  ++serial_;
  page_ = client_.request(list_.method, listing_->params(), back_to(&OfferedWatch::take_page, serial_));
}

void OfferedWatch::take_page(const client::Outcome& page) {
  bool has_more = false;
  try {
    has_more = listing_->take(page);
  } catch (const client::ConnectionError& error) {
    return fail_list(error.what());
  }
  if (has_more) return ask_for_page();
  if (!listing_->cut_short().empty()) events_.on_warning(listing_->cut_short());
  events_.on_list(std::move(listing_->entries()));
  listed_once_ = true;
  end_list();
}

void OfferedWatch::end_list() {
  listing_.reset();
  ++serial_;
  listed_at_ = Clock::now();
  list_at_ = asks_often_ ? listed_at_ + kBetweenRoutineLists : kNever;
  if (std::exchange(changed_meanwhile_, false)) list_at_ = listed_at_ + kBetweenLists;
}

void OfferedWatch::fail_list(const std::string& reason) {
  // A server without tools is of no use; many that have resources know nothing of templates.
  const bool is_of_tools = &list_ == &list_of(Offered::kTools);
  if (!listed_once_ && is_of_tools) throw client::ConnectionError(reason);
  if (listed_once_) events_.on_warning(reason + "; the " + list_.member + " stay as they were");
  end_list();
  list_at_ = std::min(list_at_, listed_at_ + kBetweenRoutineLists);
}

void OfferedWatch::listen() {
  listen_at_ = kNever;
  if (client_.server().has_handshake || list_.listen == nullptr) return;
  listening_since_ = Clock::now();
  client_.request("subscriptions/listen", Json{{"notifications", {{list_.listen, true}}}},
                  back_to(&OfferedWatch::take_listening_end, 0));
  note_change();  // there may have been a change while no subscription was open
}

void OfferedWatch::take_listening_end(const client::Outcome& outcome) {
  const auto* error = std::get_if<client::RemoteError>(&outcome);
  if (error != nullptr && error->code == client::kMethodNotFound) {
    asks_often_ = true;
    if (!is_listing()) list_at_ = std::min(list_at_, Clock::now() + kBetweenRoutineLists);
    return;
  }
  listen_at_ = Clock::now() + listen_backoff_.after(Clock::now() - listening_since_);
}

bool OfferedPages::take(const client::Outcome& page) {
  if (const auto* error = std::get_if<client::RemoteError>(&page))
    throw client::ConnectionError(std::string(list_.method) + ": " + error->message);
  const Json& result = std::get<Json>(page);
  const auto tools = result.find(list_.member);
  if (tools == result.end() || !tools->is_array()) {
    throw client::ConnectionError("the answer to " + std::string(list_.method) + " has no " + list_.member);
  }
  for (const Json& tool : *tools) {
    bytes_ += tool.dump().size();
    if (entries_.size() == kMostTools) cut_short_ = "only the first 1000 " + std::string(list_.member) + " are taken";
    if (bytes_ > kMostListBytes) cut_short_ = "only the first 2 MiB of " + std::string(list_.member) + " are taken";
    if (!are_values_within(values_left_, tool)) {
      cut_short_ =
          "only the first " + std::to_string(kMostUpstreamValues) + " values of " + list_.member + " are taken";
    }
    if (!cut_short_.empty()) return false;
    entries_.push_back(tool);
  }
  const auto next = result.find("nextCursor");
  if (next == result.end() || next->is_null()) return false;
  if (!next->is_string() || next->get_ref<const std::string&>().empty()) {
    cut_short_ = "the list goes on at a cursor that is no text";
    return false;
  }
  cursor_ = next->get<std::string>();
  if (!cursors_.insert(cursor_).second) cut_short_ = "the list comes back to a cursor";
  if (cursors_.size() > kMostPages) cut_short_ = "only the first 1000 pages are read";
  return cut_short_.empty();
}

}  // namespace rkllm_mcp
