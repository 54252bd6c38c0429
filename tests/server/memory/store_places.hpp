// Where the stores under test keep what they are given: every kind of store passes the same tests
// (store_contract_test.cpp, transfer_test.cpp). A new kind is added to kinds_of_places().
#pragma once

#include "memory/store.hpp"
#include "support/process.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rkllm_mcp::test {

// An empty place. What is in it goes with this object.
class StorePlace {
 public:
  virtual ~StorePlace() = default;
  // A writer's connection; several may be open.
  virtual std::unique_ptr<memory::Store> open() = 0;
};

struct KindOfPlace {
  std::string name;
  std::function<std::unique_ptr<StorePlace>()> make;
};
std::vector<KindOfPlace> kinds_of_places();

// Runs `action` in a transaction.
template <class Action>
void commit(memory::Store& store, Action action) {
  memory::Transaction transaction(store);
  action();
  transaction.commit();
}

inline memory::NewMessage said(std::string content, memory::Role role = memory::Role::kUser) {
  return {role, std::move(content), {}, memory::now()};
}

inline std::vector<std::string> contents_of(const std::vector<memory::StoredMessage>& messages) {
  std::vector<std::string> contents;
  for (const auto& message : messages) contents.push_back(message.content);
  return contents;
}

}  // namespace rkllm_mcp::test
