// Each note of World::saw("...") in the sources of the simulation is expected: that faults occur, limits are reached,
// and what a client does comes to its end. So there is none that nobody has ever seen.
#include "notes.hpp"

#include "support/catch.hpp"

#include <set>
#include <string>

using rkllm_mcp::simulation::notes_in;

TEST_CASE("the notes of a source are the texts that it gives to saw()") {
  CHECK(notes_in(R"(saw("one"); x.saw(is("it") || has["it"] ? "two" : "three, "
      "and (more"); call("four"); saw(what); saw(prefix("five ") + name);)") ==
        std::set<std::string>{"one", "two", "three, and (more"});
  CHECK(notes_in(R"(return fails("six") || has_seen("seven");)") == std::set<std::string>{"six"});
  CHECK(notes_in(R"(saw("eight)").empty());
}
