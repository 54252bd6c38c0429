#include "app/shutdown.hpp"

#include "simulation/sim_bench.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace std::chrono_literals;

namespace {

// Steps that write down that they have begun, on a clock that stands still until the test moves it on.
struct EndOfProgram {
  Shutdown::Step step(std::string name, std::function<bool()> is_done = nullptr,
                      Clock::duration most = Shutdown::Step::kUntilDone) {
    return {[this, name = std::move(name)] { begun.push_back(name); }, std::move(is_done), most};
  }
  void begin(std::vector<Shutdown::Step> steps) {
    shutdown.emplace(bench.loop(), std::move(steps));
    shutdown->begin();
    bench.settle();
  }
  std::vector<std::string> begun;
  simulation::SimBench bench;
  std::optional<Shutdown> shutdown;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the steps of an end are taken in their order") {
  EndOfProgram end;
  end.shutdown.emplace(end.bench.loop(), std::vector{end.step("1"), end.step("2"), end.step("3")});
  CHECK_FALSE(end.shutdown->has_begun());
  end.shutdown->begin();
  CHECK(end.shutdown->has_begun());
  CHECK(end.begun == Names{"1", "2", "3"});
  CHECK_FALSE(end.shutdown->has_failed());
}

TEST_CASE("a step that is not done is waited for, and then the next one begins") {
  EndOfProgram end;
  bool is_done = false;
  end.begin({end.step(
                 "1", [&is_done] { return is_done; }, 1s),
             end.step("2")});
  CHECK(end.begun == Names{"1"});
  end.bench.pass(500ms);
  CHECK(end.begun == Names{"1"});
  is_done = true;
  end.bench.pass(10ms);
  CHECK(end.begun == Names{"1", "2"});
}

TEST_CASE("when the time of a step is over the next one begins all the same, with a time of its own") {
  EndOfProgram end;
  const auto never = [] { return false; };
  end.begin({end.step("1", never, 100ms), end.step("2", never, 200ms), end.step("3")});
  end.bench.pass(99ms);
  CHECK(end.begun == Names{"1"});
  end.bench.pass(6ms);
  CHECK(end.begun == Names{"1", "2"});
  end.bench.pass(199ms);
  CHECK(end.begun == Names{"1", "2"});
  end.bench.pass(6ms);
  CHECK(end.begun == Names{"1", "2", "3"});
}

TEST_CASE("a step that names no time is waited for however long it takes") {
  EndOfProgram end;
  bool is_done = false;
  end.begin({end.step("1", [&is_done] { return is_done; }), end.step("2")});
  end.bench.pass(24h);
  CHECK(end.begun == Names{"1"});
  is_done = true;
  end.bench.pass(10ms);
  CHECK(end.begun == Names{"1", "2"});
}

TEST_CASE("a step may be nothing but a wait, and is asked only when its turn has come") {
  EndOfProgram end;
  bool is_first_done = false;
  int asked = 0;
  end.begin({{.is_done = [&is_first_done] { return is_first_done; }},
             {.is_done = [&asked] { return ++asked == 2; }},
             end.step("3")});
  end.bench.pass(1s);
  CHECK(asked == 0);
  is_first_done = true;
  end.bench.pass(10ms);
  CHECK(asked == 1);
  end.bench.pass(10ms);
  CHECK(asked == 2);
  CHECK(end.begun == Names{"3"});
}

TEST_CASE("an end begins once, however often it is asked for") {
  EndOfProgram end;
  bool is_done = false;
  end.begin({end.step("1", [&is_done] { return is_done; }), end.step("2")});
  end.shutdown->begin();
  is_done = true;
  end.shutdown->begin();
  end.bench.settle();
  CHECK(end.begun == Names{"1"});
  end.bench.pass(10ms);
  end.shutdown->begin();
  CHECK(end.begun == Names{"1", "2"});
}

TEST_CASE("after a step that fails there is no other, and whoever has let it fail can tell") {
  EndOfProgram end;
  end.shutdown.emplace(end.bench.loop(),
                       std::vector<Shutdown::Step>{{.begin = [] { throw std::bad_alloc(); }}, end.step("2")});
  CHECK_THROWS_AS(end.shutdown->begin(), std::bad_alloc);
  CHECK(end.shutdown->has_failed());
  end.bench.pass(1h);
  end.shutdown->begin();
  CHECK(end.begun.empty());
}

TEST_CASE("a step that fails later ends the end as well, when it begins or when it is asked whether it is done") {
  EndOfProgram end;
  bool is_first_done = false;
  const auto fail = [] { throw std::bad_alloc(); };
  const auto wait = [&is_first_done] { return is_first_done; };
  SECTION("as the second begins") { end.begin({end.step("1", wait), {.begin = fail}, end.step("3")}); }
  SECTION("as the first is asked") {
    end.begin({end.step("1",
                        [&is_first_done] {
                          if (is_first_done) throw std::bad_alloc();
                          return false;
                        }),
               end.step("3")});
  }
  CHECK_FALSE(end.shutdown->has_failed());
  is_first_done = true;
  CHECK_THROWS_AS(end.bench.pass(10ms), std::bad_alloc);
  CHECK(end.shutdown->has_failed());
  end.bench.pass(1h);
  CHECK(end.begun == Names{"1"});
}
