#include "call/permission.hpp"

#include "runtime/fake_client.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

#include <cstddef>
#include <memory>

using namespace rkllm_mcp;

namespace {

struct Asking {
  std::shared_ptr<RequestTable> table = std::make_shared<RequestTable>();
  std::shared_ptr<Session> session = std::make_shared<Session>(table);

  RpcError refusal(Permission permission) const {
    return test::error_of([&] { permit(*session, permission); });
  }
};

}  // namespace

TEST_CASE("a client may do what its access token permits") {
  const Asking asking;
  const Principal caller{"ann", true, false};
  asking.session->principal = &caller;
  CHECK(is_permitted(*asking.session, Permission::kCall));
  CHECK_FALSE(is_permitted(*asking.session, Permission::kAdmin));
  permit(*asking.session, Permission::kCall);
  const RpcError refusal = asking.refusal(Permission::kAdmin);
  CHECK(refusal.code() == ErrorCode::kUnauthorized);
  CHECK_THAT(refusal.what(), test::has_text("ann has no permission admin"));
}

TEST_CASE("permissions stand each for itself: who may administer may not therefore call") {
  const Asking asking;
  const Principal warden{"bob", false, true};
  asking.session->principal = &warden;
  permit(*asking.session, Permission::kAdmin);
  CHECK_THAT(asking.refusal(Permission::kCall).what(), test::has_text("bob has no permission call"));
}

TEST_CASE("whoever is not known may do nothing") {
  const Asking asking;
  for (const Permission each : {Permission::kCall, Permission::kAdmin}) {
    CHECK_FALSE(is_permitted(*asking.session, each));
    CHECK(asking.refusal(each).code() == ErrorCode::kUnauthorized);
    CHECK_THAT(asking.refusal(each).what(), test::has_text("nobody knows who asks"));
  }
}

TEST_CASE("a client may have so many requests in progress, and the one that is too many is counted") {
  const auto table = std::make_shared<RequestTable>();
  const auto peer = std::make_shared<test::FakePeer>();
  Counts counts;
  for (const auto clients : {SessionOf::kOneClient, SessionOf::kManyClients}) {
    const auto session = std::make_shared<Session>(table, clients);
    check_quota(*session, *peer, 1, &counts);
    const RpcError error = test::error_of([&] { check_quota(*session, *peer, 0, &counts); });
    CHECK(error.code() == ErrorCode::kQueueFull);
    CHECK(error.data() == Json{{"queued", 0}, {"limit", 0}});
    CHECK_THAT(error.what(),
               test::has_text(session->shared() ? "from this address without a session" : "on this connection"));
  }
  CHECK(counts.reached.at(static_cast<std::size_t>(Limit::kRequestsPerConnection)) == 2);
}
