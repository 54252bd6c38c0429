#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_tag_behind_union {

using namespace bindgen::test;

namespace {

int put_any(const Any* any) {
  switch (any->form) {
    case kPlain: return any->plain == 4096 && any->n_several == 0 ? 0 : 1;
    case kSpoken: return any->spoken == std::string("a") ? 0 : 2;
    case kSeveral: return any->n_several == 2 && any->several[1] == 0.5F ? 0 : 3;
  }
  return 4;
}
int put_box(const Box* box) {
  return box->held.form == kSpoken ? (box->held.said == std::string("a") ? 0 : 1) : (box->held.bare == 7 ? 0 : 2);
}
int get_any(Any* any) {
  any->spoken = "b";
  any->form = kSpoken;
  return 0;
}

GoldenCaller caller() {
  return {kAbiSet, {{"put_any", symbol(&put_any)}, {"put_box", symbol(&put_box)}, {"get_any", symbol(&get_any)}}};
}

}  // namespace

TEST_CASE("a tag behind its union tells which member is read, and no client chooses a pointer") {
  auto in = caller();
  const Json done{{"status", 0}};
  CHECK(in.call("put_any", {{"any", {{"plain", 4096}}}}) == done);
  CHECK(in.call("put_any", {{"any", {{"form", "kSpoken"}, {"spoken", "a"}}}}) == done);
  CHECK(in.call("put_any", {{"any", {{"several", {1, 0.5}}, {"form", "kSeveral"}}}}) == done);
  CHECK_THAT(in.complaint("put_any", {{"any", {{"form", "kSpoken"}, {"plain", 4096}}}}),
             has_text("belongs to form kPlain, but form is kSpoken"));
  CHECK_THAT(in.complaint("put_any", {{"any", {{"form", "kSeveral"}, {"plain", 4096}, {"n_several", 1}}}}),
             has_text("params.any.plain: belongs to form kPlain"));
  CHECK_THAT(in.complaint("put_any", {{"any", {{"form", "kSpoken"}}}}), has_text("spoken"));
  CHECK(in.call("put_box", {{"box", {{"held", {{"form", "kSpoken"}, {"said", "a"}}}}}}) == done);
  CHECK(in.call("put_box", {{"box", {{"held", {{"bare", 7}}}}}}) == done);
  CHECK_THAT(in.complaint("put_box", {{"box", {{"held", {{"form", "kSpoken"}, {"bare", 4096}}}}}}),
             has_text("belongs to form kPlain"));
  CHECK(in.call("get_any").at("any") == Json{{"form", "kSpoken"}, {"spoken", "b"}});
}

}  // namespace rkllm_mcp::v1_tag_behind_union
