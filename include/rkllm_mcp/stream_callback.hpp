// A C result callback becomes a stream: each call of the callback is handed to the ResultSink that travelled as
// userdata.
//
// Generated code says what the states mean and where in the result the parts are, as a class `Stream`:
//   using Result, State            the C types
//   states                         StateRole[]: what each state means; State may lack some of them
//   token(entry)                   the token of one entry of the batch
//   rows(sink, entry)              lends the rows of floats that came, if any did
//   replaces_token(entry)          whether those rows came instead of a token
//   values(entry)                  what comes with the end of a run, as JSON
//   free_rows                      what the callback returns to say that its rows may be freed; 0 if nothing says that
#pragma once

#include <rkllm_mcp/codec_rules.hpp>
#include <rkllm_mcp/result_sink.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rkllm_mcp {

enum class StreamEvent {
  kToken,    // a token for each entry of the batch, or rows
  kEnd,      // the run has ended
  kFailure,  // the run has failed; there is no result
};

struct StateRole {
  std::string_view name;  // of an enumerator
  StreamEvent event;
};

// What an entry of a result says of a token.
struct StreamToken {
  std::optional<std::string_view> text;  // lent; absent where C has NULL
  std::int32_t id;
};

inline StreamToken stream_token(const char* text, std::int32_t id) {
  if (text == nullptr) return {std::nullopt, id};
  return {text, id};
}

inline void lend_rows(ResultSink& sink, const FloatRows& rows) {
  if (rows.values != nullptr) sink.on_rows(rows);
}

template <class State>
bool is_named(State state, std::string_view name) {
  for (const EnumName<State>& each : names_of(state)) {
    if (each.value == state && each.name == name) return true;
  }
  return false;
}

// The body of a trampoline. Does not throw: an exception must not cross the C library. A state that the header does not
// know is passed over.
template <class Stream>
int deliver(typename Stream::Result* result, void* userdata, typename Stream::State state) noexcept {
  auto* const sink = static_cast<ResultSink*>(userdata);
  if (sink == nullptr) return 0;  // go on
  for (const StateRole& role : Stream::states) {
    if (!is_named(state, role.name)) continue;
    if (role.event == StreamEvent::kFailure) {
      sink->on_failure(role.name);
    } else if (role.event == StreamEvent::kEnd) {
      sink->on_end(role.name, result == nullptr ? Json() : Stream::values(*result));
    } else if (result != nullptr) {
      Stream::rows(*sink, *result);
      const std::size_t entries = Stream::replaces_token(*result) ? 0 : sink->batch_size();
      for (std::size_t i = 0; i < entries; ++i) {
        const StreamToken token = Stream::token(result[i]);
        sink->on_token(i, token.text, token.id);
      }
    }
  }
  return sink->callback_return() == CallbackReturn::kGoOnAndFreeRows ? Stream::free_rows : 0;
}

}  // namespace rkllm_mcp
