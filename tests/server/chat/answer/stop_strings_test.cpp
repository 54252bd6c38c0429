#include "chat/answer/answer_reader.hpp"

#include "support/catch.hpp"

#include <string>

using namespace rkllm_mcp::chat;

TEST_CASE("without stop strings all text goes out at once") {
  StopStrings stops({});
  CHECK(stops.feed("one") == "one");
  CHECK(stops.feed("") == "");
  CHECK(stops.flush() == "");
  CHECK(stops.stopped_by() == "");
}

TEST_CASE("an answer ends before the first stop string, and nothing comes after it") {
  StopStrings stops({"STOP", "\n\n"});
  CHECK(stops.feed("one\n\ntwo STOP") == "one");
  CHECK(stops.stopped_by() == "\n\n");
  CHECK(stops.feed("three") == "");
  CHECK(stops.flush() == "");
}

TEST_CASE("a stop string is found however the text is cut, and what turns out to be none goes out") {
  StopStrings stops({"STOP"});
  CHECK(stops.feed("aS") == "a");
  CHECK(stops.feed("T") == "");
  CHECK(stops.feed("x") == "STx");
  CHECK(stops.feed("STO") == "");
  CHECK(stops.stopped_by() == "");
  CHECK(stops.feed("P!") == "");
  CHECK(stops.stopped_by() == "STOP");
}

TEST_CASE("what was held back goes out at the end, when nothing follows") {
  StopStrings stops({"STOP"});
  CHECK(stops.feed("a STO") == "a ");
  CHECK(stops.flush() == "STO");
  CHECK(stops.stopped_by() == "");
  CHECK(stops.flush() == "");
}

TEST_CASE("of two stop strings that begin alike the shorter one ends the answer") {
  StopStrings stops({"##", "#"});
  CHECK(stops.feed("a##") == "a");
  CHECK(stops.stopped_by() == "#");
}
