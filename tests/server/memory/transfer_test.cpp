// Export and import of conversations, over every kind of store.
#include "memory/transfer.hpp"
#include "server/memory/store_places.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <cstddef>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::memory;
using test::commit;

namespace {

const Key kMoved{"laptop", "chat_1"};

struct Transferred {
  Transferred() : place(test::kinds_of_places().at(static_cast<std::size_t>(kind)).make()), store(place->open()) {}
  int kind = GENERATE(range(0, static_cast<int>(test::kinds_of_places().size())));
  std::unique_ptr<test::StorePlace> place;
  std::unique_ptr<Store> store;

  void fill() {
    commit(*store, [&] {
      store->create(kMoved, 1'000);
      store->rename(kMoved, "Răng");
      for (int n = 1; n <= 7; ++n)
        store->append(kMoved, {Role::kUser, "n" + std::to_string(n), R"({"n":1})", n * 1000});
      store->set_summary(kMoved, "S", 2, 9'000);
    });
  }
  Json exported(const Key& key, std::int64_t page = 3) {
    Json lines = Json::array();
    std::string cursor;
    do {
      auto part = export_part(*store, key, cursor, {page});
      for (Json& line : part.lines) lines.push_back(std::move(line));
      cursor = part.next;
    } while (!cursor.empty());
    return lines;
  }
  Imported import(const std::string& space, const Json& lines, IfThere if_there = IfThere::kRefuse) {
    std::vector<ImportLine> understood;
    for (const Json& line : lines) understood.push_back(import_line(line, "line"));
    Imported imported;
    commit(*store, [&] {
      if (if_there == IfThere::kRefuse) refuse_existing(*store, "test", space, understood);
      add_waiting(*store, "test", space, understood, "lines");
      imported = finish_import(*store, "test", space, if_there);
    });
    return imported;
  }
};

}  // namespace

TEST_CASE("what was exported is imported as it was", "[contract]") {
  Transferred opened;
  opened.fill();
  const Json lines = opened.exported(kMoved);
  REQUIRE(lines.size() == 9);
  CHECK(lines[0] == Json::parse(R"({"conversation":"chat_1","created":"1970-01-01T00:00:01.000Z","title":"Răng"})"));
  CHECK(lines[8]["summary"]["covers"] == 5);
  const Imported imported = opened.import("phone", lines);
  CHECK(imported.conversations == 1);
  CHECK(imported.messages == 7);
  CHECK(opened.exported({"phone", "chat_1"}) == lines);
  CHECK(opened.store->messages({"phone", "chat_1"}, 0, {100}) == opened.store->messages(kMoved, 0, {100}));
  CHECK(opened.store->search("phone", {.text = "n3"}).hits.size() == 1);
}

TEST_CASE("a part of an export has so many bytes of JSON, and a summary without room is the last part", "[contract]") {
  Transferred opened;
  commit(*opened.store, [&] {
    // Each byte is six of JSON.
    for (int n = 0; n < 3; ++n) opened.store->append(kMoved, {Role::kUser, std::string(1000, '\x01'), "", 1000});
    opened.store->set_summary(kMoved, std::string(1000, 's'), 0, 1000);
  });
  std::vector<std::size_t> sizes;
  std::string cursor;
  do {
    const auto part = export_part(*opened.store, kMoved, cursor, {100, 6500});
    sizes.push_back(part.lines.size());
    cursor = part.next;
  } while (!cursor.empty());
  CHECK(sizes == std::vector<std::size_t>{2, 1, 1, 1});  // the first has the line of the conversation as well
}

TEST_CASE("an import waits out of sight until it is finished, and refuses what exists unless it replaces",
          "[contract]") {
  Transferred opened;
  opened.fill();
  const Json lines = opened.exported(kMoved);
  CHECK_THROWS_AS(opened.import("laptop", lines), InvalidParams);
  CHECK(opened.store->spaces().size() == 1);
  const Json one = Json::array({lines[0], lines[1]});
  CHECK(opened.import("laptop", one, IfThere::kReplace).messages == 1);
  CHECK(opened.store->messages(kMoved, 0, {100}).size() == 1);
  const ImportLine begin = import_line(lines[0], "line");
  const ImportLine message = import_line(lines[1], "line");
  commit(*opened.store, [&] { add_waiting(*opened.store, "long", "phone", {begin}, "lines"); });
  commit(*opened.store, [&] { add_waiting(*opened.store, "long", "phone", {message, message}, "lines"); });
  CHECK(opened.store->list("phone", 0, 10).empty());
  CHECK(opened.store->search("phone", {.text = "n1"}).hits.empty());
  commit(*opened.store, [&] { give_up_import(*opened.store, "long", "phone"); });
  CHECK(opened.store->spaces() == std::vector<std::string>{"laptop"});
}

TEST_CASE("lines that are wrong are refused with their path", "[contract]") {
  Transferred opened;
  const auto path_of = [](const char* line) -> std::string {
    try {
      import_line(Json::parse(line), "params.lines[7]");
      return "none";
    } catch (const InvalidParams& error) {
      return error.data()["path"].get<std::string>();
    }
  };
  CHECK(path_of("[]") == "params.lines[7]");
  CHECK(path_of(R"({"role":"king","content":""})") == "params.lines[7].role");
  CHECK(path_of(R"({"role":"user","content":1})") == "params.lines[7].content");
  CHECK(path_of(R"({"role":"user","content":"\u0000"})") == "params.lines[7].content");
  CHECK(path_of(R"({"role":"user","content":"","timestamp":"yesterday"})") == "params.lines[7].timestamp");
  CHECK(path_of(R"({"role":"user","content":"","metadata":{"a":"\u0000"}})") == "params.lines[7].metadata");
  CHECK(path_of(R"({"conversation":""})") == "params.lines[7].conversation");
  const std::string titled = R"({"conversation":"c","title":")" + std::string(1025, 'x') + "\"}";
  CHECK(path_of(titled.c_str()) == "params.lines[7].title");
  CHECK(path_of(R"({"summary":{"text":"","covers":-1}})") == "params.lines[7].summary.covers");
  CHECK(path_of(R"({"role":"user","content":"","timestamp":"2026-11-23T21:27:58.5Z"})") == "none");
  const ImportLine message = import_line(Json::parse(R"({"role":"user","content":""})"), "line");
  CHECK_THROWS_AS(add_waiting(*opened.store, "x", "", {message}, "lines"), InvalidParams);
}
