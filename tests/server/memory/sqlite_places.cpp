#include "server/memory/store_places.hpp"

#include "memory/sqlite/sqlite_store.hpp"

namespace rkllm_mcp::test {
namespace {

class SqlitePlace final : public StorePlace {
 public:
  std::unique_ptr<memory::Store> open() override {
    return std::make_unique<memory::SqliteStore>(memory::Connection::Options{directory_ / "memory.db"},
                                                 memory::SqliteStore::Use::kWriting);
  }

 private:
  const TemporaryDirectory directory_;
};

}  // namespace

std::vector<KindOfPlace> kinds_of_places() {
  return {{"sqlite", [] { return std::make_unique<SqlitePlace>(); }}};
}

}  // namespace rkllm_mcp::test
