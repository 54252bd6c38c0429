// A library of any ABI set, whose functions read all that they are given, as a runtime would: what the bindings hand
// over must be alive and whole. They answer the status that was asked for.
#pragma once

#include "include/round_trip.hpp"

#include <rkllm_mcp/abi_set.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rkllm_mcp::test {

// What its functions, which are plain C functions, see while one is alive; one at a time.
struct ReadingLibrary {
  explicit ReadingLibrary(const HandleRecord& record) : handle(record) { current = this; }
  ~ReadingLibrary() { current = nullptr; }
  ReadingLibrary(const ReadingLibrary&) = delete;
  ReadingLibrary& operator=(const ReadingLibrary&) = delete;

  static inline ReadingLibrary* current = nullptr;

  const HandleRecord& handle;
  int status = 0;              // what functions return
  std::size_t text_bytes = 0;  // read so far
};

namespace reading_detail {

template <class T>
void read(T) {}  // numbers, handles, callbacks

inline void read(void** made_handle) { *made_handle = ReadingLibrary::current; }

inline void read(const char* text) {
  if (text != nullptr) ReadingLibrary::current->text_bytes += std::strlen(text);
}

// One number for each input of a batch. Some are read by the runtime, some written; here all are both.
inline void read(int* numbers) {
  const auto n_batch = ReadingLibrary::current->handle.value("n_batch");
  for (std::int64_t i = 0; numbers != nullptr && i < n_batch; ++i) numbers[i] = ~numbers[i];
}

template <Travels T>
void read(T* value) {
  if (value != nullptr) encode(*value, {ArrayEncoding::kJson, &ReadingLibrary::current->handle});
}

template <class Result, class... Arguments>
Result function(Arguments... arguments) {
  (read(arguments), ...);
  if constexpr (std::is_same_v<Result, int>) {
    return ReadingLibrary::current->status;
  } else {
    return default_of(TypeTag<Result>{});
  }
}

// Becomes a function of whichever type is wanted.
struct AnyFunction {
  template <class Result, class... Arguments>
  using Pointer = Result (*)(Arguments...);
  template <class Result, class... Arguments>
  operator Pointer<Result, Arguments...>() const {
    return &function<Result, Arguments...>;
  }
};

}  // namespace reading_detail

// The bindings of a set with `Functions`, on such a library.
template <class Functions>
std::unique_ptr<Binding> bound_to_reading_library(const AbiSet& set) {
  constexpr std::size_t kCount = sizeof(Functions) / sizeof(void*);
  const auto functions = []<std::size_t... i>(std::index_sequence<i...>) {
    return Functions{(static_cast<void>(i), reading_detail::AnyFunction{})...};
  }
  (std::make_index_sequence<kCount>{});
  if (set.methods.size() != kCount) throw std::logic_error("a function is no method");
  // Both the table of functions and that of methods have the order of the header.
  return set.bind([&set, addresses = std::bit_cast<std::array<void*, kCount>>(functions)](std::string_view name) {
    for (std::size_t i = 0; i < kCount; ++i) {
      if (set.methods[i].name == name) return addresses[i];
    }
    throw std::logic_error("a function is no method");
  });
}

}  // namespace rkllm_mcp::test
