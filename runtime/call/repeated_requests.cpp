#include "call/repeated_requests.hpp"

#include <algorithm>

namespace rkllm_mcp {

bool RepeatedRequests::repeat(const Session& client, std::string_view text, Peer& peer) {
  forget_expired();
  const Sha256 digest = sha256(text);
  const Record* const record = find(&client, digest);
  if (record == nullptr) return is_known(digest, peer.facts().address);
  const auto reply = record->reply.lock();
  if (auto* const stream = reply ? client.stream_of(*reply) : nullptr) {
    stream->send_all_again();
  } else if (!record->answer.empty()) {
    peer.send(record->answer);
  }
  return true;
}

void RepeatedRequests::add(const Session& client, std::string_view text, Reply& reply) {
  forget_expired();
  const Sha256 digest = sha256(text);
  const auto [asking, is_new] = clients_.try_emplace(&client);
  if (is_new) asking->second.address = reply.peer().facts().address;
  asking->second.records.try_emplace(digest,
                                     Record{&client, digest, reply.weak_from_this(), {}, Clock::time_point::max()});
  // When the answer comes, the client may be gone, and another session may lie at its address. So the record must be
  // of this very reply: `of` may be compared, since the reply lives while it calls this, and no other has its address.
  reply.on_last(
      [this, alive = alive_.watch(), whose = &client, digest, of = &reply](std::optional<std::string_view> answer) {
        if (alive.expired()) return;
        Record* const record = find(whose, digest);
        if (record != nullptr && record->reply.lock().get() == of) answered(*record, answer);
      });
}

RepeatedRequests::Record* RepeatedRequests::find(const Session* client, const Sha256& digest) {
  const auto known = clients_.find(client);
  if (known == clients_.end()) return nullptr;
  const auto found = known->second.records.find(digest);
  return found == known->second.records.end() ? nullptr : &found->second;
}

void RepeatedRequests::answered(Record& record, std::optional<std::string_view> answer) {
  Client& client = clients_.at(record.client);
  if (!answer) {  // it ended without an answer and has changed nothing: a repetition is executed like a new request
    client.records.erase(client.records.find(record.digest));
    return;
  }
  // No answer is kept for a stream, which sends its own messages again. The stream is looked up by its reply, and not
  // by its id: when the stream has been dropped, another one may have the same id.
  const auto reply = record.reply.lock();
  if (!reply || record.client->stream_of(*reply) == nullptr) record.answer = *answer;
  record.until = Clock::now() + limits_.kept_for;
  client.kept.push_back(kept_.insert(kept_.end(), &record));
  client.bytes += bytes_of(record);
  kept_bytes_ += bytes_of(record);
  // From here on the record itself may be forgotten.
  while (client.bytes > limits_.client_bytes) forget_oldest_of(client);
  while (!kept_.empty() && is_above_its_bounds()) forget_oldest_of(clients_.at(kept_.front()->client));
  share_.set(kept_bytes_);
}

bool RepeatedRequests::is_above_its_bounds() const {
  const std::size_t more = kept_bytes_ > share_.bytes() ? kept_bytes_ - share_.bytes() : 0;
  return kept_bytes_ > limits_.bytes || !share_.has_room_for(more);
}

void RepeatedRequests::forget_oldest_of(Client& client) {
  const auto oldest = client.kept.front();
  const Record& record = **oldest;
  client.kept.pop_front();
  kept_.erase(oldest);
  client.bytes -= bytes_of(record);
  kept_bytes_ -= bytes_of(record);
  client.records.erase(client.records.find(record.digest));
  if (share_.bytes() > kept_bytes_) share_.set(kept_bytes_);
}

void RepeatedRequests::forget_expired() {
  while (!kept_.empty() && kept_.front()->until <= Clock::now()) {
    forget_oldest_of(clients_.at(kept_.front()->client));
  }
  while (!known_.empty() && known_.front().until <= Clock::now()) known_.pop_front();
}

bool RepeatedRequests::is_known(const Sha256& digest, std::string_view address) const {
  return std::ranges::any_of(known_,
                             [&](const Known& each) { return each.digest == digest && each.address == address; });
}

void RepeatedRequests::forget(const Session& client) {
  const auto known = clients_.find(&client);
  if (known == clients_.end()) return;
  const auto until = Clock::now() + limits_.known_for;
  for (const auto& [digest, record] : known->second.records) {
    known_.push_back({digest, known->second.address, until});
    if (known_.size() > limits_.known_requests) known_.pop_front();
  }
  while (!known->second.kept.empty()) forget_oldest_of(known->second);
  clients_.erase(known);
}

}  // namespace rkllm_mcp
