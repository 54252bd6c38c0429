// That each invariant is one: no complaint of the simulation that no fault has ever caused. The table names faults that
// are put back, and what they are told by; then the sources are looked through for complaints that none of them has
// brought about. Not under a sanitizer, which finds what was put back as well: a connection that keeps itself is a
// leak.
#ifndef RKLLM_MCP_FEWER_SCHEDULES

#include "schedule.hpp"
#include "simulation/world/fault.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp::simulation;

namespace {

constexpr std::uint64_t kMostSchedules = 2'000;  // until each fault is found

struct Case {
  const char* fault;
  std::vector<std::string_view> violations;  // words of each that it must be told by; others may come before
  std::uint64_t seed = 1;                    // from which on they are looked for, where they are rare
};

// A race that is found once in some 20,000 schedules: `simulate --put-back` finds another seed when this one has come
// to mean something else.
constexpr std::uint64_t kRace = 3'050'201;

// Faults of the server.
std::vector<Case> faults_of_the_server() {
  return {
      {"a client that has closed is taken for one that has finished sending", {"calls of client"}, 424},
      {"a deadline that was moved expires at its old time", {"chatter0: the server has closed instead of answering"}},
      {"a deadline that was moved expires at its old time", {"poller0: an error"}, 9'000},
      {"a deadline that was cleared expires all the same", {"agent0: the server has closed instead of answering"}},
      {"a polled stream that nobody asks for is kept", {"bytes of streams are left"}},
      {"a request that was cancelled leaves its exchange open", {"the server still owes agent"}},
      {"the calls of a session that was ended go on", {"calls of the session that agent"}},
      {"what was on its way as a connection broke is not sent again", {"the server still owes agent"}},
      {"an id comes back as a value is written", {"has come back as another"}},
      {"clients without a session share one quota", {": its run number"}, 539},
      {"nobody notices that the client of a request over HTTP has gone",
       {"calls of web", "whose client has left it, goes on"}},
      {"what came while a request was answered is forgotten", {"the server still owes web"}},
      {"a connection on which nothing is asked any more is kept for ever", {"the server still owes web0: 0 answers"}},
      {"each piece of a frame is unmasked from the mask's beginning", {"an answer to nothing"}},
      {"a stream never hears that its client takes more", {"the server still owes client"}},
      {"what follows another protocol's first line is executed", {"has sent behind another protocol goes on"}},
      {"a token that found no room is forgotten", {"it ends after"}},
      {"a token that found no room is forgotten", {"has the text \"client"}, 1'500},
      {"a call that has waited too long is waited for", {"waits longer for its model than anybody may"}},
      {"a connection that has closed keeps itself", {"bytes of memory are held for nobody"}},
      {"each stream takes room for the longest answer", {"bytes are allocated for a few small requests"}},
      {"a short message counts as a long one", {"bytes for a few small requests"}},
      {"the end of a run is told twice", {"a message after the end"}},
      {"who cancels a tool's call is not heard", {"which was cancelled, goes on"}},
      {"who has subscribed to a document is not told of it", {"the server still owes agent0: news"}},
      {"who has come last is served first",
       {"it begins before one that has come earlier", "it is granted before one that has come earlier"},
       261},
      {"a worker that hangs is waited for", {"the server still owes models"}},
      {"a worker seems to hang while its reader does not read", {"is told to be lost, and is not"}, 800},
      {"a model whose worker has died is kept", {"whose worker has ended, go on"}},
      {"what stops a run means the one before", {"the server still owes models"}, 585},
      {"who stops a loading may wait for its worker's end", {"the event loop waits for a thread"}, kRace},
      {"nobody notices that who asked for a turn has gone",
       {"turns of chatter", "turns, or requests for them, are left"}},
      {"the run of a turn that was given up goes on", {"turns of chatter"}},
      {"a run does not wait for who reads its answer slowly", {"tokens of chatter"}},
      {"an answer that breaks off looks as if it had ended", {"its stream ends without an end of the answer"}},
      {"signs of life follow the end of an answer", {"something follows its end"}, 468},
      {"who has read the end of an answer cannot go on from it yet", {"what is kept of chatter"}},
      {"a model that somebody else has used is taken as it was left", {"a run begins with the runtime's own template"}},
      {"two questions of a conversation are answered at once", {"the model was not told"}},
      {"a part of an answer is remembered as all of it", {"it is remembered that the model said"}},
      {"a client that has left a question open is waited for", {"calls still ask clients that have gone"}},
      {"what a client refuses to answer is waited for", {"the server still owes agent"}},
      {"an answer that comes twice counts twice", {"another server asked about agent"}, 12'154},
      {"who has not subscribed to a document is told of it", {"hears of news://"}},
      {"who has unsubscribed is told all the same", {"hears of news://"}},
      {"who listens is kept when it has gone", {"which listens no more, go on"}},
      {"who listens is not told what has become of a task", {"(to be told)"}},
      {"what a task has come to becomes something else", {"it ends in two ways"}, 289},
      {"the run of a task that was cancelled goes on", {"a cancelled task, goes on"}},
      {"a task waits for ever for a client that has forgotten it", {"calls still ask clients that have gone"}},
      {"a task that nobody asks for is kept", {"bytes of memory are held for nobody"}},
      {"the calls of an upstream's tools are kept when its connection is lost", {"the server still owes visitor"}},
      {"what a client has cancelled goes on at an upstream", {"whose client has left it, goes on"}},
      {"an upstream is not told that there will be no answer", {"questions of another server are never answered"}},
      {"an upstream may ask anybody about a call that was cancelled", {"it is asked for another"}},
      {"an upstream asks whoever has called last", {"it is asked for another"}},
      {"what another server wants to have back does not reach it", {"does not get back what it has told"}},
      {"what an upstream says while a client without a session is asked is lost", {"a notification is missing"}, 2'700},
      {"each text gets the embedding of the first", {"an embedding is another text's"}},
      {"a call of a tool is lost behind a text", {"it ends without its call"}, 816},
      {"an answer that does not fit its schema is taken for one", {"a token is missing, twice, or another's"}},
      {"what does not fit its schema is not asked for again", {"it is told {\"message\":\"the model has not given"}},
      {"a stream in a batch never hears that its client takes more", {"the server still owes client"}},
      {"a poll that waits is not answered", {"the server still owes poller"}},
      {"a request over HTTP is answered twice", {"an HTTP answer to nothing"}},
      {"the end of a connection is not told", {"connections are left"}},
      {"who has gone goes on watching documents", {"subscriptions of the session that agent"}, 25'700},
      {"the subscriptions of a session outlive it",
       {"subscriptions of the session that agent", "documents are watched for nobody"}},
      {"what listens ends at once", {"visitor0: listening ends", "listening ends: null"}},
      {"a tool does not hear that its call has ended", {", which has asked, goes on"}},
      {"what has become of a task is told twice", {"it hears of it behind its end"}},
      {"a call goes to another server twice", {"another server is answered twice about"}},
      {"another server does not hear that a call is cancelled", {"calls of another server's tools go on for nobody"}},
      {"what a client answers does not reach another server",
       {"and is answered {\"inputResponses\":{}", "and is answered {}"}},
      {"what a client answers reaches another server twice", {"another server's question is answered twice"}},
      {"a turn is run twice at once", {"a model is asked for two runs at once"}},
      {"a run that has failed is taken for one that has ended", {"has failed, and looks whole"}, 788},
      {"a call of a tool is told twice", {"a call that nobody asked for, or a second one"}},
      {"the space behind a call of a tool is told", {"text follows its call"}, 260},
      {"a response is not kept", {"what is kept of chatter"}},
      {"a response is kept twice", {"two responses have the id"}},
      {"what an assistant has answered is not remembered", {"was answered, and is not remembered"}},
      {"an answer is remembered as a question", {"a question is remembered that was not asked, or not then"}},
      {"what was said before is told the model twice", {"the model was told something else"}},
      {"the last text gets no embedding", {"some embeddings are missing"}},
      {"each text is given to the model twice", {"a model is asked for two embeddings at once"}},
      {"embeddings are made for long, and for nobody", {"embeddings for reader"}},
      {"a call that has left its queue is kept until the one ahead has ended", {"has ended, and is kept"}, 396},
      {"an abort keeps the run that it is for", {"has ended, and is kept"}, 248'100},
      {"a lease ends with its first call", {"the lease ends again, or though nobody wants that"}},
      {"a model that is leased serves others", {"it begins before one that has come earlier"}},
      {"what cancels a call cancels all of its model", {"it was cancelled, and nobody wanted that"}, 243},
      {"a model that is there is taken for one that is not", {"its model is gone"}},
      {"a worker that is slow is taken for one that hangs", {"no worker has failed, but"}, 848},
      {"who has lost its worker is not told what that has said", {"it is not told how its worker ended"}},
      {"the end of a worker is an error of nobody's", {"it ends with a fault"}},
      {"workers are left alive at the end", {"worker 1 is left"}},
  };
}

// Faults of what stands behind the server, or between it and its clients: those see them as the server's.
std::vector<Case> faults_around_the_server() {
  return {
      {"a run that is to stop does not", {"calls go on although all clients have gone"}},
      {"a model stays with a turn that has ended",
       {"places in queues of models, or leases, are left", "the server still owes chatter"}},
      {"the model for embeddings stays with who has had it", {"the server still owes reader"}, 900},
      {"who waits is told that it waits for none", {"it waits for none"}},
      {"who is being served is told to wait", {"it waits again"}},
      {"a run does not say that it begins", {"a token before its beginning"}},
      {"a run says twice that it begins", {"it begins again", "it is granted again"}},
      {"a token follows the end of a run", {"a token after its end"}},
      {"the end of a call is told twice", {"it ends again"}},
      {"a worker tells another token", {"token 0 is", "has failed, and has the text"}},
      {"a worker tells other rows", {"rows that are others"}},
      {"a worker tells one row less", {"rows are missing"}},
      {"a worker answers for another call", {"its answer is another's", "its error is another's"}},
      {"a worker says that a run was stopped, and nobody has stopped it", {"it was stopped, and nobody wanted that"}},
      {"a worker tells an error of a kind that there is not", {"an error: no such file"}},
      {"a schedule is not the same twice", {"it is not the same twice"}},
      {"the end of models in workers is not told", {"the models in workers never end"}},
      {"the server closes a connection instead of answering on it",
       {"the server has closed although it owes client", "web0: the server has closed instead of answering",
        "poller0: the server has closed instead of answering", "visitor0: the server has closed instead of answering",
        "agent0: the server has closed instead of answering", "errands0: the server has closed instead of answering",
        "chatter0: the server has closed instead of answering", "the server has closed instead of telling embeddings"}},
  };
}

// What the server writes comes as something else (changed_bytes.cpp).
std::vector<Case> faults_of_what_it_writes() {
  return {
      {"a message is no JSON",
       {"what came is no JSON", "subscribing is answered with", "poller0: an answer that is no JSON",
        "web0: an answer that is no JSON", "a request about a task is answered with"}},
      {"a result is called an error", {"client0: an error", "asked as web0.1 it is told"}},
      {"a request is answered under the id of another", {"an answer to nothing", "it is answered with"}},
      {"what is said to be the second piece of a text is the third",
       {"client0: a chunk out of its order", "poller0: a chunk out of its order"}},
      {"a token is another",
       {"has the text \"client", "the text of web", "poller0: the text is", "a notification is missing"}},
      {"the refusal of another protocol has another code", {"as a stranger it is told"}},
      {"an error has another code", {"poller0: an error"}},
      {"an answer over HTTP does not say how long it is", {"an HTTP answer without a length"}},
      {"an answer over HTTP is a stream that nobody has asked for", {"a stream that was not asked for"}},
      {"a stream ends before it begins", {"its standing stream ends"}},
      {"a chunk is longer than it says", {"a chunk that is longer than it says"}},
      {"a stream ends within an event", {"a stream ends within an event"}},
      {"what is answered with nothing is answered in another way",
       {"a notification is answered", "an answer is answered", "cancelling is answered"}},
      {"what is ended is said to be accepted", {"ending the session is answered with"}},
      {"what was answered is said not to be there",
       {"no session is opened", "a stream, or none, unasked", "ends without an answer: 404"}},
      {"the handshake of WebSocket is another's", {"the handshake is answered with"}},
      {"what a client has pinged with comes back as another", {"a pong for no ping"}},
      {"a pong is no pong", {"a frame that a server does not send"}},
      {"a frame has a flag that nobody has agreed on", {"a frame that a server does not send"}},
      {"something follows the end of WebSocket", {"a frame after the server's close frame"}},
      {"what a tool has said is called an error", {"it is answered with"}},
      {"what answers a request is left out", {"it comes back for", "visitor0.1 ends without an answer"}},
      {"something follows the answer in a stream", {"after its answer comes"}},
      {"a list that changes confirms a subscription", {"listening is acknowledged twice"}},
      {"what is told of a task does not say of which", {"that is another task"}},
      {"what a task wants is said to be about another", {"it is asked for another"}},
      {"a result is another's", {"its text is not whole"}},
      {"progress is told of another", {"it hears of another's progress"}},
      {"progress does not grow", {"progress that does not grow"}},
      {"what is wanted is another time", {"what was given is wanted again", "it is asked twice"}},
      {"news are another subscription's", {"news are of another's"}},
      {"the confirmation of a subscription is no confirmation",
       {"news come before listening is acknowledged", "it hears of something else"}},
      {"a ping is answered with something", {"a ping is answered with"}},
      {"a task is no task", {"it does not become a task"}},
      {"a task is another", {"an exception reached the loop"}},
      {"a task that has ended goes on", {"the server still owes errands"}},
      {"a task that has ended goes on", {"it had ended"}, 2'600},
      {"a task that has ended has failed", {"it ends otherwise than it should"}},
      {"an answer of OpenAI's ends, and nobody says why", {"it is done, and nobody says why"}},
      {"the reason of an answer's end is told before it",
       {"it ends without its last tokens", "something follows the reason of its end"}},
      {"an event of OpenAI's is no JSON", {"an event that is no JSON"}},
      {"an answer of OpenAI's ends for a reason that there is not", {"it ends for another reason than it has"}},
      {"an answer of OpenAI's changes its id", {"it changes its id"}},
      {"a call of OpenAI's has no id", {"a call without an id"}, 476},
      {"another tool is called", {"it calls something else"}},
      {"an event of Anthropic's has another name", {"an event is named message_begin"}},
      {"an answer of Anthropic's has no beginning", {"not where a message begins"}},
      {"a block of Anthropic's does not end", {"an end with a block open", "a block within a block"}},
      {"a block of Anthropic's does not begin", {"text outside of its block"}},
      {"a piece of a block of Anthropic's is its end", {"the end of no block"}},
      {"an answer of Anthropic's ends, and nobody says why", {"it stops, and nobody says why"}},
      {"an answer of Anthropic's has an event that there is not", {"an event of a kind that there is not"}},
      {"an answer of Anthropic's goes on behind its end", {"something follows the reason of its end"}},
      {"an event of the Responses API is counted twice", {"an event is missing, or comes twice"}},
      {"a response has no beginning", {"not where a response begins"}},
      {"a response's text is another than its pieces", {"its text as a whole is another than its pieces"}},
      {"a call's arguments are others than their pieces",
       {"the arguments as a whole are others than their pieces"},
       260},
      {"a call is missing in the whole response", {"its calls as a whole are others than its pieces"}, 260},
      {"an answer as a whole is no JSON", {"an answer that is no JSON"}},
      {"embeddings are an error", {"embeddings are refused"}},
  };
}

std::vector<Case> cases() {
  std::vector<Case> all = faults_of_the_server();
  for (const auto& more : {faults_around_the_server(), faults_of_what_it_writes()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

// What the cases have shown.
struct Shown {
  std::map<std::string, std::set<int>> lines;  // that have complained, by the name of their file
  std::vector<std::string> violations;

  void add(const Outcome& outcome) {
    violations.push_back(outcome.violation);
    lines[std::filesystem::path(outcome.place.file).filename().string()].insert(outcome.place.line);
  }
};

// The words that no schedule with this fault is told by.
std::vector<std::string_view> not_found(const Case& each, Shown& shown) {
  const Fault fault(each.fault);
  std::vector<std::string_view> missing = each.violations;
  for (std::uint64_t seed = each.seed; !missing.empty() && seed < each.seed + kMostSchedules; ++seed) {
    const Outcome outcome = run_seed(seed);
    const auto is_told = [&outcome](std::string_view words) {
      return outcome.violation.find(words) != std::string::npos;
    };
    if (std::erase_if(missing, is_told) > 0) shown.add(outcome);
  }
  return missing;
}

// A statement that complains: where it is, and all of it.
struct Complaint {
  std::string file;
  int first_line;
  int last_line;
  std::string text;
};

// Where the statement ends that `begin` is in: at its semicolon, which is in no literal.
std::size_t end_of_statement(const std::string& source, std::size_t begin) {
  bool is_literal = false;
  std::size_t at = begin;
  for (; at < source.size() && (is_literal || source[at] != ';'); ++at) {
    if (is_literal && source[at] == '\\') {
      ++at;
    } else if (source[at] == '"') {
      is_literal = !is_literal;
    }
  }
  return at;
}

// Adds all complaints in the file. A statement that hands a `place` on does not count: its caller is what complains.
void add_complaints(const std::filesystem::path& path, std::vector<Complaint>& complaints) {
  static const std::regex complains(R"(\b(?:complain\(|violates\(|none\(|Violation\{))");
  static const std::regex has_words("\"[^\"]*[a-z]{2}[^\"]*\"");
  static const std::regex hands_on(R"(\bplace[})])");
  std::ifstream file(path);
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  for (auto each = std::sregex_iterator(source.begin(), source.end(), complains); each != std::sregex_iterator();
       ++each) {
    const auto begin = static_cast<std::size_t>(each->position());
    const std::string text = source.substr(begin, end_of_statement(source, begin) - begin);
    if (!std::regex_search(text, has_words) || std::regex_search(text, hands_on)) continue;
    const auto lines_before = std::count(source.begin(), source.begin() + each->position(), '\n');
    const int first = static_cast<int>(lines_before) + 1;
    complaints.push_back(
        {path.filename().string(), first, first + static_cast<int>(std::count(text.begin(), text.end(), '\n')), text});
  }
}

std::vector<Complaint> all_complaints() {
  std::vector<Complaint> complaints;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SIMULATION_FOLDER)) {
    const std::string name = entry.path().filename().string();
    const bool is_source = name.ends_with(".cpp") || name.ends_with(".hpp");
    if (is_source && !name.ends_with("_test.cpp")) add_complaints(entry.path(), complaints);
  }
  return complaints;
}

// The kinds of clients of a schedule, as it names them.
std::set<std::string> kinds_of_clients() {
  static const std::regex adds("\\badd(?:<\\w+>)?\\(\"(\\w+)\"");
  std::ifstream file(std::filesystem::path(SIMULATION_FOLDER) / "schedule.cpp");
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  std::set<std::string> kinds;
  for (auto each = std::sregex_iterator(source.begin(), source.end(), adds); each != std::sregex_iterator(); ++each) {
    kinds.insert((*each)[1]);
  }
  return kinds;
}

}  // namespace

TEST_CASE("each fault that is put back is found within two thousand schedules, and each complaint is a fault's") {
  Shown shown;
  for (const Case& each : cases()) {
    INFO(each.fault);
    for (const std::string_view words : not_found(each, shown)) {
      INFO("no schedule with it is told by: " << words);
      CHECK(words.empty());
    }
  }

  const std::vector<Complaint> complaints = all_complaints();
  CHECK(complaints.size() > 100);
  for (const Complaint& each : complaints) {
    const auto& lines = shown.lines[each.file];
    const auto line = lines.lower_bound(each.first_line);
    const bool is_shown = line != lines.end() && *line <= each.last_line;
    INFO(each.file << ":" << each.first_line << ": no fault of the table is told by " << each.text);
    CHECK(is_shown);
  }

  std::set<std::string> kinds = kinds_of_clients();
  CHECK(kinds.size() > 8);
  kinds.erase("news");  // it asks for nothing
  for (const std::string& kind : kinds) {
    INFO("no fault of the table lets the server owe something to " << kind);
    CHECK(std::ranges::any_of(shown.violations, [&kind](const std::string& violation) {
      return violation.starts_with("the server still owes " + kind);
    }));
  }
}
#endif
