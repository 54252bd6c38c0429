#include "fuzz/overlay_mutation.hpp"

#include "bindgen_json.hpp"

#include <cstddef>
#include <iterator>
#include <vector>

namespace bindgen::test {
namespace {

const Json kOdd = Json::array({nullptr, true, 0, -1, 18446744073709551615U, 1e300, "", "session.", "session.n", "1.0",
                               "a.b", "int", "\"", "*/", "\n", Json::array(), Json::object()});

void add_places(Json& value, std::vector<Json*>& places) {
  places.push_back(&value);
  if (!value.is_structured()) return;
  for (Json& inner : value) add_places(inner, places);
}

void change(Json& overlay, std::minstd_rand& random) {
  std::vector<Json*> places;
  add_places(overlay, places);
  Json& place = *places[random() % places.size()];
  const Json other = *places[random() % places.size()];
  const auto any_in = [&random](auto& json) {
    return std::next(json.begin(), static_cast<std::ptrdiff_t>(random() % json.size()));
  };
  switch (random() % 4) {
    case 0: place = other; break;
    case 1: place = kOdd[random() % kOdd.size()]; break;
    case 2:
      if (place.is_structured() && !place.empty()) place.erase(any_in(place));
      break;
    default:
      if (place.is_array()) place.push_back(other);
      if (!place.is_object() || !other.is_object() || other.empty()) break;
      const auto member = any_in(other);
      place[member.key()] = member.value();
  }
}

}  // namespace

std::string mutated_overlay(const std::string& text, std::minstd_rand& random) {
  Json overlay = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (overlay.is_discarded()) return {};
  for (auto changes = 1 + random() % 3; changes > 0; --changes) change(overlay, random);
  return overlay.dump();
}

}  // namespace bindgen::test
