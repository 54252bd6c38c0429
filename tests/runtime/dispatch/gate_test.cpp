#include "dispatch/gate.hpp"

#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

using namespace rkllm_mcp;

namespace {

const std::string kFirstToken = "token-of-the-first-one";
const std::string kSecondToken = "token-of-the-second-one";

AccessTokens two_tokens() {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "tokens";
  std::ofstream(path) << "first " << kFirstToken << "\nsecond " << kSecondToken << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  return AccessTokens::read(path);
}

Request ping_with(const std::string& token) {
  return {"1", "ping", token.empty() ? Json::object() : Json{{"_meta", {{"token", token}}}}};
}

}  // namespace

TEST_CASE("over UDP what is not let in changes nothing for the requests in progress") {
  asio::io_context loop;
  Gate gate(loop, two_tokens());
  const auto session = std::make_shared<Session>(std::weak_ptr<RequestTable>());
  const auto peer = std::make_shared<test::FakePeer>(TransportKind::kUdp, "192.0.2.1:1");
  REQUIRE(gate.admit(ping_with(kFirstToken), *session, peer->answer()) == Gate::Admission::kExecute);
  const Principal* const first = gate.identify(kFirstToken);
  REQUIRE(session->principal == first);
  const Session::Hold in_progress(*session);
  const std::vector<Message> forged{ping_with(""),
                                    ping_with("nobody-has-this-one"),
                                    Notification{"notifications/initialized", Json()},
                                    Response{"\"server-1\"", Json::object(), Json()},
                                    Malformed{RequestId(kNullId), unauthorized("")},
                                    Request{"2", "auth", Json{{"token", "nobody-has-this-one"}}}};
  for (const Message& message : forged) {
    CHECK(gate.admit(message, *session, peer->answer()) == Gate::Admission::kRefused);
    CHECK(session->principal == first);
  }
}

TEST_CASE("over UDP an address is another holder's only when nothing of the one before is in progress") {
  asio::io_context loop;
  Gate gate(loop, two_tokens());
  const auto session = std::make_shared<Session>(std::weak_ptr<RequestTable>());
  const auto peer = std::make_shared<test::FakePeer>(TransportKind::kUdp, "192.0.2.1:1");
  REQUIRE(gate.admit(ping_with(kFirstToken), *session, peer->answer()) == Gate::Admission::kExecute);
  {
    const Session::Hold in_progress(*session);
    CHECK(gate.admit(ping_with(kSecondToken), *session, peer->answer()) == Gate::Admission::kRefused);
    REQUIRE(peer->sent.size() == 1);
    CHECK(peer->sent[0].find("take another port") != std::string::npos);
    const Request auth{"2", "auth", Json{{"token", kSecondToken}}};
    CHECK(gate.admit(auth, *session, peer->answer()) == Gate::Admission::kRefused);
    CHECK(session->principal == gate.identify(kFirstToken));
    CHECK(gate.admit(ping_with(kFirstToken), *session, peer->answer()) == Gate::Admission::kExecute);
  }
  CHECK(gate.admit(ping_with(kSecondToken), *session, peer->answer()) == Gate::Admission::kExecute);
  CHECK(session->principal == gate.identify(kSecondToken));
}

TEST_CASE("while too many guesses of an address wait, it cannot try others, and other addresses notice nothing") {
  asio::io_context loop;
  Gate gate(loop, two_tokens());
  CHECK(gate.principal_of(kFirstToken, "192.0.2.1:1") != nullptr);
  CHECK(gate.complaint("192.0.2.1:1") == "nobody has this access token");
  std::size_t refused = 0;
  constexpr std::size_t kGuesses = 1000;
  for (std::size_t i = 0; i < kGuesses; ++i) {
    const std::string address = "192.0.2.1:" + std::to_string(i);
    CHECK(gate.principal_of("nobody-has-this-one", address) == nullptr);
    gate.refuse_guess(address, [&refused] { ++refused; });
  }
  CHECK(refused == kGuesses - GuessThrottle::kMostWaiting);
  CHECK(gate.principal_of(kSecondToken, "192.0.2.1:2") == nullptr);
  CHECK(gate.complaint("192.0.2.1:2").find("too many wrong access tokens") == 0);
  CHECK(gate.principal_of(kFirstToken, "192.0.2.1:3") != nullptr);  // it has come from there before
  CHECK(gate.principal_of(kSecondToken, "192.0.2.2:1") != nullptr);
}

TEST_CASE("of too many addresses that have proved themselves, the one that has not come for longest is forgotten") {
  asio::io_context loop;
  Gate gate(loop, two_tokens());
  const auto fill_line = [&gate](const std::string& address) {
    for (int i = 0; i < 100; ++i) gate.refuse_guess(address, [] {});
  };
  CHECK(gate.principal_of(kFirstToken, "192.0.2.1:1") != nullptr);
  CHECK(gate.principal_of(kFirstToken, "192.0.2.2:1") != nullptr);
  CHECK(gate.principal_of(kFirstToken, "192.0.2.1:2") != nullptr);
  constexpr int kOthers = 1023;
  for (int i = 0; i < kOthers; ++i) {
    const std::string address = "10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ":1";
    CHECK(gate.principal_of(kFirstToken, address) != nullptr);
  }
  fill_line("192.0.2.1:3");
  fill_line("192.0.2.2:3");
  fill_line("10.0.3.254:3");
  CHECK(gate.principal_of(kFirstToken, "192.0.2.1:4") != nullptr);
  CHECK(gate.principal_of(kFirstToken, "192.0.2.2:4") == nullptr);
  CHECK(gate.principal_of(kFirstToken, "10.0.3.254:4") != nullptr);
}
