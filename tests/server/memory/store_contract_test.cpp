// What every store (memory/store.hpp, Store) does with conversations: SqliteStore, and PostgresqlStore where the tests
// can start a PostgreSQL, see store_places.hpp.
#include "server/memory/store_places.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::memory;
using test::commit;
using test::contents_of;
using test::said;

namespace {

const Key kKey{"laptop", "chat_1"};
const Limits kAll{1'000'000};

struct Opened {
  Opened() : place(test::kinds_of_places().at(static_cast<std::size_t>(kind)).make()), store(place->open()) {}
  int kind = GENERATE(range(0, static_cast<int>(test::kinds_of_places().size())));
  std::unique_ptr<test::StorePlace> place;
  std::unique_ptr<Store> store;

  void add(const Key& key, std::vector<std::string> contents) {
    commit(*store, [&] {
      for (auto& content : contents) store->append(key, said(std::move(content)));
    });
  }
  std::vector<std::string> all(const Key& key) { return contents_of(store->messages(key, 0, kAll)); }
  std::vector<std::string> found(const std::string& text, bool fold = true) {
    std::vector<std::string> contents;
    for (const Hit& hit : store->search(kKey.space, {.text = text, .fold = fold}).hits)
      contents.push_back(hit.message.content);
    return contents;
  }
  void purge() {
    for (bool is_more = true; is_more;) {
      commit(*store, [&] { is_more = store->purge(2); });
    }
  }
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("messages are kept exactly, in order, with all they came with", "[contract]") {
  Opened opened;
  const Texts contents{"", "Xin chào, răng sâu?", "\x01\x7f\t\r\n\"\\'%", "👩‍👩‍👧 e\xcc\x81 \xef\xbf\xbd",
                       std::string(1'000'000, 'x') + "ế"};
  std::vector<NewMessage> given;
  for (const auto& content : contents)
    given.push_back({Role::kAssistant, content, R"({"n":[1,null]})", 1'700'000'000'123});
  given.push_back({Role::kTool, "42", "", 5});
  commit(*opened.store, [&] {
    for (const auto& each : given) opened.store->append(kKey, each);
  });
  opened.store = opened.place->open();
  const auto kept = opened.store->messages(kKey, 0, kAll);
  REQUIRE(kept.size() == given.size());
  for (std::size_t at = 0; at < given.size(); ++at) {
    CHECK(static_cast<const NewMessage&>(kept[at]) == given[at]);
    CHECK(kept[at].seq == static_cast<std::int64_t>(at) + 1);
  }
  CHECK(opened.store->find(kKey)->messages == 6);
}

TEST_CASE("what is rolled back was never there", "[contract]") {
  Opened opened;
  opened.add(kKey, {"one"});
  {
    Transaction transaction(*opened.store);
    opened.store->append(kKey, said("two"));
    opened.store->set_summary(kKey, "text", 0, 1);
    opened.store->create({"laptop", "other"}, 1);
  }
  CHECK(opened.all(kKey) == Texts{"one"});
  CHECK_FALSE(opened.store->summary(kKey));
  CHECK_FALSE(opened.store->find({"laptop", "other"}));
  CHECK(opened.found("two").empty());
}

TEST_CASE("a conversation is made once, and is empty then", "[contract]") {
  Opened opened;
  bool first = false;
  bool second = true;
  commit(*opened.store, [&] {
    first = opened.store->create(kKey, 7);
    second = opened.store->create(kKey, 8);
  });
  CHECK(first);
  CHECK_FALSE(second);
  CHECK(opened.store->find(kKey)->created == 7);
  CHECK(opened.all(kKey).empty());
  CHECK(opened.store->recent(kKey, {6}).empty());
}

TEST_CASE("of a conversation that does not exist everything is empty, and nothing can be changed", "[contract]") {
  Opened opened;
  opened.add({"laptop", "a"}, {"x"});
  // The last three are no texts to PostgreSQL.
  for (const Key& key : {kKey, Key{"laptop", "caf\xe9"}, Key{"caf\xe9", "a"}, Key{"laptop", std::string("a\0b", 3)}}) {
    CHECK_FALSE(opened.store->find(key));
    CHECK(opened.all(key).empty());
    CHECK(opened.store->recent(key, {6}).empty());
    CHECK(opened.store->old(key, 6, kAll).empty());
    CHECK_FALSE(opened.store->summary(key));
    commit(*opened.store, [&] {
      CHECK_FALSE(opened.store->clear(key, 1));
      CHECK_FALSE(opened.store->remove(key));
      CHECK_FALSE(opened.store->rename(key, "title"));
    });
  }
}

TEST_CASE("the recent messages are the last ones, in order, and the old ones are before them", "[contract]") {
  Opened opened;
  opened.add(kKey, {"1", "2", "3", "4", "5"});
  CHECK(contents_of(opened.store->recent(kKey, {2})) == Texts{"4", "5"});
  CHECK(contents_of(opened.store->recent(kKey, {9})) == Texts{"1", "2", "3", "4", "5"});
  CHECK(contents_of(opened.store->old(kKey, 2, kAll)) == Texts{"1", "2", "3"});
  CHECK(opened.store->old(kKey, 5, kAll).empty());
}

TEST_CASE("a summary covers what is before the recent messages at that moment, and an empty one covers nothing",
          "[contract]") {
  Opened opened;
  opened.add(kKey, {"1", "2", "3", "4", "5"});
  commit(*opened.store, [&] { opened.store->set_summary(kKey, "S1", 2, 77); });
  CHECK(opened.store->summary(kKey) == Summary{"S1", 3, 77});
  CHECK(opened.store->old(kKey, 2, kAll).empty());
  opened.add(kKey, {"6", "7"});
  CHECK(contents_of(opened.store->old(kKey, 2, kAll)) == Texts{"4", "5"});
  commit(*opened.store, [&] { opened.store->set_summary(kKey, "S1\n\nS2", 2, 78); });
  CHECK(opened.store->summary(kKey) == Summary{"S1\n\nS2", 5, 78});
  commit(*opened.store, [&] { opened.store->set_summary(kKey, "", 2, 79); });
  CHECK(contents_of(opened.store->old(kKey, 2, kAll)) == Texts{"1", "2", "3", "4", "5"});
  CHECK(opened.all(kKey).size() == 7);
}

TEST_CASE("clearing takes messages and summary, not the conversation, and deleting takes all", "[contract]") {
  Opened opened;
  opened.add(kKey, {"một", "hai", "ba"});
  commit(*opened.store, [&] {
    opened.store->set_summary(kKey, "S", 1, 1);
    opened.store->rename(kKey, "Răng");
    CHECK(opened.store->clear(kKey, 2));
  });
  CHECK(opened.store->find(kKey)->title == "Răng");
  CHECK(opened.store->find(kKey)->messages == 0);
  CHECK(opened.store->find(kKey)->bytes == 0);
  CHECK_FALSE(opened.store->summary(kKey));
  CHECK(opened.found("hai").empty());
  opened.add(kKey, {"bốn"});
  commit(*opened.store, [&] { opened.store->set_summary(kKey, "S", 0, 1); });
  CHECK(opened.store->summary(kKey)->covers == 1);
  CHECK(opened.all(kKey) == Texts{"bốn"});
  commit(*opened.store, [&] { CHECK(opened.store->remove(kKey)); });
  CHECK_FALSE(opened.store->find(kKey));
  CHECK(opened.found("bốn").empty());
  opened.add(kKey, {"new"});
  CHECK(opened.all(kKey) == Texts{"new"});
}

TEST_CASE("what was removed is freed, and nothing else", "[contract]") {
  Opened opened;
  const Key other{"laptop", "other"};
  opened.add(other, {"stays here"});
  opened.add(kKey, Texts(50, std::string(20'000, 'x') + " goes"));
  const auto full = opened.store->used_bytes();
  commit(*opened.store, [&] { opened.store->remove(kKey); });
  opened.purge();
  CHECK(opened.store->used_bytes() < full / 2);
  CHECK(opened.all(other) == Texts{"stays here"});
  CHECK(opened.found("stays") == Texts{"stays here"});
  CHECK(opened.found("goes").empty());
  opened.store->check();
}

TEST_CASE("a summary counts in what a store takes, until it is replaced, cleared or deleted", "[contract]") {
  Opened opened;
  constexpr std::int64_t kLong = 1'000'000;
  opened.add(kKey, {"x"});
  const auto before = opened.store->used_bytes();
  const auto takes_more = [&](std::int64_t than) { return opened.store->used_bytes() - before > than; };
  const auto summarise = [&] {
    commit(*opened.store, [&] { opened.store->set_summary(kKey, std::string(kLong, 's'), 0, 1); });
    CHECK(takes_more(kLong / 2));
  };
  summarise();
  commit(*opened.store, [&] { opened.store->put_summary(kKey, {"S", 1, 1}); });
  CHECK_FALSE(takes_more(kLong / 2));
  summarise();
  commit(*opened.store, [&] { opened.store->clear(kKey, 2); });
  CHECK_FALSE(takes_more(kLong / 2));
  summarise();
  commit(*opened.store, [&] { opened.store->remove(kKey); });
  CHECK_FALSE(takes_more(kLong / 2));
}

TEST_CASE("lists are paged, newest first, and a page goes on where it ended, whatever has come or changed",
          "[contract]") {
  Opened opened;
  for (int n = 1; n <= 5; ++n) opened.add({"laptop", "c" + std::to_string(n)}, {"x"});
  opened.add({"phone", "p"}, {"x"});
  const auto first = opened.store->list("laptop", 0, 2);
  REQUIRE(first.size() == 2);
  CHECK(first[0].key.id == "c5");
  opened.add({"laptop", "c1"}, {"again"});
  opened.add({"laptop", "c6"}, {"new"});
  const auto second = opened.store->list("laptop", first.back().place, 9);
  REQUIRE(second.size() == 3);
  CHECK(second[0].key.id == "c3");
  CHECK(second[2].key.id == "c1");
  CHECK(second[2].messages == 2);
  CHECK(opened.store->spaces() == Texts{"laptop", "phone"});
}

TEST_CASE("the same id in two spaces is two conversations", "[contract]") {
  Opened opened;
  const Key other{"phone", kKey.id};
  opened.add(kKey, {"mine"});
  opened.add(other, {"theirs"});
  CHECK(opened.all(kKey) == Texts{"mine"});
  CHECK(opened.found("theirs").empty());
  commit(*opened.store, [&] { opened.store->remove(kKey); });
  CHECK(opened.all(other) == Texts{"theirs"});
}

TEST_CASE("messages are given in pages, bounded in number and in bytes, one at least", "[contract]") {
  Opened opened;
  opened.add(kKey, {std::string(10, 'a'), std::string(10, 'b'), std::string(10, 'c')});
  CHECK(opened.store->messages(kKey, 0, {2}).size() == 2);
  CHECK(opened.store->messages(kKey, 2, {2}).front().seq == 3);
  CHECK(opened.store->messages(kKey, 0, {9, 20}).size() == 2);
  CHECK(opened.store->messages(kKey, 0, {9, 1}).size() == 1);
}

TEST_CASE("search finds messages that have all words, newest first, within a conversation if asked", "[contract]") {
  Opened opened;
  opened.add(kKey, {"the quick fox", "the slow fox", "Fox, QUICK!", "a \"quoted\" (fox*) AND quick: OR"});
  opened.add({"laptop", "chat_2"}, {"another quick fox"});
  CHECK(opened.found("quick fox") ==
        Texts{"another quick fox", "a \"quoted\" (fox*) AND quick: OR", "Fox, QUICK!", "the quick fox"});
  const auto within = opened.store->search("laptop", {.text = "quick", .id = "chat_1", .count = 2}).hits;
  REQUIRE(within.size() == 2);
  CHECK(within[0].id == "chat_1");
  const auto next = opened.store->search("laptop", {.text = "quick", .id = "chat_1", .before = within[1].place}).hits;
  REQUIRE(next.size() == 1);
  CHECK(next[0].message.content == "the quick fox");
  CHECK(opened.found("wolf").empty());
  CHECK_THROWS_AS(opened.found(" -- \"* "), InvalidParams);
}

TEST_CASE("the recent messages are bounded in bytes, the newest at least, and the oldest are left out", "[contract]") {
  Opened opened;
  commit(*opened.store, [&] {
    opened.store->append(kKey, {Role::kUser, std::string(10, 'a'), "", 1});
    opened.store->append(kKey, {Role::kUser, std::string(10, 'b'), R"({"n":123})", 2});
    opened.store->append(kKey, {Role::kUser, std::string(10, 'c'), "", 3});
  });
  CHECK(opened.store->recent(kKey, {9, 39}).size() == 3);
  CHECK(contents_of(opened.store->recent(kKey, {9, 38})) == Texts{std::string(10, 'b'), std::string(10, 'c')});
  CHECK(opened.store->recent(kKey, {9, 28}).size() == 1);
  CHECK(contents_of(opened.store->recent(kKey, {9, 1})) == Texts{std::string(10, 'c')});
}

TEST_CASE("of a long content search gives the beginning, in whole characters, and says so", "[contract]") {
  Opened opened;
  opened.add(kKey, {"word " + std::string(10, 'x'), "word ếếếếếế"});
  const auto hits = opened.store->search("laptop", {.text = "word", .content_bytes = 15}).hits;
  REQUIRE(hits.size() == 2);
  CHECK(hits[0].message.content == "word ếếế");  // three bytes each, and one left over
  CHECK(hits[0].is_cut);
  CHECK(hits[1].message.content == "word " + std::string(10, 'x'));
  CHECK_FALSE(hits[1].is_cut);
}

TEST_CASE("a page of hits is bounded in number and in bytes with their metadata, one at least, and says if it is all",
          "[contract]") {
  Opened opened;
  commit(*opened.store, [&] {
    for (int n = 0; n < 4; ++n) {
      opened.store->append(
          kKey, {Role::kUser, "word " + std::string(95, 'x'), R"({"n":")" + std::string(92, 'm') + R"("})", n + 1});
    }
  });
  const auto page = [&](std::int64_t count, std::int64_t content_bytes, std::int64_t bytes, std::int64_t before = 0) {
    return opened.store->search(
        "laptop", {.text = "word", .before = before, .count = count, .content_bytes = content_bytes, .bytes = bytes});
  };
  CHECK(page(4, 100, 1000).hits.size() == 4);
  CHECK_FALSE(page(4, 100, 1000).is_more);
  CHECK(page(3, 100, 1000).hits.size() == 3);
  CHECK(page(3, 100, 1000).is_more);
  CHECK(page(9, 100, 400).hits.size() == 2);  // 200 bytes each
  CHECK(page(9, 100, 400).is_more);
  CHECK(page(9, 10, 400).hits.size() == 3);  // what is cut does not count
  const auto first = page(9, 100, 1);
  REQUIRE(first.hits.size() == 1);
  CHECK(first.is_more);
  CHECK(first.hits[0].message.created == 4);
  const auto rest = page(9, 100, 600, first.hits[0].place);
  CHECK(rest.hits.size() == 3);
  CHECK_FALSE(rest.is_more);
  CHECK(opened.store->search("laptop", {.text = "wolf"}).hits.empty());
  CHECK_FALSE(opened.store->search("laptop", {.text = "wolf"}).is_more);
}

TEST_CASE("search minds Vietnamese diacritics, or does not, as it is asked to", "[contract]") {
  Opened opened;
  opened.add(kKey, {"Đau răng", "dau rang", "tiếng Việt", "ti\x65\xcc\x82\xcc\x81ng Vi\x65\xcc\xa3\xcc\x82t"});
  CHECK(opened.found("dau rang") == Texts{"dau rang", "Đau răng"});
  CHECK(opened.found("đau răng") == Texts{"dau rang", "Đau răng"});
  CHECK(opened.found("đau răng", false) == Texts{"Đau răng"});
  CHECK(opened.found("dau", false) == Texts{"dau rang"});
  CHECK(opened.found("TIENG viet").size() == 2);
  CHECK(opened.found("tiếng việt", false).size() == 2);
  CHECK(opened.found("ti\x65\xcc\x82\xcc\x81ng", false).size() == 2);
  CHECK(opened.found("tiềng", false).empty());
}

TEST_CASE("the first 256 KiB of a message can be searched", "[contract]") {
  Opened opened;
  opened.add(kKey, {"first " + std::string(256 * 1024, '.') + " last"});
  CHECK(opened.found("first").size() == 1);
  CHECK(opened.found("last").empty());
  commit(*opened.store, [&] { opened.store->remove(kKey); });
  opened.purge();
  opened.store->check();
}

TEST_CASE("those of some spaces alone can be forgotten", "[contract]") {
  Opened opened;
  for (const char* const space : {"laptop", "\x01kept:laptop", "\x01kept:"}) {
    commit(*opened.store, [&] { opened.store->append({space, "1"}, {Role::kUser, "x", "", 1000}); });
  }
  commit(*opened.store, [&] { CHECK(opened.store->forget_before(2500, 10, "\x01kept:") == 2); });
  CHECK(opened.store->find({"laptop", "1"}));
  CHECK(opened.store->spaces() == std::vector<std::string>{"laptop"});
}

TEST_CASE("conversations that have not changed for long can be forgotten, oldest first", "[contract]") {
  Opened opened;
  for (int n = 1; n <= 4; ++n) {
    commit(*opened.store, [&] {
      opened.store->append({"laptop", std::to_string(n)}, {Role::kUser, "x", "", n * 1000});
    });
  }
  commit(*opened.store, [&] { CHECK(opened.store->forget_before(2500, 1) == 1); });
  CHECK_FALSE(opened.store->find({"laptop", "1"}));
  commit(*opened.store, [&] { CHECK(opened.store->forget_before(2500, 10) == 1); });
  commit(*opened.store, [&] { CHECK(opened.store->forget_oldest()); });
  CHECK_FALSE(opened.store->find({"laptop", "3"}));
  CHECK(opened.store->find({"laptop", "4"}));
}

TEST_CASE("what waits to be imported is not forgotten, however old it is and whatever room is wanted", "[contract]") {
  Opened opened;
  const Key waiting{std::string(kWaitingSpaces) + "one\x01laptop", "1"};
  commit(*opened.store, [&] {
    opened.store->append(waiting, {Role::kUser, "x", "", 1000});
    opened.store->append({"laptop", "2"}, {Role::kUser, "x", "", 2000});
  });
  commit(*opened.store, [&] { CHECK(opened.store->forget_before(5000, 10) == 1); });
  commit(*opened.store, [&] { CHECK_FALSE(opened.store->forget_oldest()); });
  CHECK(opened.store->find(waiting));
  CHECK_FALSE(opened.store->find({"laptop", "2"}));
}

TEST_CASE("two connections see what the other has committed, and number messages as one", "[contract]") {
  Opened opened;
  const auto other = opened.place->open();
  for (int n = 0; n < 10; ++n) {
    Store& writer = n % 2 == 0 ? *opened.store : *other;
    commit(writer, [&] { CHECK(writer.append(kKey, said(std::to_string(n))) == n + 1); });
  }
  CHECK(opened.all(kKey) == Texts{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
}

TEST_CASE("what is read in one transaction was so at one moment", "[contract]") {
  Opened opened;
  const auto other = opened.place->open();
  opened.add(kKey, {"1", "2"});
  {
    Transaction reading(*opened.store, Transaction::Use::kReading);
    REQUIRE(opened.store->recent(kKey, {1}).size() == 1);
    commit(*other, [&] {
      other->append(kKey, said("3"));
      other->set_summary(kKey, "S", 1, 1);
    });
    CHECK(opened.all(kKey) == Texts{"1", "2"});
    CHECK_FALSE(opened.store->summary(kKey));
    reading.commit();
  }
  CHECK(opened.all(kKey) == Texts{"1", "2", "3"});
  CHECK(opened.store->summary(kKey));
}
