#include "server/memory/store_places.hpp"

#include "memory/postgresql/postgresql_store.hpp"
#include "server/memory/postgresql_server.hpp"

namespace rkllm_mcp::test {
namespace {

class PostgresqlPlace final : public StorePlace {
 public:
  std::unique_ptr<memory::Store> open() override {
    using memory::postgresql::PostgresqlStore;
    return std::make_unique<PostgresqlStore>(PostgresqlStore::Options{address_}, PostgresqlStore::Use::kWriting);
  }

 private:
  const std::string address_ = shared_postgresql_server().emptied_database();
};

}  // namespace

std::vector<KindOfPlace> kinds_of_places() {
  return {{"postgresql", [] { return std::make_unique<PostgresqlPlace>(); }}};
}

}  // namespace rkllm_mcp::test
